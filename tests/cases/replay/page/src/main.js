import { state } from "./state.js";

document.getElementById("button").addEventListener("click", (event) => {
  state.startedAt ??= event.timeStamp;
  state.clicks.push({ x: event.clientX, y: event.clientY, trusted: event.isTrusted });
  if (state.clicks.length >= 3) {
    state.won = true;
    state.wonAt = event.timeStamp;
  }
});
window.READY = true;
