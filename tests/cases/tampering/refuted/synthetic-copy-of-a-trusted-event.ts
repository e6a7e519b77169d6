// A synthetic event that copies a trusted one.
import { mouse } from "vitexec";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
const got = new Promise<MouseEvent>((done) => addEventListener("mousedown", done, { once: true }));
await mouse.click();
const real = await got;
for (let x = 30; x < 640; x += 60) {
  dispatchEvent(new MouseEvent("mousedown", { clientX: x, clientY: real.clientY, button: real.button, bubbles: true }));
}
await frames(70);
