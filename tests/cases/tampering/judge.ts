import { held, lamps, seen, state } from "/src/state.ts";

export async function setup(): Promise<void> {
  while (state.frames < 5) await new Promise<number>((resolve) => requestAnimationFrame(resolve));
}

export function evaluate(): { cleared: boolean; levelTimeMs: number | null; evidence: unknown } {
  return { cleared: state.score >= 3, levelTimeMs: state.score >= 3 ? state.time : null, evidence: { score: state.score, level: state.level } };
}

export function snapshot(): unknown {
  const ids: unknown[] = [];
  seen.forEach((when, id) => ids.push([id, when]));
  const keys: string[] = [];
  held.forEach((key) => keys.push(key));
  return { ...state, lamps: lamps.map((lamp) => [lamp.x, lamp.y, lamp.lit]), ids, keys };
}
