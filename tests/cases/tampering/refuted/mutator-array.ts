// A mutation method of an array.
import { mouse } from "vitexec";
import { held, lamps, rules, seen, state } from "/src/state.ts";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
lamps.reverse();
await frames(70);
