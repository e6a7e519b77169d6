// Puts the picture together from the state and what happened since the last frame.

import { Color, LinearSRGBColorSpace, Scene, WebGLRenderer } from "three";

import { camera, stepCamera } from "../game/camera.ts";
import type { GameEvent } from "../game/events.ts";
import { takeEvents } from "../game/events.ts";
import { gameState } from "../game/state.ts";
import { Arena } from "./arena.ts";
import { Carbine } from "./carbine.ts";
import { Drones } from "./drones.ts";
import { Effects } from "./effects.ts";
import { Hud } from "./hud.ts";
import { screen } from "./bake.ts";
import * as light from "./light.ts";
import { Pace } from "./pace.ts";
import { HORIZON } from "./sky.ts";
import { Sound } from "./sound.ts";
import { glowTexture } from "./textures.ts";

const SPARK = screen(new Color("#ffd9a0"));
const FIRE = screen(new Color("#ff8a3c"));
const RED = screen(new Color("#ff5a4d"));
const AMBER = screen(light.AMBER);
const CYAN = screen(light.CYAN);
const MINT = screen(light.MINT);

export class Stage {
  readonly hud = new Hud();
  readonly sound = new Sound();
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly arena = new Arena();
  private readonly drones = new Drones();
  private readonly carbine: Carbine;
  private readonly effects: Effects;
  private readonly pace = new Pace();

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: false, alpha: false, stencil: false });
    // Baked colours are the screen's already: draw them untouched.
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.scene.background = HORIZON;
    const glow = glowTexture();
    this.carbine = new Carbine(glow);
    this.effects = new Effects(glow);
    camera.add(this.carbine.root);
    this.scene.add(this.arena.root, this.drones.root, this.effects.root, camera);
    this.resize();
    window.addEventListener("resize", () => this.resize());
  }

  draw(dt: number): void {
    if (this.pace.frame(dt)) this.resize();
    stepCamera(dt);
    this.carbine.update(dt);
    camera.updateMatrixWorld(true);
    for (const event of takeEvents()) this.show(event);
    const motion = gameState.paused ? 0 : dt;
    this.arena.update(motion);
    this.drones.update(motion);
    this.effects.update(motion);
    this.hud.update(dt);
    this.renderer.render(this.scene, camera);
  }

  private show(event: GameEvent): void {
    this.sound.play(event);
    switch (event.kind) {
      case "shot":
        this.carbine.shoot();
        this.effects.tracer(this.carbine.muzzle(), event.to);
        if (event.struck === "world") this.effects.burst(event.to, CYAN, 5, 2.4, 0.3);
        break;
      case "enemyHit":
        this.drones.flash(event.id);
        this.hud.mark(false);
        this.effects.burst(event.at, SPARK, 9, 4.5, 0.4);
        break;
      case "enemyDown":
        this.hud.mark(true);
        this.hud.say(`${event.enemy.toUpperCase()} DOWN`);
        this.effects.burst(event.at, FIRE, 46, 7.5, 0.9);
        this.effects.flash(event.at, AMBER, 0.4);
        break;
      case "enemyShot":
        this.effects.burst(event.at, RED, 4, 2, 0.2);
        break;
      case "boltBurst":
        this.effects.burst(event.at, RED, 6, 3, 0.3);
        break;
      case "hurt":
        this.hud.hurt(event.from);
        break;
      case "healed":
        this.hud.say("HULL REPAIRED");
        this.effects.burst(event.at, MINT, 16, 3, 0.6);
        break;
      case "begun":
        this.hud.say("CLEAR THE CIRCUIT");
        break;
    }
  }

  private resize(): void {
    this.renderer.setPixelRatio(this.pace.sharpness);
    this.renderer.setSize(window.innerWidth, window.innerHeight);
    camera.aspect = window.innerWidth / window.innerHeight;
    camera.updateProjectionMatrix();
  }
}
