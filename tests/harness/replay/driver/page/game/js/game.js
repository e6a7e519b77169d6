import { rules } from "rules";

export const game = { clicks: [], text: "" };
rules.loaded += 1;
addEventListener("click", (event) => game.clicks.push([event.clientX, event.clientY, event.isTrusted]));
const request = new XMLHttpRequest();
request.open("GET", "js/rules.js");
request.addEventListener("load", () => {
  game.text = request.responseText;
});
request.send();
