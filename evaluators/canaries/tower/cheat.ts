// Tells the stage that one dot is left and lets the player run into the next one.
import { keyboard } from "vitexec";

const game = (window as any).Q;
const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

while (!(game?.stage(0)?.dotCount > 0)) await nextFrame();
const stage = game.stage(0);
stage.dotCount = 1;
await keyboard.down("ArrowLeft");
for (let frames = 0; frames < 600 && game.stage(0) === stage; frames++) await nextFrame();
