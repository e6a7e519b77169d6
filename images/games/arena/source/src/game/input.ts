// Keys, buttons and pointer lock. A match begins with a click; losing the lock pauses it.

import { gameState } from "./state.ts";

const heldKeys = new Set<string>();
let triggerHeld = false;
let reloadWanted = false;
let hadLock = false;

export function isHeld(code: string): boolean {
  return heldKeys.has(code);
}

export function trigger(): boolean {
  return triggerHeld;
}

export function takeReload(): boolean {
  const wanted = reloadWanted;
  reloadWanted = false;
  return wanted;
}

export function releaseAll(): void {
  heldKeys.clear();
  triggerHeld = false;
  reloadWanted = false;
}

export interface Actions {
  begin(): void;
  look(movementX: number, movementY: number): void;
}

export function listen(canvas: HTMLCanvasElement, { begin, look }: Actions): void {
  const lock = (): void => {
    if (document.pointerLockElement === canvas) return;
    // Older engines return nothing; a refusal leaves a playable game without the lock.
    Promise.resolve(canvas.requestPointerLock() as unknown).catch(() => undefined);
  };
  const active = (): boolean => gameState.phase === "playing" && !gameState.paused;

  window.addEventListener("click", () => {
    if (gameState.phase === "menu") begin();
    else if (gameState.paused) gameState.paused = false;
    if (gameState.phase === "playing") lock();
  });
  window.addEventListener("mousedown", (event) => {
    if (event.button === 0 && active()) triggerHeld = true;
  });
  window.addEventListener("mouseup", (event) => {
    if (event.button === 0) triggerHeld = false;
  });
  window.addEventListener("mousemove", (event) => {
    if (active()) look(event.movementX, event.movementY);
  });
  window.addEventListener("contextmenu", (event) => event.preventDefault());
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.code === "Space" || event.code === "Tab") event.preventDefault();
    heldKeys.add(event.code);
    if (event.repeat) return;
    if (event.code === "KeyR") reloadWanted = true;
    if (event.code === "Enter" && gameState.phase === "over") {
      begin();
      lock();
    }
  });
  window.addEventListener("keyup", (event) => heldKeys.delete(event.code));
  window.addEventListener("blur", releaseAll);
  document.addEventListener("pointerlockchange", () => {
    const locked = document.pointerLockElement === canvas;
    if (hadLock && !locked && gameState.phase === "playing") {
      gameState.paused = true;
      releaseAll();
    }
    hadLock = locked;
  });
}
