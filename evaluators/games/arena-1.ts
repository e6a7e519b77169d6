// Hollow Circuit (arena 1): cleared when a match has ended with every drone down. The level time is the match's own
// clock, which runs from the first click (or Enter, in a later match) while the match is played.

import { gameState } from "/src/game/state.ts";

const wait = window.setTimeout.bind(window);
const POLL_MS = 50;

export async function setup(): Promise<void> {
  while (!(window as Window & { ARENA?: boolean }).ARENA) {
    await new Promise<void>((resolve) => wait(resolve, POLL_MS));
  }
}

interface Answer {
  cleared: boolean;
  levelTimeMs: number | null;
  evidence: Record<string, string | number | boolean>;
}

export function evaluate(): Answer {
  const { phase, over, won, matchTime } = gameState;
  const cleared = phase === "over" && over === true && won === true;
  return {
    cleared,
    levelTimeMs: cleared ? matchTime * 1000 : null,
    evidence: {
      phase,
      over,
      won,
      ending: gameState.ending,
      match: gameState.match,
      matchTime,
      kills: gameState.kills,
      enemiesTotal: gameState.enemiesTotal,
      shotsFired: gameState.shotsFired,
      shotsHit: gameState.shotsHit,
      health: gameState.player.health,
    },
  };
}

/** The whole match is plain data. */
export function snapshot(): unknown {
  return gameState;
}
