// The player's body and view: walking, sprinting, jumping, standing on things, looking about.

import { emit } from "./events.ts";
import { isHeld } from "./input.ts";
import { gameState, MAX_HEALTH } from "./state.ts";
import type { Point } from "./state.ts";
import { groundBelow, pushOut } from "./world.ts";

/** How far the view turns for one pixel of movementX or movementY. */
export const MOUSE_RADIANS_PER_PX = 0.0024;
export const EYE_HEIGHT = 1.62;
export const BODY_HEIGHT = 1.8;
export const BODY_RADIUS = 0.42;
export const WALK_SPEED = 5.2;
export const SPRINT_SPEED = 8;
export const SPAWN: Readonly<Point> = { x: 0, y: 0, z: 18.5 };

const PITCH_LIMIT = 1.5;
const JUMP_SPEED = 6.9;
const GRAVITY = 19;
const GROUND_ACCELERATION = 60;
const AIR_ACCELERATION = 18;
const STEP_UP = 0.05;
const PICKUP_REACH = 1.3;
const PICKUP_HEALTH = 35;

export const player = gameState.player;

export function lookBy(movementX: number, movementY: number): void {
  player.yaw -= movementX * MOUSE_RADIANS_PER_PX;
  const pitch = player.pitch - movementY * MOUSE_RADIANS_PER_PX;
  player.pitch = Math.min(PITCH_LIMIT, Math.max(-PITCH_LIMIT, pitch));
}

export function eye(): Point {
  return { x: player.x, y: player.y + EYE_HEIGHT, z: player.z };
}

export function aimDirection(): Point {
  const flat = Math.cos(player.pitch);
  return { x: -Math.sin(player.yaw) * flat, y: Math.sin(player.pitch), z: -Math.cos(player.yaw) * flat };
}

export function stepPlayer(dt: number): void {
  walk(dt);
  player.x += player.vx * dt;
  player.z += player.vz * dt;
  pushOut(player, BODY_RADIUS, player.y + STEP_UP, player.y + BODY_HEIGHT);
  fall(dt);
  takePickups();
}

function walk(dt: number): void {
  const ahead = Number(isHeld("KeyW") || isHeld("ArrowUp")) - Number(isHeld("KeyS") || isHeld("ArrowDown"));
  const aside =
    Number(isHeld("KeyD") || isHeld("ArrowRight")) - Number(isHeld("KeyA") || isHeld("ArrowLeft"));
  const length = Math.hypot(ahead, aside) || 1;
  player.sprinting = ahead > 0 && (isHeld("ShiftLeft") || isHeld("ShiftRight"));
  const speed = player.sprinting ? SPRINT_SPEED : WALK_SPEED;
  const sin = Math.sin(player.yaw);
  const cos = Math.cos(player.yaw);
  const wantX = ((-sin * ahead + cos * aside) / length) * speed;
  const wantZ = ((-cos * ahead - sin * aside) / length) * speed;
  const gain = (player.grounded ? GROUND_ACCELERATION : AIR_ACCELERATION) * dt;
  player.vx = approach(player.vx, wantX, gain);
  player.vz = approach(player.vz, wantZ, gain);
}

function approach(value: number, goal: number, gain: number): number {
  return value < goal ? Math.min(goal, value + gain) : Math.max(goal, value - gain);
}

function fall(dt: number): void {
  if (player.grounded && isHeld("Space")) {
    player.vy = JUMP_SPEED;
    player.grounded = false;
    emit({ kind: "jump" });
  }
  const ground = groundBelow(player.x, player.z, BODY_RADIUS * 0.8, player.y + STEP_UP);
  player.vy -= GRAVITY * dt;
  player.y += player.vy * dt;
  player.grounded = player.y <= ground;
  if (player.grounded) {
    player.y = ground;
    player.vy = 0;
  }
}

function takePickups(): void {
  if (player.health >= MAX_HEALTH) return;
  for (const pickup of gameState.pickups) {
    if (pickup.taken) continue;
    const near = Math.hypot(pickup.x - player.x, pickup.z - player.z) < PICKUP_REACH;
    if (!near || Math.abs(pickup.y - 0.9 - player.y) > 1.5) continue;
    pickup.taken = true;
    player.health = Math.min(MAX_HEALTH, player.health + PICKUP_HEALTH);
    emit({ kind: "healed", at: { x: pickup.x, y: pickup.y, z: pickup.z } });
  }
}
