// A method on a prototype is wrapped.
import { mouse } from "vitexec";
import { hit, lights, Lights, press } from "/src/main.ts";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
const step = Lights.prototype.step;
Lights.prototype.step = function (dt) {
  step.call(this, dt * 1.01);
};
await frames(70);
