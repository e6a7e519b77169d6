// Pushes the tiles round and round until no move is left. The game forgets its state when it is lost.
import { keyboard } from "vitexec";

while (localStorage.getItem("gameState")) {
  for (const key of ["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"]) await keyboard.press(key, { durationMs: 1 });
}
console.log("no move is left");
