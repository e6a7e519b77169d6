// Clears the arena honestly: it reads where the drones are and turns, walks and fires with the mouse and the keyboard.
// The aim is a closed loop, one small correction a turn, so that it holds at any frame rate.

import { keyboard, mouse } from "vitexec";
import { MOUSE_RADIANS_PER_PX, eye, player } from "/src/game/player.ts";
import { gameState } from "/src/game/state.ts";
import type { Enemy } from "/src/game/state.ts";

const LEAD_SECONDS = 0.07; // from a look at the drone to the turned view, about four frames
const TRIGGER_MS = 160; // renewed while the aim is good; lets go by itself
const ON_TARGET = 0.8; // share of the drone's radius
const WEAVE_SECONDS = 0.9;
const MOST_PX = 240;

const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));

function turnTo(enemy: Enemy, lead: number) {
  const from = eye();
  const dx = enemy.x + enemy.vx * lead - (from.x + player.vx * lead);
  const dy = enemy.y + enemy.vy * lead - from.y;
  const dz = enemy.z + enemy.vz * lead - (from.z + player.vz * lead);
  const flat = Math.hypot(dx, dz);
  const yaw = Math.atan2(-dx, -dz) - player.yaw;
  return {
    yaw: Math.atan2(Math.sin(yaw), Math.cos(yaw)),
    pitch: Math.atan2(dy, flat) - player.pitch,
    distance: Math.hypot(flat, dy),
  };
}

function choose(current: Enemy | null): Enemy | null {
  if (current?.alive && current.seesPlayer) return current;
  let best: Enemy | null = null;
  let least = Infinity;
  for (const enemy of gameState.enemies) {
    if (!enemy.alive) continue;
    const { yaw, pitch, distance } = turnTo(enemy, 0);
    const cost =
      Math.hypot(yaw, pitch) + distance * 0.03 - (enemy.charge > 0 ? 0.2 : 0) + (enemy.seesPlayer ? 0 : 100);
    if (cost < least) {
      least = cost;
      best = enemy;
    }
  }
  return best;
}

const limited = (px: number) => Math.round(Math.max(-MOST_PX, Math.min(MOST_PX, px)));

let held = "";
async function walk(key: string) {
  if (key === held) return;
  if (held) await keyboard.up(held);
  held = key;
  if (key) await keyboard.down(key);
}

// A wall between us and a drone that cannot see us either: step aside, a little further each time, then go on.
const STUCK_SECONDS = 0.7;
const STUCK_METRES = 0.5;
let lookedAt = 0;
let from = { x: 0, z: 0 };
let side = "KeyD";
let asideUntil = 0;
let asides = 0;

function searchKey(ahead: boolean, weave: string): string {
  const now = gameState.matchTime;
  if (now >= asideUntil && now - lookedAt >= STUCK_SECONDS) {
    const here = eye();
    if (held === "KeyW" && Math.hypot(here.x - from.x, here.z - from.z) < STUCK_METRES) {
      asides++;
      side = side === "KeyA" ? "KeyD" : "KeyA";
      asideUntil = now + 0.6 + 0.6 * asides;
    }
    from = { x: here.x, z: here.z };
    lookedAt = now;
  }
  if (now < asideUntil) return side;
  return ahead ? "KeyW" : weave;
}

await mouse.moveTo(40, 40);
while (gameState.phase !== "playing") {
  await mouse.click();
  await frame();
}

let target: Enemy | null = null;
while (gameState.phase === "playing") {
  if (gameState.paused) await mouse.click();
  target = choose(target);
  if (!target) break;
  const { yaw, pitch, distance } = turnTo(target, LEAD_SECONDS);
  const dx = limited(-yaw / MOUSE_RADIANS_PER_PX);
  const dy = limited(-pitch / MOUSE_RADIANS_PER_PX);
  if (dx !== 0 || dy !== 0) await mouse.moveLatest(dx, dy);
  else await frame();

  const off = turnTo(target, 0);
  const good = Math.hypot(off.yaw, off.pitch) < Math.atan((target.radius * ON_TARGET) / distance);
  if (good && target.seesPlayer && player.ammo > 0) await mouse.down("left", { releaseAfterMs: TRIGGER_MS });

  const weave = Math.floor(gameState.matchTime / WEAVE_SECONDS) % 2 === 0 ? "KeyA" : "KeyD";
  await walk(target.seesPlayer ? weave : searchKey(Math.abs(yaw) < 0.6, weave));
  if (!target.seesPlayer && player.ammo < 8 && player.reloadLeft === 0) await keyboard.press("KeyR");
}
console.log(`${gameState.ending} after ${gameState.matchTime.toFixed(2)} s with ${player.health} hull left`);
