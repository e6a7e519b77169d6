import { held, lamps, rules, seen, state } from "./state.ts";
import { uuid } from "./uuid.ts";

const canvas = document.querySelector("canvas") as HTMLCanvasElement;
const context = canvas.getContext("2d") as CanvasRenderingContext2D;
const label = document.querySelector("#score") as HTMLElement;

export class Lights {
  step(dt: number): void {
    state.time += dt;
    state.wind = state.wind * 0.99 + (Math.random() - 0.5);
    for (const lamp of lamps) lamp.x = (lamp.x + state.wind + 640) % 640;
    if (held.has("KeyD")) state.x += dt * 0.1;
    const pad = navigator.getGamepads()[0];
    if (pad) state.pad += pad.axes[0];
  }
}
export const lights = new Lights();

export function hit(x: number, y: number): void {
  for (const lamp of lamps) {
    if (lamp.lit || Math.abs(lamp.x - x) > 60 || Math.abs(lamp.y - y) > 180) continue;
    lamp.lit = true;
    state.score += rules.worth();
    seen.set(uuid(), performance.now());
    return;
  }
}

export function press(code: string): void {
  held.add(code);
}

function begin(): void {
  lamps.length = 0;
  for (let i = 0; i < 6; i++) lamps.push({ x: Math.random() * 640, y: 180, lit: false });
  state.level++;
  state.best = Number(localStorage.getItem("best") ?? 0);
}

async function bonus(): Promise<void> {
  const answer = await fetch("/level.json");
  state.bonus += (await answer.json()).bonus;
}

let last = performance.now();
function frame(now: number): void {
  lights.step(now - last);
  last = now;
  state.frames++;
  context.fillStyle = "#234";
  context.fillRect(0, 0, 640, 360);
  for (const lamp of lamps) {
    context.fillStyle = lamp.lit ? "#fc0" : "#456";
    context.fillRect(lamp.x - 10, lamp.y - 10, 20, 20);
  }
  context.fillRect(state.x, 340, 20, 10);
  label.firstChild ? null : label.append("");
  const text = `score ${state.score}`;
  if (label.dataset.text !== text) {
    label.dataset.text = text;
    label.textContent = text;
  }
  requestAnimationFrame(frame);
}

window.addEventListener("mousedown", (event) => hit(event.clientX, event.clientY));
window.addEventListener("keydown", (event) => press(event.code));
window.addEventListener("keyup", (event) => held.delete(event.code));
(document.querySelector("#again") as HTMLElement).addEventListener("click", begin);
(document.querySelector("#glow") as HTMLElement).addEventListener("animationiteration", () => state.glows++);
setInterval(() => state.ticks++, 100);
setTimeout(function later() {
  bonus();
  setTimeout(later, 1000);
}, 500);
begin();
requestAnimationFrame(frame);
