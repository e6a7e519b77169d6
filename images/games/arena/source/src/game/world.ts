// The arena's solid parts and the questions asked of them: what does a ray meet, who sees whom, where is one stopped.

import type { Point } from "./state.ts";

export type Look = "wall" | "core" | "pillar" | "panel" | "barrier" | "crate" | "deck";

export interface Box {
  minX: number;
  minY: number;
  minZ: number;
  maxX: number;
  maxY: number;
  maxZ: number;
  look: Look;
}

export const HALF = 22;
export const WALL_HEIGHT = 5.5;
/** Boxes up to this height do not stop a hovering drone. */
export const HOVER_CLEARANCE = 1.3;

function box(x: number, z: number, width: number, depth: number, height: number, look: Look, base = 0): Box {
  return {
    minX: x - width / 2,
    maxX: x + width / 2,
    minY: base,
    maxY: base + height,
    minZ: z - depth / 2,
    maxZ: z + depth / 2,
    look,
  };
}

export const colliders: readonly Box[] = [
  box(0, -HALF - 0.5, 2 * HALF + 2, 1, WALL_HEIGHT, "wall"),
  box(0, HALF + 0.5, 2 * HALF + 2, 1, WALL_HEIGHT, "wall"),
  box(-HALF - 0.5, 0, 1, 2 * HALF + 2, WALL_HEIGHT, "wall"),
  box(HALF + 0.5, 0, 1, 2 * HALF + 2, WALL_HEIGHT, "wall"),
  box(0, 0, 4, 4, 7, "core"),
  box(-12, 11, 1.8, 1.8, WALL_HEIGHT, "pillar"),
  box(12, 11, 1.8, 1.8, WALL_HEIGHT, "pillar"),
  box(-12, -11, 1.8, 1.8, WALL_HEIGHT, "pillar"),
  box(12, -11, 1.8, 1.8, WALL_HEIGHT, "pillar"),
  box(-16, 1, 0.9, 7, 2.7, "panel"),
  box(16, -1, 0.9, 7, 2.7, "panel"),
  box(0, -11, 7, 0.9, 2.7, "panel"),
  box(-7, 5.5, 5, 0.9, 1.15, "barrier"),
  box(7, 5.5, 5, 0.9, 1.15, "barrier"),
  box(-7, -5.5, 5, 0.9, 1.15, "barrier"),
  box(7, -5.5, 5, 0.9, 1.15, "barrier"),
  box(0, 12.5, 6, 0.9, 1.15, "barrier"),
  box(0, -19.5, 14, 5, 1, "deck"),
  box(-6.5, 15.5, 1.7, 1.7, 1.2, "crate"),
  box(-7.9, 14.2, 1.2, 1.2, 1.2, "crate"),
  box(6.8, 16, 1.9, 1.9, 1.9, "crate"),
  box(18.5, 17.5, 2.2, 2.2, 2.2, "crate"),
  box(16.2, 18.2, 1.5, 1.5, 1.2, "crate"),
  box(-18.5, 15, 2, 2, 2, "crate"),
  box(11, 2, 1.5, 1.5, 1.2, "crate"),
  box(-10.5, -1.5, 1.6, 1.6, 1.9, "crate"),
  box(-18.6, -16.5, 2.2, 2.2, 2.2, "crate"),
  box(-16.4, -17.4, 1.4, 1.4, 1.2, "crate"),
  box(18, -15, 2, 2, 2, "crate"),
  box(10, -16.2, 1.6, 1.6, 1.2, "crate"),
  box(-10.2, -17, 1.8, 1.8, 1.8, "crate"),
];

/** Distance along the unit direction to the first solid thing (the floor too), or `range` when there is none. */
export function raycast(from: Point, direction: Point, range: number): number {
  let nearest = range;
  if (direction.y < -1e-9) {
    const floor = -from.y / direction.y;
    if (floor >= 0 && floor < nearest) nearest = floor;
  }
  for (const solid of colliders) {
    const distance = rayBox(from, direction, solid, nearest);
    if (distance < nearest) nearest = distance;
  }
  return nearest;
}

/** The part of the ray in hand that is still inside; one object for all, since rays are many. */
const span = { enter: 0, leave: 0 };

function rayBox(from: Point, direction: Point, solid: Box, range: number): number {
  span.enter = 0;
  span.leave = range;
  const meets =
    clip(from.x, direction.x, solid.minX, solid.maxX) &&
    clip(from.z, direction.z, solid.minZ, solid.maxZ) &&
    clip(from.y, direction.y, solid.minY, solid.maxY);
  return meets ? span.enter : Infinity;
}

function clip(origin: number, step: number, low: number, high: number): boolean {
  if (Math.abs(step) < 1e-9) return origin >= low && origin <= high;
  const a = (low - origin) / step;
  const b = (high - origin) / step;
  span.enter = Math.max(span.enter, Math.min(a, b));
  span.leave = Math.min(span.leave, Math.max(a, b));
  return span.enter <= span.leave;
}

/** True when nothing solid stands on the straight line between two points. */
export function lineOfSight(a: Point, b: Point): boolean {
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const dz = b.z - a.z;
  const distance = Math.hypot(dx, dy, dz);
  if (distance < 1e-6) return true;
  const direction = { x: dx / distance, y: dy / distance, z: dz / distance };
  return raycast(a, direction, distance) >= distance - 1e-6;
}

/** Pushes an upright cylinder out of every box that overlaps it between its bottom and its top. */
export function pushOut(body: Point, radius: number, bottom: number, top: number): boolean {
  let touched = false;
  for (const solid of colliders) {
    if (solid.maxY <= bottom || solid.minY >= top) continue;
    const nearX = Math.min(Math.max(body.x, solid.minX), solid.maxX);
    const nearZ = Math.min(Math.max(body.z, solid.minZ), solid.maxZ);
    const dx = body.x - nearX;
    const dz = body.z - nearZ;
    const distance = Math.hypot(dx, dz);
    if (distance >= radius) continue;
    touched = true;
    if (distance > 1e-6) {
      body.x = nearX + (dx / distance) * radius;
      body.z = nearZ + (dz / distance) * radius;
      continue;
    }
    const left = body.x - solid.minX;
    const right = solid.maxX - body.x;
    const back = body.z - solid.minZ;
    const front = solid.maxZ - body.z;
    const least = Math.min(left, right, back, front);
    if (least === left) body.x = solid.minX - radius;
    else if (least === right) body.x = solid.maxX + radius;
    else if (least === back) body.z = solid.minZ - radius;
    else body.z = solid.maxZ + radius;
  }
  return touched;
}

/** The highest top not above `feet` under an upright cylinder: what one stands or lands on. */
export function groundBelow(x: number, z: number, radius: number, feet: number): number {
  let ground = 0;
  for (const solid of colliders) {
    if (solid.maxY > feet + 1e-6 || solid.maxY <= ground) continue;
    if (x <= solid.minX - radius || x >= solid.maxX + radius) continue;
    if (z <= solid.minZ - radius || z >= solid.maxZ + radius) continue;
    ground = solid.maxY;
  }
  return ground;
}
