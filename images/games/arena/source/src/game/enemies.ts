// The drones: they sleep, wake, hunt by the shared flood, circle at their own distance and take turns to fire.

import { emit } from "./events.ts";
import { flood, wayFrom } from "./nav.ts";
import { BODY_HEIGHT, eye, player } from "./player.ts";
import { between, random } from "./rng.ts";
import { gameState } from "./state.ts";
import type { Enemy, EnemyKind } from "./state.ts";
import { HOVER_CLEARANCE, lineOfSight, pushOut } from "./world.ts";

interface Kind {
  radius: number;
  health: number;
  speed: number;
  distance: number;
  hover: number;
  aimSeconds: number;
  restSeconds: number;
  boltSpeed: number;
  damage: number;
  spread: number;
}

export const KINDS: Readonly<Record<EnemyKind, Kind>> = {
  scout: {
    radius: 0.55,
    health: 50,
    speed: 5.2,
    distance: 8,
    hover: 2,
    aimSeconds: 0.45,
    restSeconds: 1.5,
    boltSpeed: 17,
    damage: 5,
    spread: 0.035,
  },
  sentry: {
    radius: 0.68,
    health: 75,
    speed: 3.6,
    distance: 13,
    hover: 2.5,
    aimSeconds: 0.6,
    restSeconds: 1.7,
    boltSpeed: 21,
    damage: 8,
    spread: 0.022,
  },
  warden: {
    radius: 1,
    health: 175,
    speed: 2.7,
    distance: 11,
    hover: 2.7,
    aimSeconds: 0.8,
    restSeconds: 1.3,
    boltSpeed: 19,
    damage: 12,
    spread: 0.02,
  },
};

/** Kind, x, z and the second at which it wakes by itself. */
const WAVE: readonly (readonly [EnemyKind, number, number, number])[] = [
  ["scout", -9, -8.5, 1],
  ["scout", 9, -8.5, 2],
  ["sentry", 0, -15, 3],
  ["sentry", -18, -8, 4.5],
  ["scout", 18, -8, 5.5],
  ["scout", -14, -19, 7],
  ["sentry", 14, -19.5, 8.5],
  ["warden", 0, -19.5, 10],
];

const SIGHT = 30;
const ACCELERATION = 11;
const SHOTS_AT_ONCE = 3;
const PERSONAL_SPACE = 2.2;
const FLOOD_SECONDS = 0.35;
const BOLT_LIFE = 4;

let floodLeft = 0;

export function placeWave(): void {
  floodLeft = 0;
  gameState.enemies.length = 0;
  WAVE.forEach(([kind, x, z, wakeAt], id) => {
    const { radius, health, hover, restSeconds } = KINDS[kind];
    gameState.enemies.push({
      id,
      kind,
      x,
      y: hover,
      z,
      vx: 0,
      vy: 0,
      vz: 0,
      radius,
      health,
      maxHealth: health,
      alive: true,
      awake: false,
      seesPlayer: false,
      charge: 0,
      cooldown: between(0.4, restSeconds),
      wakeAt: wakeAt + between(0, 0.8),
      strafe: random() < 0.5 ? -1 : 1,
      strafeLeft: between(0.8, 2.2),
      bob: between(0, 6.28),
      facing: Math.PI,
    });
  });
  gameState.enemiesTotal = gameState.enemies.length;
}

export function stepEnemies(dt: number): void {
  floodLeft -= dt;
  if (floodLeft <= 0) {
    flood(player.x, player.z);
    floodLeft = FLOOD_SECONDS;
  }
  let aiming = 0;
  for (const enemy of gameState.enemies) if (enemy.charge > 0) aiming += 1;
  const target = eye();
  for (const enemy of gameState.enemies) {
    if (!enemy.alive) continue;
    const distance = Math.hypot(target.x - enemy.x, target.z - enemy.z);
    enemy.seesPlayer = distance < SIGHT && lineOfSight(enemy, target);
    if (!enemy.awake) enemy.awake = gameState.matchTime >= enemy.wakeAt;
    if (enemy.awake) {
      steer(enemy, distance, dt);
      aiming += aim(enemy, aiming, dt);
    }
    move(enemy, dt);
  }
}

