// What is written over the picture. Each text is touched only when it changes: layout is dear without a GPU.

import { gameState, MAX_HEALTH } from "../game/state.ts";
import type { Ending, Point } from "../game/state.ts";
import { MAGAZINE } from "../game/weapons.ts";

const HURT_SECONDS = 0.35;
const MARK_SECONDS = 0.12;
const NOTICE_SECONDS = 1.6;
const LOW_HEALTH = 30;
const LOW_TIME = 20;

const ENDINGS: Readonly<Record<Ending, readonly [string, string]>> = {
  "": ["", ""],
  cleared: ["CIRCUIT CLEARED", "Every drone is down. The core is yours."],
  destroyed: ["HULL LOST", "The drones got through. The core stays dark."],
  time: ["CORE SEALED", "Two minutes are over and drones are left."],
};

const CONTROLS = [
  ["W A S D", "move"],
  ["Mouse", "look"],
  ["Left button", "fire"],
  ["R", "reload"],
  ["Space", "jump"],
  ["Shift", "sprint"],
  ["M", "sound"],
] as const;

function find(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no element "${id}".`);
  return element;
}

function clock(seconds: number): string {
  const left = Math.ceil(seconds);
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
}

export class Hud {
  private readonly shown = new Map<HTMLElement, string>();
  private readonly hud = find("hud");
  private readonly overlay = find("overlay");
  private readonly crosshair = find("crosshair");
  private readonly hurtEdge = find("hurt");
  private readonly hurtFrom = find("hurt-from");
  private readonly health = find("health-value");
  private readonly healthBar = find("health-bar");
  private readonly ammo = find("ammo-value");
  private readonly ammoPips = find("ammo-pips");
  private readonly clock = find("clock");
  private readonly drones = find("drones");
  private readonly notice = find("notice");
  private readonly pips: HTMLElement[] = [];
  private hurtLeft = 0;
  private markLeft = 0;
  private noticeLeft = 0;

  constructor() {
    for (let pip = 0; pip < MAGAZINE; pip++) {
      this.pips.push(this.ammoPips.appendChild(document.createElement("i")));
    }
  }

  mark(kill: boolean): void {
    this.markLeft = kill ? MARK_SECONDS * 2.5 : MARK_SECONDS;
    this.crosshair.className = kill ? "mark kill" : "mark";
  }

  hurt(from: Point): void {
    const { player } = gameState;
    const bearing = Math.atan2(-(from.x - player.x), -(from.z - player.z)) - player.yaw;
    this.hurtFrom.style.transform = `rotate(${-bearing}rad)`;
    this.hurtLeft = HURT_SECONDS;
    this.hurtEdge.className = this.hurtFrom.className = "on";
  }

  say(text: string): void {
    this.write(this.notice, text);
    this.notice.className = "on";
    this.noticeLeft = NOTICE_SECONDS;
  }

  update(dt: number): void {
    const { player, phase, paused } = gameState;
    this.style(this.hud, phase === "playing" ? "" : "hidden");
    this.showOverlay(phase === "playing" ? (paused ? "paused" : "none") : phase);
    this.tick(dt);
    this.write(this.health, String(Math.ceil(player.health)));
    this.scale(this.healthBar, player.health / MAX_HEALTH);
    this.style(this.healthBar, player.health <= LOW_HEALTH ? "low" : "");
    this.write(this.ammo, player.reloadLeft > 0 ? "RELOAD" : String(player.ammo));
    this.pips.forEach((pip, index) => this.style(pip, index < player.ammo ? "full" : ""));
    const left = gameState.timeLimit - gameState.matchTime;
    this.write(this.clock, clock(left));
    this.style(this.clock, left <= LOW_TIME ? "low" : "");
    this.write(this.drones, `${gameState.enemiesTotal - gameState.kills} / ${gameState.enemiesTotal} DRONES`);
  }

  private tick(dt: number): void {
    if (this.markLeft > 0 && (this.markLeft -= dt) <= 0) this.crosshair.className = "";
    if (this.hurtLeft > 0 && (this.hurtLeft -= dt) <= 0)
      this.hurtEdge.className = this.hurtFrom.className = "";
    if (this.noticeLeft > 0 && (this.noticeLeft -= dt) <= 0) this.notice.className = "";
  }

  private showOverlay(what: "none" | "paused" | "menu" | "over"): void {
    if (this.shown.get(this.overlay) === what) return;
    this.shown.set(this.overlay, what);
    this.overlay.className = what;
    this.overlay.replaceChildren();
    if (what === "none") return;
    if (what === "over") this.ending();
    else this.title(what);
  }

  private title(what: "menu" | "paused"): void {
    this.add("h1", what === "menu" ? "HOLLOW CIRCUIT" : "PAUSED");
    this.add(
      "p",
      what === "menu" ? "Eight drones hold the core. You have two minutes." : "The circuit waits.",
    );
    const keys = this.overlay.appendChild(document.createElement("dl"));
    for (const [key, meaning] of CONTROLS) {
      keys.appendChild(document.createElement("dt")).textContent = key;
      keys.appendChild(document.createElement("dd")).textContent = meaning;
    }
    this.add("strong", what === "menu" ? "Click to play" : "Click to go on");
  }

  private ending(): void {
    const [heading, text] = ENDINGS[gameState.ending];
    const { shotsFired, shotsHit, kills, enemiesTotal, matchTime, player } = gameState;
    this.overlay.classList.add(gameState.won ? "won" : "lost");
    this.add("h1", heading);
    this.add("p", text);
    const figures = this.overlay.appendChild(document.createElement("dl"));
    const rows = [
      [`${matchTime.toFixed(2)} s`, "time"],
      [`${kills} / ${enemiesTotal}`, "drones"],
      [shotsFired ? `${Math.round((100 * shotsHit) / shotsFired)} %` : "none fired", "accuracy"],
      [String(Math.ceil(player.health)), "hull left"],
    ] as const;
    for (const [value, name] of rows) {
      figures.appendChild(document.createElement("dt")).textContent = value;
      figures.appendChild(document.createElement("dd")).textContent = name;
    }
    this.add("strong", "Press Enter to play again");
  }

  private add(tag: string, text: string): void {
    this.overlay.appendChild(document.createElement(tag)).textContent = text;
  }

  private write(element: HTMLElement, text: string): void {
    if (this.shown.get(element) === text) return;
    this.shown.set(element, text);
    element.textContent = text;
  }

  private style(element: HTMLElement, name: string): void {
    if (element.className !== name) element.className = name;
  }

  private scale(element: HTMLElement, share: number): void {
    const transform = `scaleX(${share.toFixed(3)})`;
    if (element.style.transform !== transform) element.style.transform = transform;
  }
}
