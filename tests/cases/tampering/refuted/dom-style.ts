// Only the picture: how dense the canvas is.
import { mouse } from "vitexec";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
(document.querySelector("canvas") as HTMLElement).style.opacity = "0.9";
await frames(70);
