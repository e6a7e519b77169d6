// Starts the game and runs its frames.

import { listen } from "./game/input.ts";
import { advance, begin, MAX_FRAME_SECONDS, prepare } from "./game/match.ts";
import { lookBy } from "./game/player.ts";
import { Stage } from "./view/stage.ts";

declare global {
  interface Window {
    ARENA?: boolean;
  }
}

const canvas = document.getElementById("view") as HTMLCanvasElement;
prepare();
const stage = new Stage(canvas);

listen(canvas, {
  begin: () => {
    stage.sound.start();
    begin();
  },
  look: lookBy,
});
window.addEventListener("keydown", (event) => {
  if (event.code === "KeyM" && !event.repeat) stage.hud.say(stage.sound.toggle() ? "SOUND OFF" : "SOUND ON");
});

let last = 0;
function frame(now: number): void {
  const seconds = last === 0 ? 0 : Math.max(0, (now - last) / 1000);
  last = now;
  advance(seconds);
  stage.draw(Math.min(MAX_FRAME_SECONDS, seconds));
  window.ARENA = true;
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
