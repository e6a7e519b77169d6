// setTimeout is patched for a while and put back.
import { mouse } from "vitexec";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
const own = window.setTimeout;
window.setTimeout = ((run: () => void, ms: number) => own(run, ms / 2)) as typeof setTimeout;
await frames(80);
window.setTimeout = own;
await frames(70);
