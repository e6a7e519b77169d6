// A mutation method of a Set: a key that nobody holds.
import { mouse } from "vitexec";
import { held, lamps, rules, seen, state } from "/src/state.ts";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
held.add("KeyD");
await frames(10);
held.delete("KeyD");
await frames(70);
