// Runs towards the nearest enemy until the player is caught once.
import { keyboard } from "vitexec";

const game = (window as any).Q;
const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
const GIVE_UP_MS = 60_000;

while (!(game?.stage(0)?.dotCount > 0)) await nextFrame();
const stage = game.stage(0);
const start = performance.now();
while (game.stage(0) === stage && performance.now() - start < GIVE_UP_MS) {
  const player = stage.items.find((item: any) => item.className === "Player");
  let nearest: any = null;
  for (const item of stage.items) {
    if (item.className !== "Enemy") continue;
    const away = Math.hypot(item.p.x - player.p.x, item.p.y - player.p.y);
    if (nearest === null || away < nearest.away) nearest = { away, x: item.p.x - player.p.x, y: item.p.y - player.p.y };
  }
  const across = Math.abs(nearest.x) > Math.abs(nearest.y);
  const key = across ? (nearest.x < 0 ? "ArrowLeft" : "ArrowRight") : nearest.y < 0 ? "ArrowUp" : "ArrowDown";
  await keyboard.press(key, { durationMs: 60 });
}
console.log(game.stage(0) === stage ? "nobody came" : "caught");
