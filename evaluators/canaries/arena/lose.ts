// Begins a match and stands still until the drones have won: over, and not cleared.

import { mouse } from "vitexec";
import { gameState } from "/src/game/state.ts";

await mouse.moveTo(40, 40);
while (gameState.phase === "menu") await mouse.click();
while (gameState.phase === "playing") await new Promise((resolve) => requestAnimationFrame(resolve));
console.log(`${gameState.ending} after ${gameState.matchTime.toFixed(2)} s`);
