// A handler of the game, called by a timer.
import { mouse } from "vitexec";
import { hit, lights, Lights, press } from "/src/main.ts";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
await new Promise<void>((done) => {
  setTimeout(() => {
    press("KeyD");
    done();
  }, 100);
});
await frames(5);
await frames(70);
