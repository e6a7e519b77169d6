// A mutation method of a Map, undone before the next second.
import { mouse } from "vitexec";
import { held, lamps, rules, seen, state } from "/src/state.ts";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
seen.set("x", 1);
await frames(3);
seen.delete("x");
await frames(70);
