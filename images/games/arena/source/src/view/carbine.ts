// The carbine in the player's hands: it kicks, dips while it reloads, sways with the walk and lights up at the muzzle.

import {
  AdditiveBlending,
  BoxGeometry,
  Color,
  CylinderGeometry,
  Euler,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  NoBlending,
  Quaternion,
  Sprite,
  SpriteMaterial,
  Vector3,
} from "three";
import type { Texture } from "three";

import { gameState } from "../game/state.ts";
import { RELOAD_SECONDS } from "../game/weapons.ts";
import { Bake, screen, studio } from "./bake.ts";

const REST = new Vector3(0.22, -0.2, -0.56);
const MUZZLE = new Vector3(0, 0.035, -0.42);
const FLASH_SECONDS = 0.05;
const LAST = 9;

function model(): Mesh {
  const bake = new Bake(studio);
  const steel = new Color("#7d8aa3");
  const dark = new Color("#333b50");
  const put = (x: number, y: number, z: number, tilt = 0): Matrix4 =>
    new Matrix4().compose(
      new Vector3(x, y, z),
      new Quaternion().setFromEuler(new Euler(tilt, 0, 0)),
      new Vector3(1, 1, 1),
    );
  bake.solid(new BoxGeometry(0.062, 0.08, 0.34), put(0, 0.01, 0), steel);
  bake.solid(new BoxGeometry(0.04, 0.03, 0.28), put(0, 0.063, -0.02), dark);
  bake.solid(new CylinderGeometry(0.02, 0.026, 0.24, 8), put(0, 0.035, -0.29, Math.PI / 2), dark);
  bake.solid(new BoxGeometry(0.05, 0.05, 0.1), put(0, 0.01, -0.2), dark);
  bake.solid(new BoxGeometry(0.05, 0.13, 0.06), put(0, -0.09, 0.09, 0.35), dark);
  bake.solid(new BoxGeometry(0.045, 0.11, 0.075), put(0, -0.08, -0.06, -0.12), new Color("#f0842c"));
  bake.solid(
    new BoxGeometry(0.012, 0.02, 0.2),
    put(-0.034, 0.03, -0.02),
    new Color("#7fe9ff").multiplyScalar(2.4),
  );
  bake.solid(
    new BoxGeometry(0.012, 0.03, 0.012),
    put(0, 0.09, -0.15),
    new Color("#ffb347").multiplyScalar(2),
  );
  // Last of all and over everything: a wall before the player's nose must not swallow it.
  const made = new Mesh(
    bake.build(),
    new MeshBasicMaterial({ vertexColors: true, transparent: true, blending: NoBlending }),
  );
  made.renderOrder = LAST;
  made.onBeforeRender = (renderer) => renderer.clearDepth();
  return made;
}

export class Carbine {
  readonly root = new Group();
  private readonly flare: Sprite;
  private kick = 0;
  private lit = 0;
  private stride = 0;

  constructor(glow: Texture) {
    const paint = new SpriteMaterial({
      map: glow,
      color: screen(new Color("#ffd08a")),
      blending: AdditiveBlending,
      depthWrite: false,
    });
    this.flare = new Sprite(paint);
    this.flare.position.copy(MUZZLE);
    this.flare.renderOrder = LAST + 1;
    this.root.add(model(), this.flare);
  }

  shoot(): void {
    this.kick = 1;
    this.lit = FLASH_SECONDS;
    this.flare.material.rotation += 1.1;
  }

  /** Where a tracer leaves, in the world. */
  muzzle(): Vector3 {
    return this.flare.getWorldPosition(new Vector3());
  }

  update(dt: number): void {
    const { player, phase } = gameState;
    this.root.visible = phase === "playing";
    this.kick = Math.max(0, this.kick - dt * 9);
    this.lit = Math.max(0, this.lit - dt);
    const pace = player.grounded ? Math.hypot(player.vx, player.vz) : 0;
    this.stride += dt * pace * 1.7;
    const sway = Math.min(1, pace / 5);
    const dip = player.reloadLeft > 0 ? Math.sin((player.reloadLeft / RELOAD_SECONDS) * Math.PI) : 0;
    this.root.position.set(
      REST.x + Math.sin(this.stride) * 0.009 * sway,
      REST.y - Math.abs(Math.cos(this.stride)) * 0.009 * sway - dip * 0.16,
      REST.z + this.kick * 0.05,
    );
    this.root.rotation.set(this.kick * 0.07 - dip * 0.7, 0.03, dip * 0.5 + (player.sprinting ? 0.12 : 0));
    this.flare.visible = this.lit > 0;
    this.flare.scale.setScalar(0.2 + this.lit * 3);
  }
}
