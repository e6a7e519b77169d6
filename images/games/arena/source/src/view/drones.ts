// One mesh a drone, made of painted solids; it tilts with its motion, glows before it fires and flashes when hit.

import {
  BoxGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  Euler,
  Group,
  IcosahedronGeometry,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  OctahedronGeometry,
  Quaternion,
  TorusGeometry,
  Vector3,
} from "three";
import type { BufferGeometry } from "three";

import { gameState } from "../game/state.ts";
import type { Enemy, EnemyKind } from "../game/state.ts";
import { Bake, studio } from "./bake.ts";

const FLASH_SECONDS = 0.1;

interface Colors {
  shell: Color;
  trim: Color;
  eye: Color;
}

const COLORS: Readonly<Record<EnemyKind, Colors>> = {
  scout: { shell: new Color("#c9d4e4"), trim: new Color("#f0842c"), eye: new Color("#ffb347") },
  sentry: { shell: new Color("#8f7fd6"), trim: new Color("#2b2f55"), eye: new Color("#ff5f8f") },
  warden: { shell: new Color("#b8443f"), trim: new Color("#35202c"), eye: new Color("#ffe066") },
};

function place(
  x: number,
  y: number,
  z: number,
  turn: Euler = new Euler(),
  size = new Vector3(1, 1, 1),
): Matrix4 {
  return new Matrix4().compose(new Vector3(x, y, z), new Quaternion().setFromEuler(turn), size);
}

/** All drones look along +z and are modelled with a radius of one. */
function body(kind: EnemyKind): BufferGeometry {
  const { shell, trim, eye } = COLORS[kind];
  const bake = new Bake(studio);
  const flat = new Euler(Math.PI / 2, 0, 0);
  if (kind === "scout") {
    bake.solid(
      new IcosahedronGeometry(0.62, 0),
      place(0, 0, 0, new Euler(), new Vector3(1, 0.72, 1.15)),
      shell,
    );
    for (const side of [-1, 1]) {
      bake.solid(
        new BoxGeometry(0.5, 0.09, 0.3),
        place(side * 0.68, 0.04, -0.08, new Euler(0, side * 0.3, side * 0.25)),
        trim,
      );
      bake.solid(
        new CylinderGeometry(0.3, 0.24, 0.16, 8),
        place(side * 0.95, 0.14, -0.14),
        shell.clone().multiplyScalar(0.6),
      );
    }
    bake.solid(
      new ConeGeometry(0.16, 0.5, 6),
      place(0, 0.12, -0.8, new Euler(-Math.PI / 2 - 0.2, 0, 0)),
      trim,
    );
  } else if (kind === "sentry") {
    bake.solid(
      new OctahedronGeometry(0.72),
      place(0, 0, 0, new Euler(), new Vector3(0.85, 1.25, 0.85)),
      shell,
    );
    bake.solid(new TorusGeometry(0.82, 0.1, 5, 14), place(0, 0, 0, flat), trim);
    for (let arm = 0; arm < 3; arm++) {
      const angle = (arm * 2 * Math.PI) / 3 + Math.PI / 3;
      bake.solid(
        new BoxGeometry(0.16, 0.5, 0.16),
        place(Math.sin(angle) * 0.84, -0.1, Math.cos(angle) * 0.84),
        shell,
      );
    }
  } else {
    bake.solid(new CylinderGeometry(0.56, 0.8, 0.5, 8), place(0, 0.12, 0), shell);
    bake.solid(new CylinderGeometry(0.8, 0.36, 0.4, 8), place(0, -0.33, 0), trim);
    bake.solid(new CylinderGeometry(0.26, 0.5, 0.28, 8), place(0, 0.5, 0), trim);
    for (const side of [-1, 1]) {
      bake.solid(new BoxGeometry(0.3, 0.34, 0.9), place(side * 0.88, -0.06, 0.12), shell);
      bake.solid(new CylinderGeometry(0.09, 0.09, 0.5, 6), place(side * 0.88, -0.06, 0.72, flat), trim);
    }
  }
  const depth = kind === "warden" ? 0.66 : 0.6;
  bake.solid(
    new OctahedronGeometry(0.26),
    place(0, 0.03, depth, new Euler(), new Vector3(1.25, 0.8, 0.6)),
    eye.clone().multiplyScalar(2.2),
  );
  return bake.build();
}

interface Drone {
  mesh: Mesh;
  paint: MeshBasicMaterial;
  flash: number;
}

export class Drones {
  readonly root = new Group();
  private readonly bodies: Readonly<Record<EnemyKind, BufferGeometry>> = {
    scout: body("scout"),
    sentry: body("sentry"),
    warden: body("warden"),
  };
  private readonly drones = new Map<number, Drone>();

  flash(id: number): void {
    const drone = this.drones.get(id);
    if (drone) drone.flash = FLASH_SECONDS;
  }

  update(dt: number): void {
    for (const enemy of gameState.enemies) {
      const drone = this.drones.get(enemy.id) ?? this.add(enemy);
      drone.mesh.visible = enemy.alive;
      if (!enemy.alive) continue;
      const { mesh, paint } = drone;
      mesh.position.set(enemy.x, enemy.y, enemy.z);
      const ahead = enemy.vx * Math.sin(enemy.facing) + enemy.vz * Math.cos(enemy.facing);
      const aside = enemy.vx * Math.cos(enemy.facing) - enemy.vz * Math.sin(enemy.facing);
      mesh.rotation.set(ahead * 0.06, enemy.facing, -aside * 0.07);
      drone.flash = Math.max(0, drone.flash - dt);
      const glow = enemy.charge > 0 ? 1.25 + 0.35 * Math.sin(enemy.charge * 40) : 1;
      if (drone.flash > 0) paint.color.setRGB(4, 4, 4);
      else if (enemy.awake) paint.color.setRGB(glow, 1, 1);
      else paint.color.setRGB(0.7, 0.76, 0.86);
    }
  }

  private add(enemy: Enemy): Drone {
    const paint = new MeshBasicMaterial({ vertexColors: true });
    const mesh = new Mesh(this.bodies[enemy.kind], paint);
    mesh.rotation.order = "YXZ";
    mesh.scale.setScalar(enemy.radius);
    this.root.add(mesh);
    const drone = { mesh, paint, flash: 0 };
    this.drones.set(enemy.id, drone);
    return drone;
  }
}
