// The game gets another answer.
import { mouse } from "vitexec";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
window.fetch = async () => new Response('{"bonus": 5}');
await frames(80);
await frames(70);
