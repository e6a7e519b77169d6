import { seen, state } from "/src/state.ts";

const KINDS = ["mousemove", "mousedown", "mouseup", "click", "dblclick", "keydown", "keyup", "wheel"];

for (const kind of KINDS) {
  window.addEventListener(kind, (event) => {
    const mouse = event as MouseEvent;
    const key = event as KeyboardEvent;
    seen.push({
      type: kind,
      at: performance.now(),
      trusted: event.isTrusted,
      x: mouse.clientX,
      y: mouse.clientY,
      dx: mouse.movementX,
      dy: mouse.movementY,
      detail: key.code ?? String(mouse.button),
      repeat: key.repeat ?? false,
    });
  });
}

const board = document.querySelector("canvas")!;
const pen = board.getContext("2d")!;
document.addEventListener("pointerlockchange", () => {
  state.locked = document.pointerLockElement === board;
});
Object.assign(globalThis, { lockPointer: () => board.requestPointerLock() });

function draw(): void {
  state.count += 1;
  pen.fillStyle = `hsl(${state.count % 360} 60% 50%)`;
  pen.fillRect(0, 0, board.width, board.height);
  requestAnimationFrame(draw);
}
draw();
state.ready = true;
