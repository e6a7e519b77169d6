// requestAnimationFrame calls the game twice.
import { mouse } from "vitexec";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
const own = window.requestAnimationFrame;
window.requestAnimationFrame = (run) =>
  own((now) => {
    run(now);
    if (run.name === "frame") run(now);
  });
await new Promise((done) => setTimeout(done, 50));
window.requestAnimationFrame = own;
await frames(70);
