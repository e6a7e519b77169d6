// The lamps of the arena, and how much of them reaches a place: worked out once, with shadows, when the page loads.

import { Color, Vector3 } from "three";

import type { Point } from "../game/state.ts";
import { colliders, lineOfSight } from "../game/world.ts";

interface Lamp extends Point {
  color: Color;
  power: number;
}

export const AMBER = new Color("#ff9a3c");
export const CYAN = new Color("#39d6ff");
export const MAGENTA = new Color("#ff3d8b");
export const MINT = new Color("#5dffb0");

function lamp(x: number, y: number, z: number, color: Color, power: number): Lamp {
  return { x, y, z, color, power };
}

const WARM = new Color("#ffd9ae");

const LAMPS: readonly Lamp[] = [
  lamp(0, 4.6, 3.4, AMBER, 17),
  lamp(0, 4.6, -3.4, AMBER, 17),
  lamp(3.4, 4.6, 0, AMBER, 17),
  lamp(-3.4, 4.6, 0, AMBER, 17),
  lamp(-20, 3.4, 12, CYAN, 11),
  lamp(20, 3.4, 12, CYAN, 11),
  lamp(-20, 3.4, -11, CYAN, 11),
  lamp(20, 3.4, -11, CYAN, 11),
  lamp(0, 4, -20.5, MAGENTA, 14),
  lamp(0, 5, 20, CYAN, 12),
  lamp(-19, 1.6, 1, MINT, 2.2),
  lamp(19, 1.6, -1, MINT, 2.2),
  lamp(-9, 5.2, 9, WARM, 11),
  lamp(9, 5.2, 9, WARM, 11),
  lamp(-9, 5.2, -9, WARM, 11),
  lamp(9, 5.2, -9, WARM, 11),
];

const SKY = new Color(0.13, 0.165, 0.25);
const GROUND = new Color(0.045, 0.04, 0.05);

/** Light at a place of a surface that faces along `normal`. */
export function lightAt(at: Vector3, normal: Vector3): Color {
  const light = new Color().copy(GROUND).lerp(SKY, 0.5 + 0.5 * normal.y);
  const lifted = at.clone().addScaledVector(normal, 0.06);
  lifted.y = Math.max(lifted.y, 0.05);
  for (const source of LAMPS) {
    const dx = source.x - at.x;
    const dy = source.y - at.y;
    const dz = source.z - at.z;
    const square = dx * dx + dy * dy + dz * dz;
    const facing = (dx * normal.x + dy * normal.y + dz * normal.z) / Math.sqrt(square);
    if (facing <= 0.01) continue;
    const amount = (source.power * (0.25 + 0.75 * facing)) / (square + 9);
    if (amount < 0.004 || !lineOfSight(lifted, source)) continue;
    light.r += source.color.r * amount;
    light.g += source.color.g * amount;
    light.b += source.color.b * amount;
  }
  return light.multiplyScalar(crevice(at, normal));
}

/** Darkens the floor beside boxes and the foot of everything that stands on it. */
function crevice(at: Vector3, normal: Vector3): number {
  if (normal.y < 0.5) return at.y < 0.05 ? 0.5 : 1;
  if (at.y > 0.05) return 1;
  let nearest = 1.2;
  for (const solid of colliders) {
    const dx = Math.max(solid.minX - at.x, 0, at.x - solid.maxX);
    const dz = Math.max(solid.minZ - at.z, 0, at.z - solid.maxZ);
    nearest = Math.min(nearest, Math.hypot(dx, dz));
  }
  return 0.4 + 0.5 * nearest;
}
