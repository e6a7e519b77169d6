// Storage is written before the game reads it again.
import { mouse } from "vitexec";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
localStorage.setItem("best", "77");
await mouse.moveTo(590, 20);
await mouse.click();
await frames(70);
