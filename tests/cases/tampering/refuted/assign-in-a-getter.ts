// The write hides in a getter that a harmless call reads.
import { mouse } from "vitexec";
import { held, lamps, rules, seen, state } from "/src/state.ts";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
const look = {
  get label() {
    state.x += 1;
    return "x";
  },
};
JSON.stringify(look);
await frames(70);
