// Imports a module that the game does not load, measures time, waits in a loop that reads the clock, and uses promises of its own.
import { mouse } from "vitexec";
import { halves } from "/src/extra.ts";
import { lamps } from "/src/state.ts";

const start = performance.now();
const until = Date.now() + 20;
while (Date.now() < until && performance.now() - start < 20) Math.random();
for (const wait of [10, 20, 30]) {
  await Promise.all([new Promise((done) => setTimeout(done, wait)), new Promise((done) => requestIdleCallback(done))]);
  await mouse.moveTo(lamps[0].x, halves(360));
  await mouse.click();
}
await fetch("/level.json")
  .then((answer) => answer.json())
  .then((level) => console.log(level.bonus, Math.random() >= 0));
for (let i = 0; i < 60; i++) await new Promise((done) => setTimeout(done, 16));
