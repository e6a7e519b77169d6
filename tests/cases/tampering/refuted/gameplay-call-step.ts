// A step of the game, once more than it would take.
import { mouse } from "vitexec";
import { hit, lights, Lights, press } from "/src/main.ts";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
lights.step(0);
await frames(70);
