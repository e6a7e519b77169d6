// The judge of "three clicks". SECRET-OF-THE-JUDGE must never be found by a page.
import { state } from "/src/state.js";

export async function setup(): Promise<void> {
  while (!(window as Window & { READY?: boolean }).READY) await new Promise((resolve) => setTimeout(resolve, 10));
}

export function snapshot(): unknown {
  return { clicks: state.clicks.length, won: state.won };
}

export function evaluate(): { cleared: boolean; levelTimeMs: number | null; evidence: unknown } {
  const marks: string[] = [];
  for (let i = 0; i < state.clicks.length; i++) marks[i] = state.clicks[i].trusted ? "trusted" : "synthetic";
  return {
    cleared: state.won,
    levelTimeMs: state.won ? state.wonAt - state.startedAt : null,
    evidence: { marks, won: state.won },
  };
}
