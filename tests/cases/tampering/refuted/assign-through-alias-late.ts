// An alias, after many frames, by a thousandth.
import { mouse } from "vitexec";
import { held, lamps, rules, seen, state } from "/src/state.ts";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
const other = [lamps];
await frames(200);
other[0][1].x += 0.001;
await frames(70);
