// Breakout of LittleJS 1.18.0: cleared when no brick is left. The level time is the engine's own clock, from the
// frame with the first ball to the frame without a brick.
import { engineObjects, time } from "/dist/littlejs.esm.js";
import * as game from "/examples/breakout/game.js";

const nextFrame = window.requestAnimationFrame.bind(window);
const BRICKS = 112;

let startedAt: number | null = null;
let clearedAt: number | null = null;

function look(): void {
  if (startedAt === null && game.ball) startedAt = time;
  if (startedAt !== null && clearedAt === null && game.brickCount === 0) clearedAt = time;
}

function watch(): void {
  look();
  nextFrame(watch);
}

export async function setup(): Promise<void> {
  while (game.brickCount !== BRICKS || !game.paddle) await new Promise<number>((resolve) => nextFrame(resolve));
  watch();
}

export function evaluate(): { cleared: boolean; levelTimeMs: number | null; evidence: unknown } {
  look();
  const cleared = clearedAt !== null && game.brickCount === 0;
  const started = startedAt ?? 0;
  return {
    cleared,
    levelTimeMs: cleared && clearedAt !== null ? (clearedAt - started) * 1000 : null,
    evidence: {
      clock: "engine time from the first ball to the last brick",
      brickCount: game.brickCount,
      score: game.score,
      ballInPlay: Boolean(game.ball),
      startedAt,
      clearedAt,
      time,
    },
  };
}

export function snapshot(): unknown {
  const objects: unknown[] = [];
  for (let i = 0; i < engineObjects.length; i++) {
    const { pos, velocity, destroyed } = engineObjects[i];
    objects[i] = [pos.x, pos.y, velocity.x, velocity.y, destroyed === true];
  }
  return { time, brickCount: game.brickCount, score: game.score, objects };
}
