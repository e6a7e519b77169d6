// The night over the arena: a dome, a broken moon and stars, drawn last and only where nothing hides them.

import {
  BackSide,
  BufferGeometry,
  CircleGeometry,
  Color,
  Float32BufferAttribute,
  Group,
  Mesh,
  MeshBasicMaterial,
  Points,
  PointsMaterial,
  RingGeometry,
  SphereGeometry,
  Vector3,
} from "three";

import { between } from "../game/rng.ts";
import { screen } from "./bake.ts";

export const HORIZON = screen(new Color("#131a33"));

const RADIUS = 90;
const STARS = 150;
const MOON = new Vector3(-30, 33, -70);
const MOON_RADIUS = 11;

function painted(geometry: BufferGeometry, colorAt: (point: Vector3) => Color, order: number): Mesh {
  const points = geometry.getAttribute("position");
  const colors: number[] = [];
  const point = new Vector3();
  for (let index = 0; index < points.count; index++) {
    const { r, g, b } = colorAt(point.fromBufferAttribute(points, index));
    colors.push(r, g, b);
  }
  geometry.setAttribute("color", new Float32BufferAttribute(colors, 3));
  const made = new Mesh(
    geometry,
    new MeshBasicMaterial({ vertexColors: true, side: BackSide, depthWrite: false }),
  );
  made.renderOrder = order;
  return made;
}

function dome(): Mesh {
  const high = screen(new Color("#050817"));
  const glow = screen(new Color("#5a2f63"));
  const colorAt = ({ y }: Vector3): Color => {
    const height = Math.max(0, y / RADIUS);
    const color = HORIZON.clone().lerp(high, Math.min(1, height * 1.7));
    return color.lerp(glow, Math.max(0, 1 - Math.abs(height - 0.1) * 6) * 0.6);
  };
  return painted(new SphereGeometry(RADIUS, 24, 16), colorAt, 2);
}

function moon(): Group {
  const lit = screen(new Color("#8fb4d8"));
  const dark = screen(new Color("#1a2140"));
  const disc = painted(
    new CircleGeometry(MOON_RADIUS, 40),
    ({ x, y }) => dark.clone().lerp(lit, Math.min(1, Math.max(0, 0.45 + (x * 0.7 + y) / MOON_RADIUS / 1.6))),
    3,
  );
  const ring = painted(
    new RingGeometry(MOON_RADIUS * 1.35, MOON_RADIUS * 1.75, 48, 1),
    ({ x }) => dark.clone().lerp(lit, 0.35 + (0.25 * x) / MOON_RADIUS / 1.7),
    3,
  );
  // Drawn from behind, as the dome is; the ring is tilted and only its front half crosses the disc.
  ring.rotation.set(1.32, 0.32, 0);
  const made = new Group();
  made.add(disc, ring);
  made.position.copy(MOON);
  made.lookAt(MOON.clone().multiplyScalar(2));
  return made;
}

function stars(): Points {
  const places: number[] = [];
  const colors: number[] = [];
  for (let index = 0; index < STARS; index++) {
    const turn = between(0, 2 * Math.PI);
    const height = between(0.12, 0.95);
    const flat = Math.sqrt(1 - height * height) * (RADIUS - 2);
    const level = between(0.25, 0.95);
    places.push(Math.cos(turn) * flat, height * (RADIUS - 2), Math.sin(turn) * flat);
    colors.push(level * 0.85, level * 0.92, level);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(places, 3));
  geometry.setAttribute("color", new Float32BufferAttribute(colors, 3));
  const made = new Points(
    geometry,
    new PointsMaterial({ size: 2, sizeAttenuation: false, vertexColors: true, depthWrite: false }),
  );
  made.renderOrder = 2.5;
  return made;
}

export function sky(): Group {
  const made = new Group();
  made.add(dome(), stars(), moon());
  return made;
}
