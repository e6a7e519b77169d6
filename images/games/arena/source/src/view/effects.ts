// Tracers, bolts, sparks and flashes, each kind in one pool and one draw call.

import {
  AdditiveBlending,
  BufferAttribute,
  BufferGeometry,
  Color,
  DynamicDrawUsage,
  Group,
  LineBasicMaterial,
  LineSegments,
  Points,
  PointsMaterial,
  Vector3,
} from "three";
import type { Texture } from "three";

import { between } from "../game/rng.ts";
import { gameState } from "../game/state.ts";
import type { Point } from "../game/state.ts";
import { screen } from "./bake.ts";

const SPARKS = 260;
const TRACERS = 10;
const BOLTS = 40;
const TRACER_SECONDS = 0.09;
const FALL = 9;

class Cloud {
  readonly points: Points;
  readonly count: number;
  private readonly places: Float32Array;
  private readonly colors: Float32Array;

  constructor(count: number, size: number, map: Texture) {
    this.count = count;
    this.places = new Float32Array(count * 3);
    this.colors = new Float32Array(count * 3);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(this.places, 3).setUsage(DynamicDrawUsage));
    geometry.setAttribute("color", new BufferAttribute(this.colors, 3).setUsage(DynamicDrawUsage));
    this.points = new Points(
      geometry,
      new PointsMaterial({
        size,
        map,
        vertexColors: true,
        blending: AdditiveBlending,
        depthWrite: false,
        transparent: true,
      }),
    );
    this.points.frustumCulled = false;
    this.points.renderOrder = 4;
  }

  set(index: number, at: Point, color: Color, strength: number): void {
    const k = index * 3;
    this.places[k] = at.x;
    this.places[k + 1] = at.y;
    this.places[k + 2] = at.z;
    this.colors[k] = color.r * strength;
    this.colors[k + 1] = color.g * strength;
    this.colors[k + 2] = color.b * strength;
  }

  /** Shows the first `count` of them. */
  show(count: number): void {
    this.points.visible = count > 0;
    this.points.geometry.setDrawRange(0, count);
    this.points.geometry.getAttribute("position").needsUpdate = true;
    this.points.geometry.getAttribute("color").needsUpdate = true;
  }
}

interface Spark {
  at: Vector3;
  speed: Vector3;
  color: Color;
  life: number;
  span: number;
}

interface Flash {
  at: Vector3;
  color: Color;
  life: number;
  span: number;
}

const BOLT_COLOR = screen(new Color("#ff5a4d"));

export class Effects {
  readonly root = new Group();
  private readonly sparkCloud: Cloud;
  private readonly boltCloud: Cloud;
  private readonly flashCloud: Cloud;
  private readonly sparks: Spark[] = [];
  private readonly flashes: Flash[] = [];
  private readonly tracerEnds = new Float32Array(TRACERS * 6);
  private readonly tracerColors = new Float32Array(TRACERS * 6);
  private readonly tracerLife: number[] = new Array<number>(TRACERS).fill(0);
  private readonly tracers: LineSegments;
  private nextTracer = 0;

  constructor(glow: Texture) {
    this.sparkCloud = new Cloud(SPARKS, 0.26, glow);
    this.boltCloud = new Cloud(BOLTS, 0.95, glow);
    this.flashCloud = new Cloud(16, 4.2, glow);
    const lines = new BufferGeometry();
    lines.setAttribute("position", new BufferAttribute(this.tracerEnds, 3).setUsage(DynamicDrawUsage));
    lines.setAttribute("color", new BufferAttribute(this.tracerColors, 3).setUsage(DynamicDrawUsage));
    this.tracers = new LineSegments(
      lines,
      new LineBasicMaterial({
        vertexColors: true,
        blending: AdditiveBlending,
        depthWrite: false,
        transparent: true,
      }),
    );
    this.tracers.frustumCulled = false;
    this.tracers.renderOrder = 4;
    this.root.add(this.tracers, this.sparkCloud.points, this.boltCloud.points, this.flashCloud.points);
  }

  tracer(from: Point, to: Point): void {
    const k = this.nextTracer * 6;
    this.tracerEnds.set([from.x, from.y, from.z, to.x, to.y, to.z], k);
    this.tracerLife[this.nextTracer] = TRACER_SECONDS;
    this.nextTracer = (this.nextTracer + 1) % TRACERS;
  }

  burst(at: Point, color: Color, count: number, force: number, span: number): void {
    for (let index = 0; index < count && this.sparks.length < SPARKS; index++) {
      const speed = new Vector3(between(-1, 1), between(-0.6, 1.2), between(-1, 1)).multiplyScalar(
        force * between(0.4, 1),
      );
      this.sparks.push({
        at: new Vector3(at.x, at.y, at.z),
        speed,
        color,
        life: span * between(0.6, 1),
        span,
      });
    }
  }

  flash(at: Point, color: Color, span: number): void {
    if (this.flashes.length < this.flashCloud.count) {
      this.flashes.push({ at: new Vector3(at.x, at.y, at.z), color, life: span, span });
    }
  }

  update(dt: number): void {
    this.fadeTracers(dt);
    this.drawBolts();
    this.fly(dt);
    this.fade(dt);
  }

  private fadeTracers(dt: number): void {
    let burning = false;
    for (let index = 0; index < TRACERS; index++) {
      const life = Math.max(0, (this.tracerLife[index] ?? 0) - dt);
      this.tracerLife[index] = life;
      burning ||= life > 0;
      const level = life / TRACER_SECONDS;
      this.tracerColors.set([0.35 * level, 0.6 * level, 0.8 * level, level, level, level], index * 6);
    }
    this.tracers.visible = burning;
    this.tracers.geometry.getAttribute("position").needsUpdate = true;
    this.tracers.geometry.getAttribute("color").needsUpdate = true;
  }

  private drawBolts(): void {
    const shown = Math.min(BOLTS, gameState.bolts.length);
    for (let index = 0; index < shown; index++)
      this.boltCloud.set(index, gameState.bolts[index]!, BOLT_COLOR, 1.6);
    this.boltCloud.show(shown);
  }

  private fly(dt: number): void {
    for (let index = this.sparks.length - 1; index >= 0; index--) {
      const spark = this.sparks[index]!;
      spark.life -= dt;
      spark.speed.y -= FALL * dt;
      spark.at.addScaledVector(spark.speed, dt);
      if (spark.at.y < 0.04) {
        spark.at.y = 0.04;
        spark.speed.multiplyScalar(0.5).setY(Math.abs(spark.speed.y));
      }
      if (spark.life <= 0) this.sparks.splice(index, 1);
    }
    this.sparks.forEach(({ at, color, life, span }, index) => {
      this.sparkCloud.set(index, at, color, Math.min(1, life / span) * 1.5);
    });
    this.sparkCloud.show(this.sparks.length);
  }

  private fade(dt: number): void {
    for (let index = this.flashes.length - 1; index >= 0; index--) {
      const flash = this.flashes[index]!;
      flash.life -= dt;
      if (flash.life <= 0) this.flashes.splice(index, 1);
    }
    this.flashes.forEach(({ at, color, life, span }, index) => {
      this.flashCloud.set(index, at, color, (life / span) ** 2 * 1.4);
    });
    this.flashCloud.show(this.flashes.length);
  }
}
