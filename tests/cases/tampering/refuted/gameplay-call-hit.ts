// The game's own action.
import { mouse } from "vitexec";
import { hit, lights, Lights, press } from "/src/main.ts";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
for (let x = 30; x < 640; x += 60) hit(x, 180);
await frames(70);
