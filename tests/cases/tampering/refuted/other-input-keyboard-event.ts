// A library that makes its own key events.
import { mouse } from "vitexec";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
for (const type of ["keydown", "keyup"]) {
  document.body.dispatchEvent(new KeyboardEvent(type, { code: "KeyD", key: "d", bubbles: true }));
  await frames(4);
}
await frames(70);
