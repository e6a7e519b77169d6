// An event on a node outside the document, which a listener of the script hands on.
import { mouse } from "vitexec";
import { hit, lights, Lights, press } from "/src/main.ts";

const frames = async (n: number) => {
  for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
};
await mouse.moveTo(300, 180);
await mouse.click();
const node = document.createElement("i");
node.addEventListener("go", () => press("KeyD"));
node.dispatchEvent(new CustomEvent("go"));
await frames(70);
