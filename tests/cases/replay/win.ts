import { mouse } from "vitexec";
import { state } from "/src/state.js";

await mouse.moveTo(200, 140);
while (!state.won) await mouse.click();
