// Math.random is replaced for one frame.
import { mouse } from "vitexec";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
const own = Math.random;
Math.random = () => 0.75;
await frames(1);
Math.random = own;
await frames(70);
