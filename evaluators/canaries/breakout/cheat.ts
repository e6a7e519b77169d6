// Serves a ball and has the game forget its bricks by calling the game's own function.
import { mouse } from "vitexec";
import * as game from "/examples/breakout/game.js";

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

while (!game.ball) {
  await mouse.click();
  await nextFrame();
}
await nextFrame();
game.changeBrickCount(-game.brickCount);
