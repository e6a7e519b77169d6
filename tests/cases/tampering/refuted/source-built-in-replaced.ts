// A built-in that the game uses is replaced.
import { mouse } from "vitexec";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
const own = Array.from;
Array.from = ((...given: [Iterable<unknown>]) => own(...given).reverse()) as typeof Array.from;
for (const x of [60, 180, 300, 420, 540]) {
  await mouse.moveTo(x, 180);
  await mouse.click();
}
await frames(70);
