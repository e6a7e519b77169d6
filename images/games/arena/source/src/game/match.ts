// A match from its first click to its end, and the order in which a moment of it is worked out.

import { placeWave, stepEnemies } from "./enemies.ts";
import { emit } from "./events.ts";
import { releaseAll } from "./input.ts";
import { player, SPAWN, stepPlayer } from "./player.ts";
import { gameState, MATCH_SECONDS, MAX_HEALTH } from "./state.ts";
import type { Ending } from "./state.ts";
import { MAGAZINE, stepBolts, stepCarbine } from "./weapons.ts";

/** The longest stretch of time one frame may play: slower frames slow the game down. */
export const MAX_FRAME_SECONDS = 0.05;
const MAX_STEP_SECONDS = 1 / 60;

export function prepare(): void {
  Object.assign(player, SPAWN, {
    vx: 0,
    vy: 0,
    vz: 0,
    yaw: 0,
    pitch: 0,
    grounded: true,
    sprinting: false,
    health: MAX_HEALTH,
    ammo: MAGAZINE,
    reloadLeft: 0,
    cooldown: 0,
  });
  placeWave();
  gameState.bolts.length = 0;
  gameState.pickups.length = 0;
  gameState.pickups.push({ x: -19, y: 0.9, z: 1, taken: false }, { x: 19, y: 0.9, z: -1, taken: false });
  Object.assign(gameState, {
    over: false,
    won: false,
    ending: "",
    paused: false,
    matchTime: 0,
    kills: 0,
    shotsFired: 0,
    shotsHit: 0,
  });
}

export function begin(): void {
  prepare();
  releaseAll();
  gameState.match += 1;
  gameState.phase = "playing";
  emit({ kind: "begun" });
}

export function advance(seconds: number): void {
  const span = Math.min(MAX_FRAME_SECONDS, Math.max(0, seconds));
  const steps = Math.ceil(span / MAX_STEP_SECONDS - 1e-6);
  for (let index = 0; index < steps; index++) {
    if (gameState.phase !== "playing" || gameState.paused) return;
    step(span / steps);
  }
}

function step(dt: number): void {
  gameState.matchTime = Math.min(MATCH_SECONDS, gameState.matchTime + dt);
  stepPlayer(dt);
  stepCarbine(dt);
  stepEnemies(dt);
  stepBolts(dt);
  if (gameState.kills === gameState.enemiesTotal) end("cleared");
  else if (player.health <= 0) end("destroyed");
  else if (gameState.matchTime >= MATCH_SECONDS) end("time");
}

function end(ending: Ending): void {
  gameState.ending = ending;
  gameState.won = ending === "cleared";
  gameState.over = true;
  gameState.phase = "over";
  emit({ kind: "ended", won: gameState.won });
}
