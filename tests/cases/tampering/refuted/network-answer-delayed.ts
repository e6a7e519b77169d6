// An answer comes some frames late.
import { mouse } from "vitexec";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
const real = window.fetch;
window.fetch = async (...given: Parameters<typeof fetch>) => {
  await frames(2);
  return real(...given);
};
await frames(100);
await frames(70);
