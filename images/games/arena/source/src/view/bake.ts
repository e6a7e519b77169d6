// Geometry with its light already in it: colours a vertex carries, so that the frame costs no lighting at all. They
// are turned into the screen's own values here, once, and drawn as they are: without a GPU every operation a pixel
// is felt.

import { BufferGeometry, Color, Float32BufferAttribute, Matrix4, Vector3 } from "three";

import type { Point } from "../game/state.ts";

export type Shade = (at: Vector3, normal: Vector3) => Color;

export interface Panel {
  corner: Point;
  /** The two edges; their cross product points out of the visible side. */
  across: Point;
  up: Point;
  /** Longest piece an edge is cut into, in metres: light is only known at the corners. */
  piece: number;
  /** Metres one texture tile covers. */
  tile: number;
  tint: Color;
}

export class Bake {
  private readonly positions: number[] = [];
  private readonly colors: number[] = [];
  private readonly uvs: number[] = [];
  private readonly index: number[] = [];

  constructor(private readonly shade: Shade) {}

  panel({ corner, across, up, piece, tile, tint }: Panel): void {
    const start = vector(corner);
    const u = vector(across);
    const v = vector(up);
    const normal = new Vector3().crossVectors(u, v).normalize();
    const columns = Math.max(1, Math.ceil(u.length() / piece));
    const rows = Math.max(1, Math.ceil(v.length() / piece));
    const first = this.positions.length / 3;
    const at = new Vector3();
    for (let row = 0; row <= rows; row++) {
      for (let column = 0; column <= columns; column++) {
        at.copy(start)
          .addScaledVector(u, column / columns)
          .addScaledVector(v, row / rows);
        this.vertex(at, this.shade(at, normal).multiply(tint));
        this.uvs.push((u.length() * column) / columns / tile, (v.length() * row) / rows / tile);
      }
    }
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const a = first + row * (columns + 1) + column;
        const c = a + columns + 1;
        this.index.push(a, a + 1, c + 1, a, c + 1, c);
      }
    }
  }

  /** Adds a solid with flat faces. */
  solid(shape: BufferGeometry, place: Matrix4, tint: Color): void {
    const faces = (shape.index ? shape.toNonIndexed() : shape.clone()).applyMatrix4(place);
    const points = faces.getAttribute("position");
    const corners = [new Vector3(), new Vector3(), new Vector3()] as const;
    const normal = new Vector3();
    const edge = new Vector3();
    for (let index = 0; index < points.count; index += 3) {
      corners.forEach((corner, k) => corner.fromBufferAttribute(points, index + k));
      normal.subVectors(corners[1], corners[0]).cross(edge.subVectors(corners[2], corners[0])).normalize();
      for (const corner of corners) {
        this.index.push(this.positions.length / 3);
        this.vertex(corner, this.shade(corner, normal).multiply(tint));
        this.uvs.push(0, 0);
      }
    }
  }

  build(): BufferGeometry {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new Float32BufferAttribute(this.positions, 3));
    geometry.setAttribute("color", new Float32BufferAttribute(this.colors, 3));
    geometry.setAttribute("uv", new Float32BufferAttribute(this.uvs, 2));
    geometry.setIndex(this.index);
    return geometry;
  }

  private vertex(at: Vector3, color: Color): void {
    const { r, g, b } = screen(color);
    this.positions.push(at.x, at.y, at.z);
    this.colors.push(r, g, b);
  }
}

/** A colour as the screen takes it. */
export function screen(color: Color): Color {
  return color.clone().convertLinearToSRGB();
}

export function vector({ x, y, z }: Point): Vector3 {
  return new Vector3(x, y, z);
}

/** Light for things that move about: from above, a little from the front. */
export const studio: Shade = (_at, normal) => {
  const level =
    0.42 + 0.46 * Math.max(0, normal.y) + 0.22 * Math.max(0, normal.z) + 0.08 * Math.abs(normal.x);
  return new Color(level, level, level * 1.06);
};

/** Things that shine by themselves. */
export const glowing: Shade = () => new Color(1, 1, 1);
