// An answer is changed on its way.
import { mouse } from "vitexec";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
const { json } = Response.prototype;
Response.prototype.json = async function () {
  return { bonus: (await json.call(this)).bonus + 1 };
};
await frames(80);
await frames(70);
