// The arena as one sees it: a handful of meshes, whatever the number of boxes.

import { Color, Group, Matrix4, Mesh, MeshBasicMaterial, OctahedronGeometry } from "three";
import type { CanvasTexture } from "three";

import { gameState } from "../game/state.ts";
import type { Point } from "../game/state.ts";
import { colliders, HALF, WALL_HEIGHT } from "../game/world.ts";
import type { Box, Look } from "../game/world.ts";
import { Bake, glowing, studio } from "./bake.ts";
import { AMBER, CYAN, lightAt, MAGENTA, MINT } from "./light.ts";
import { sky } from "./sky.ts";
import { crateTexture, floorTexture, wallTexture } from "./textures.ts";

const TINT: Readonly<Record<Look, Color>> = {
  wall: new Color(0.78, 0.86, 1),
  core: new Color(0.6, 0.56, 0.6),
  pillar: new Color(0.8, 0.84, 0.95),
  panel: new Color(0.85, 0.9, 1),
  barrier: new Color(1, 0.9, 0.78),
  crate: new Color(1, 0.86, 0.66),
  deck: new Color(0.9, 0.8, 0.92),
};

type Sheet = readonly [corner: Point, across: Point, up: Point];

function at(x: number, y: number, z: number): Point {
  return { x, y, z };
}

function faces({ minX, minY, minZ, maxX, maxY, maxZ }: Box, grow = 0): Sheet[] {
  const [w, h, d] = [maxX - minX, maxY - minY, maxZ - minZ];
  return [
    [at(minX, minY, maxZ + grow), at(w, 0, 0), at(0, h, 0)],
    [at(maxX, minY, minZ - grow), at(-w, 0, 0), at(0, h, 0)],
    [at(maxX + grow, minY, maxZ), at(0, 0, -d), at(0, h, 0)],
    [at(minX - grow, minY, minZ), at(0, 0, d), at(0, h, 0)],
    [at(minX, maxY + grow, maxZ), at(w, 0, 0), at(0, 0, -d)],
  ];
}

const WALLS: readonly Sheet[] = [
  [at(-HALF, 0, -HALF), at(2 * HALF, 0, 0), at(0, WALL_HEIGHT, 0)],
  [at(HALF, 0, HALF), at(-2 * HALF, 0, 0), at(0, WALL_HEIGHT, 0)],
  [at(-HALF, 0, HALF), at(0, 0, -2 * HALF), at(0, WALL_HEIGHT, 0)],
  [at(HALF, 0, -HALF), at(0, 0, 2 * HALF), at(0, WALL_HEIGHT, 0)],
];

function mesh(bake: Bake, map: CanvasTexture | null): Mesh {
  const made = new Mesh(bake.build(), new MeshBasicMaterial({ vertexColors: true, map }));
  made.matrixAutoUpdate = false;
  return made;
}

function floor(): Mesh {
  const bake = new Bake(lightAt);
  const tint = new Color(0.8, 0.86, 1);
  bake.panel({
    corner: at(-HALF, 0, HALF),
    across: at(2 * HALF, 0, 0),
    up: at(0, 0, -2 * HALF),
    piece: 1.1,
    tile: 4,
    tint,
  });
  const made = mesh(bake, floorTexture());
  made.renderOrder = 1; // after what stands on it: less is drawn twice
  return made;
}

function standing(crates: boolean): Mesh {
  const bake = new Bake(lightAt);
  if (!crates) {
    for (const [corner, across, up] of WALLS) {
      bake.panel({ corner, across, up, piece: 1.85, tile: 4, tint: TINT.wall });
    }
  }
  for (const solid of colliders) {
    if (solid.look === "wall" || (solid.look === "crate") !== crates) continue;
    for (const [corner, across, up] of faces(solid)) {
      const tile = crates ? solid.maxX - solid.minX : 3;
      bake.panel({ corner, across, up, piece: 1.2, tile, tint: TINT[solid.look] });
    }
  }
  return mesh(bake, crates ? crateTexture() : wallTexture());
}

/** A lit band across one face: from `low` to `high` of its height, `side` of its width left free at each end. */
function band(
  bake: Bake,
  [corner, across, up]: Sheet,
  low: number,
  high: number,
  side: number,
  tint: Color,
): void {
  const start = at(
    corner.x + across.x * side + up.x * low,
    corner.y + across.y * side + up.y * low,
    corner.z + across.z * side + up.z * low,
  );
  const wide = 1 - 2 * side;
  const tall = high - low;
  bake.panel({
    corner: start,
    across: at(across.x * wide, across.y * wide, across.z * wide),
    up: at(up.x * tall, up.y * tall, up.z * tall),
    piece: 100,
    tile: 1,
    tint,
  });
}

function moved([corner, across, up]: Sheet): Sheet {
  const normal = at(
    across.y * up.z - across.z * up.y,
    across.z * up.x - across.x * up.z,
    across.x * up.y - across.y * up.x,
  );
  const length = Math.hypot(normal.x, normal.y, normal.z) / 0.03;
  return [
    at(corner.x + normal.x / length, corner.y + normal.y / length, corner.z + normal.z / length),
    across,
    up,
  ];
}

function strips(): Mesh {
  const bake = new Bake(glowing);
  WALLS.forEach((sheet, side) => {
    const tint = side === 0 ? MAGENTA : CYAN;
    band(bake, moved(sheet), 0.64, 0.665, 0, tint);
    band(bake, moved(sheet), 0.975, 1, 0, tint.clone().multiplyScalar(0.5));
  });
  for (const solid of colliders) {
    for (const sheet of faces(solid, 0.03).slice(0, 4)) {
      if (solid.look === "core") {
        band(bake, moved(sheet), 0.05, 0.92, 0.44, AMBER);
        band(bake, sheet, 0.62, 0.64, 0.06, AMBER.clone().multiplyScalar(0.7));
        band(bake, sheet, 0.3, 0.31, 0.06, AMBER.clone().multiplyScalar(0.5));
      } else if (solid.look === "pillar") band(bake, sheet, 0.5, 0.56, 0.08, CYAN);
      else if (solid.look === "panel") band(bake, sheet, 0.9, 0.93, 0.03, CYAN);
      else if (solid.look === "barrier") band(bake, sheet, 0.84, 0.91, 0.03, AMBER);
      else if (solid.look === "deck") band(bake, sheet, 0.8, 0.9, 0, MAGENTA);
    }
  }
  return mesh(bake, null);
}

function repairCell(): Mesh {
  const bake = new Bake(studio);
  bake.solid(
    new OctahedronGeometry(0.42),
    new Matrix4().makeScale(0.8, 1.15, 0.8),
    MINT.clone().multiplyScalar(1.5),
  );
  return new Mesh(bake.build(), new MeshBasicMaterial({ vertexColors: true }));
}

export class Arena {
  readonly root = new Group();
  private readonly cells = [repairCell(), repairCell()];
  private spin = 0;

  constructor() {
    this.root.add(floor(), standing(false), standing(true), strips(), sky(), ...this.cells);
  }

  update(dt: number): void {
    this.spin += dt * 1.8;
    this.cells.forEach((cell, index) => {
      const pickup = gameState.pickups[index];
      cell.visible = pickup !== undefined && !pickup.taken;
      if (pickup) cell.position.set(pickup.x, pickup.y + 0.12 * Math.sin(this.spin), pickup.z);
      cell.rotation.y = this.spin;
    });
  }
}
