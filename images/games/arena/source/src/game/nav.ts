// How a drone finds the player round corners: one flood over a grid of metre cells, shared by all of them.

import { colliders, HALF, HOVER_CLEARANCE } from "./world.ts";

const SIZE = 2 * HALF;
const MARGIN = 0.9;
const UNREACHED = 65535;
const WAY_OUT = 4;

const blocked = new Uint8Array(SIZE * SIZE);
const steps = new Uint16Array(SIZE * SIZE).fill(UNREACHED);
const queue = new Int32Array(SIZE * SIZE);

for (let row = 0; row < SIZE; row++) {
  for (let column = 0; column < SIZE; column++) {
    const x = column + 0.5 - HALF;
    const z = row + 0.5 - HALF;
    for (const solid of colliders) {
      if (solid.maxY <= HOVER_CLEARANCE) continue;
      const inside =
        x > solid.minX - MARGIN &&
        x < solid.maxX + MARGIN &&
        z > solid.minZ - MARGIN &&
        z < solid.maxZ + MARGIN;
      if (inside) blocked[row * SIZE + column] = 1;
    }
  }
}

function cellOf(value: number): number {
  return Math.min(SIZE - 1, Math.max(0, Math.floor(value + HALF)));
}

/** Measures every cell's way to the given place. */
export function flood(x: number, z: number): void {
  steps.fill(UNREACHED);
  const start = cellOf(z) * SIZE + cellOf(x);
  steps[start] = 0;
  queue[0] = start;
  let tail = 1;
  for (let head = 0; head < tail; head++) {
    const cell = queue[head]!;
    const next = steps[cell]! + 1;
    const column = cell % SIZE;
    // One who stands on a box or beside a wall is in a blocked cell: the flood may leave it, but not enter others.
    const leaving = blocked[cell] === 1 && next <= WAY_OUT;
    if (column > 0) tail = visit(cell - 1, next, tail, leaving);
    if (column < SIZE - 1) tail = visit(cell + 1, next, tail, leaving);
    if (cell >= SIZE) tail = visit(cell - SIZE, next, tail, leaving);
    if (cell < SIZE * (SIZE - 1)) tail = visit(cell + SIZE, next, tail, leaving);
  }
}

function visit(cell: number, distance: number, tail: number, leaving: boolean): number {
  if (steps[cell] !== UNREACHED || (blocked[cell] && !leaving)) return tail;
  steps[cell] = distance;
  queue[tail] = cell;
  return tail + 1;
}

/** Unit direction from here towards the place last flooded, or zero where no way is known. */
export function wayFrom(x: number, z: number): { x: number; z: number } {
  const column = cellOf(x);
  const row = cellOf(z);
  let best = UNREACHED;
  let bestX = 0;
  let bestZ = 0;
  for (let dz = -1; dz <= 1; dz++) {
    for (let dx = -1; dx <= 1; dx++) {
      const c = column + dx;
      const r = row + dz;
      if (c < 0 || r < 0 || c >= SIZE || r >= SIZE) continue;
      if (dx !== 0 && dz !== 0 && (blocked[row * SIZE + c] || blocked[r * SIZE + column])) continue;
      const distance = steps[r * SIZE + c]!;
      if (distance >= best) continue;
      best = distance;
      bestX = c + 0.5 - HALF - x;
      bestZ = r + 0.5 - HALF - z;
    }
  }
  const length = Math.hypot(bestX, bestZ);
  return best === UNREACHED || length < 1e-6 ? { x: 0, z: 0 } : { x: bestX / length, z: bestZ / length };
}
