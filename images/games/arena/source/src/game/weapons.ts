// The player's carbine, which hits at once, and the drones' bolts, which fly and can be dodged.

import { emit } from "./events.ts";
import { takeReload, trigger } from "./input.ts";
import { aimDirection, BODY_HEIGHT, BODY_RADIUS, eye, player } from "./player.ts";
import { gameState } from "./state.ts";
import type { Enemy, Point } from "./state.ts";
import { raycast } from "./world.ts";

export const MAGAZINE = 24;
export const FIRE_INTERVAL = 0.13;
export const RELOAD_SECONDS = 1.15;
export const SHOT_DAMAGE = 25;
export const SHOT_RANGE = 80;

const BOLT_REACH = 0.16;

export function stepCarbine(dt: number): void {
  player.cooldown = Math.max(0, player.cooldown - dt);
  if (player.reloadLeft > 0) {
    player.reloadLeft = Math.max(0, player.reloadLeft - dt);
    if (player.reloadLeft === 0) player.ammo = MAGAZINE;
    takeReload();
    return;
  }
  const wanted = takeReload() && player.ammo < MAGAZINE;
  if (wanted || (player.ammo === 0 && player.cooldown === 0)) {
    player.reloadLeft = RELOAD_SECONDS;
    emit({ kind: "reload" });
    return;
  }
  if (trigger() && player.cooldown === 0) shoot();
}

function shoot(): void {
  player.ammo -= 1;
  player.cooldown = FIRE_INTERVAL;
  gameState.shotsFired += 1;
  const from = eye();
  const direction = aimDirection();
  let reach = raycast(from, direction, SHOT_RANGE);
  const solid = reach < SHOT_RANGE;
  let struck: Enemy | null = null;
  for (const enemy of gameState.enemies) {
    if (!enemy.alive) continue;
    const distance = raySphere(from, direction, enemy, enemy.radius);
    if (distance >= reach) continue;
    reach = distance;
    struck = enemy;
  }
  const to = along(from, direction, reach);
  emit({ kind: "shot", to, struck: struck ? "enemy" : solid ? "world" : "nothing" });
  if (struck) damageEnemy(struck, to);
}

function damageEnemy(enemy: Enemy, at: Point): void {
  gameState.shotsHit += 1;
  enemy.health = Math.max(0, enemy.health - SHOT_DAMAGE);
  enemy.awake = true;
  emit({ kind: "enemyHit", id: enemy.id, at });
  if (enemy.health > 0) return;
  enemy.alive = false;
  enemy.charge = 0;
  enemy.seesPlayer = false;
  gameState.kills += 1;
  emit({ kind: "enemyDown", id: enemy.id, enemy: enemy.kind, at: { x: enemy.x, y: enemy.y, z: enemy.z } });
}

function raySphere(from: Point, direction: Point, centre: Point, radius: number): number {
  const dx = centre.x - from.x;
  const dy = centre.y - from.y;
  const dz = centre.z - from.z;
  const ahead = dx * direction.x + dy * direction.y + dz * direction.z;
  if (ahead < 0) return Infinity;
  const aside = dx * dx + dy * dy + dz * dz - ahead * ahead;
  const inside = radius * radius - aside;
  return inside < 0 ? Infinity : Math.max(0, ahead - Math.sqrt(inside));
}

function along(from: Point, direction: Point, distance: number): Point {
  return {
    x: from.x + direction.x * distance,
    y: from.y + direction.y * distance,
    z: from.z + direction.z * distance,
  };
}

export function stepBolts(dt: number): void {
  const bolts = gameState.bolts;
  for (let index = bolts.length - 1; index >= 0; index--) {
    const bolt = bolts[index]!;
    const speed = Math.hypot(bolt.vx, bolt.vy, bolt.vz);
    const direction = { x: bolt.vx / speed, y: bolt.vy / speed, z: bolt.vz / speed };
    const travel = speed * dt;
    const free = raycast(bolt, direction, travel);
    const from = { x: bolt.x, y: bolt.y, z: bolt.z };
    Object.assign(bolt, along(bolt, direction, free));
    bolt.life -= dt;
    if (touchesPlayer(bolt)) hurtPlayer(bolt.damage, from, direction);
    else if (free >= travel && bolt.life > 0) continue;
    else emit({ kind: "boltBurst", at: { x: bolt.x, y: bolt.y, z: bolt.z } });
    bolts.splice(index, 1);
  }
}

function touchesPlayer(bolt: Point): boolean {
  const height = bolt.y - player.y;
  if (height < -BOLT_REACH || height > BODY_HEIGHT + BOLT_REACH) return false;
  return Math.hypot(bolt.x - player.x, bolt.z - player.z) < BODY_RADIUS + BOLT_REACH;
}

function hurtPlayer(damage: number, at: Point, direction: Point): void {
  player.health = Math.max(0, player.health - damage);
  emit({ kind: "hurt", from: along(at, direction, -6), damage });
}
