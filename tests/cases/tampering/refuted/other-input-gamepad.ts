// Another device.
import { mouse } from "vitexec";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
navigator.getGamepads = () => [{ axes: [1, 0] }] as unknown as Gamepad[];
await frames(3);
await frames(70);
