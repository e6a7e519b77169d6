// Serves three balls and lets each fall past the paddle, which waits in the corner.
import { mouse } from "vitexec";
import * as game from "/examples/breakout/game.js";

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

await mouse.moveTo(40, 300);
for (let balls = 0; balls < 3; balls++) {
  while (!game.ball) {
    await mouse.click();
    await nextFrame();
  }
  while (game.ball) await nextFrame();
}
console.log(`three balls lost, ${game.brickCount} bricks left`);