function steer(enemy: Enemy, distance: number, dt: number): void {
  const kind = KINDS[enemy.kind];
  enemy.strafeLeft -= dt;
  if (enemy.strafeLeft <= 0) {
    enemy.strafe = -enemy.strafe;
    enemy.strafeLeft = between(0.8, 2.4);
  }
  let wantX = 0;
  let wantZ = 0;
  if (!enemy.seesPlayer || distance > kind.distance + 2) {
    const way = wayFrom(enemy.x, enemy.z);
    wantX = way.x;
    wantZ = way.z;
  }
  if (enemy.seesPlayer) {
    const toX = (player.x - enemy.x) / (distance || 1);
    const toZ = (player.z - enemy.z) / (distance || 1);
    const back = distance < kind.distance - 2 ? 0.9 : 0;
    wantX += -toX * back + -toZ * enemy.strafe * 0.75;
    wantZ += -toZ * back + toX * enemy.strafe * 0.75;
  }
  for (const other of gameState.enemies) {
    if (other === enemy || !other.alive) continue;
    const dx = enemy.x - other.x;
    const dz = enemy.z - other.z;
    const gap = Math.hypot(dx, dz);
    if (gap >= PERSONAL_SPACE || gap < 1e-6) continue;
    wantX += (dx / gap) * (1 - gap / PERSONAL_SPACE) * 1.5;
    wantZ += (dz / gap) * (1 - gap / PERSONAL_SPACE) * 1.5;
  }
  const length = Math.max(1, Math.hypot(wantX, wantZ));
  accelerate(enemy, (wantX / length) * kind.speed, (wantZ / length) * kind.speed, ACCELERATION * dt);
}

function accelerate(enemy: Enemy, vx: number, vz: number, most: number): void {
  const dx = vx - enemy.vx;
  const dz = vz - enemy.vz;
  const change = Math.hypot(dx, dz);
  const share = change > most ? most / change : 1;
  enemy.vx += dx * share;
  enemy.vz += dz * share;
}

function move(enemy: Enemy, dt: number): void {
  const kind = KINDS[enemy.kind];
  const beforeX = enemy.x;
  const beforeZ = enemy.z;
  enemy.x += enemy.vx * dt;
  enemy.z += enemy.vz * dt;
  if (pushOut(enemy, enemy.radius * 0.9, HOVER_CLEARANCE, enemy.y + enemy.radius)) {
    enemy.vx = (enemy.x - beforeX) / dt;
    enemy.vz = (enemy.z - beforeZ) / dt;
    enemy.strafeLeft = Math.min(enemy.strafeLeft, 0.15);
  }
  enemy.bob += dt * (enemy.awake ? 2.4 : 1.1);
  const y = kind.hover + Math.sin(enemy.bob) * 0.22;
  enemy.vy = (y - enemy.y) / dt;
  enemy.y = y;
  if (!enemy.awake) return;
  const facing = Math.atan2(player.x - enemy.x, player.z - enemy.z);
  const turn = Math.atan2(Math.sin(facing - enemy.facing), Math.cos(facing - enemy.facing));
  enemy.facing += turn * Math.min(1, dt * 7);
}

/** Returns 1 when it began to aim, 0 otherwise. */
function aim(enemy: Enemy, aiming: number, dt: number): number {
  const kind = KINDS[enemy.kind];
  if (enemy.charge > 0) {
    enemy.charge -= dt;
    if (enemy.charge <= 0) {
      enemy.charge = 0;
      enemy.cooldown = kind.restSeconds + between(0, 0.9);
      if (enemy.seesPlayer) fire(enemy);
    }
    return 0;
  }
  enemy.cooldown = Math.max(0, enemy.cooldown - dt);
  if (enemy.cooldown > 0 || !enemy.seesPlayer || aiming >= SHOTS_AT_ONCE) return 0;
  enemy.charge = kind.aimSeconds;
  return 1;
}

function fire(enemy: Enemy): void {
  const kind = KINDS[enemy.kind];
  const dx = player.x - enemy.x;
  const dy = player.y + BODY_HEIGHT * 0.62 - enemy.y;
  const dz = player.z - enemy.z;
  const distance = Math.hypot(dx, dy, dz) || 1;
  const stray = (): number => between(-kind.spread, kind.spread);
  gameState.bolts.push({
    x: enemy.x + (dx / distance) * enemy.radius,
    y: enemy.y + (dy / distance) * enemy.radius,
    z: enemy.z + (dz / distance) * enemy.radius,
    vx: (dx / distance + stray()) * kind.boltSpeed,
    vy: (dy / distance + stray()) * kind.boltSpeed,
    vz: (dz / distance + stray()) * kind.boltSpeed,
    damage: kind.damage,
    life: BOLT_LIFE,
  });
  emit({ kind: "enemyShot", at: { x: enemy.x, y: enemy.y, z: enemy.z } });
}
