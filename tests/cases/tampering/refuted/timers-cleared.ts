// A timer of the game is cleared by its number.
import { mouse } from "vitexec";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
for (let id = 1; id < 50; id++) clearInterval(id);
await frames(70);
