// Draws randomness itself and through a library of the game's, after awaits of every kind, in timers and listeners.
import { keyboard, mouse } from "vitexec";
import { lamps } from "/src/state.ts";
import { uuid } from "/src/uuid.ts";

const frame = () => new Promise<number>((done) => requestAnimationFrame(done));
const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
let heard = 0;
addEventListener("mousedown", () => {
  heard += Math.random() + uuid().length;
});
setInterval(() => {
  heard += Math.random();
}, 30);
(function loop() {
  heard += Math.random();
  requestAnimationFrame(loop);
})();
Promise.resolve().then(() => uuid());
for (let i = 0; i < 8; i++) {
  await frame();
  uuid();
  await sleep(Math.random() * 40);
  Math.random();
  const lamp = lamps.find((one) => !one.lit);
  if (!lamp) break;
  await mouse.moveTo(lamp.x, lamp.y);
  crypto.getRandomValues(new Uint8Array(3));
  await mouse.click();
  uuid();
}
await keyboard.press("KeyD", { durationMs: 20 + Math.random() * 100 });
console.log(heard > 0);
