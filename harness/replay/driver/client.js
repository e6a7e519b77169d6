// The page's side of `import { keyboard, mouse } from "vitexec"`: it forwards each call and keeps its promise. Every rule is the
// host's; a page that goes around this file gains nothing and is noted. The run it speaks for stands in its own URL.

const run = new URL(import.meta.url).searchParams.get("run");
const connect = globalThis[Symbol.for("vitexec.connect")];
const link = run !== null && typeof connect === "function" ? connect(run) : null;

function send(method, first, second, option) {
  if (link === null) throw new Error("Vitexec input is unavailable outside a running Vitexec script.");
  return link.call(method, first, second, option);
}

export const mouse = Object.freeze({
  move: (dx, dy, options) => send("mouse.move", dx, dy, options?.durationMs),
  moveTo: (x, y, options) => send("mouse.moveTo", x, y, options?.durationMs),
  moveLatest: (dx, dy) => send("mouse.moveLatest", dx, dy),
  moveToLatest: (x, y) => send("mouse.moveToLatest", x, y),
  stop: () => send("mouse.stop"),
  down: (button = "left", options) => send("mouse.down", button, undefined, options?.releaseAfterMs),
  up: (button = "left") => send("mouse.up", button),
  click: (button = "left", options) => send("mouse.click", button, undefined, options?.durationMs),
});

export const keyboard = Object.freeze({
  down: (key, options) => send("keyboard.down", key, undefined, options?.releaseAfterMs),
  up: (key) => send("keyboard.up", key),
  press: (key, options) => send("keyboard.press", key, undefined, options?.durationMs),
});

// What the server writes into scripts under the virtual clock, so that a script's time and randomness are told from the game's.
export const enter = link?.enter ?? (() => {});
export const wait = link?.wait ?? ((value) => value);
export const owned = link?.owned ?? ((handler) => handler);
