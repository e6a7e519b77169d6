// Plays Tower Man with the arrow keys: always on the way to the nearest dot that can be had without coming near an
// enemy, else away from the enemies. When caught, the level starts anew and so does the round.
import { keyboard } from "vitexec";

interface Body {
  className: string;
  p: { x: number; y: number; vx: number; vy: number };
}

const TILE = 32;
const NEAR = 3; // tiles of corridor to an enemy that are too few
const WAYS = [
  ["ArrowLeft", -1, 0],
  ["ArrowRight", 1, 0],
  ["ArrowUp", 0, -1],
  ["ArrowDown", 0, 1],
] as const;

const game = (window as any).Q;
const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
const bodies = (): Body[] => game.stage(0).items;
const map = (): number[][] => game.asset("level.json");

const columnOf = (body: Body) => Math.round((body.p.x - TILE / 2) / TILE);
const rowOf = (body: Body) => Math.round((body.p.y - TILE / 2) / TILE);

while (!(game?.stage(0)?.dotCount > 0)) await nextFrame();
const rows = map().length;
const columns = map()[0].length;
const isWall = map().map((row) => row.map((tile) => tile === 1));

// Steps of corridor from the places given; what `blocked` names is not entered.
function distances(from: number[], blocked: (cell: number) => boolean): Float64Array {
  const far = new Float64Array(rows * columns).fill(Infinity);
  const queue = [...from];
  for (const cell of from) far[cell] = 0;
  for (let i = 0; i < queue.length; i++) {
    const cell = queue[i];
    for (const [, dx, dy] of WAYS) {
      const next = cell + dx + dy * columns;
      if (isWall[Math.floor(next / columns)][next % columns] || far[next] !== Infinity || blocked(next)) continue;
      far[next] = far[cell] + 1;
      queue.push(next);
    }
  }
  return far;
}

// The cells an enemy is in, or will be in next.
function enemyCells(): number[] {
  const cells: number[] = [];
  for (const body of bodies()) {
    if (body.className !== "Enemy") continue;
    const x = (body.p.x - TILE / 2) / TILE;
    const y = (body.p.y - TILE / 2) / TILE;
    cells.push(Math.floor(y) * columns + Math.floor(x), Math.ceil(y) * columns + Math.ceil(x));
  }
  return cells.filter((cell) => !isWall[Math.floor(cell / columns)][cell % columns]);
}

function chooseWay(here: number): string | null {
  const danger = distances(enemyCells(), () => false);
  const dots = bodies()
    .filter((body) => body.className === "Dot" || body.className === "Tower")
    .map((body) => rowOf(body) * columns + columnOf(body));
  const steps = distances([here], (cell) => danger[cell] <= NEAR);
  let goal = -1;
  for (const dot of dots) {
    const better = goal < 0 ? steps[dot] < Infinity : steps[dot] < steps[goal];
    if (better && dot !== here) goal = dot;
  }
  if (goal >= 0 && danger[here] > NEAR - 1) {
    const home = distances([goal], (cell) => danger[cell] <= NEAR && cell !== here);
    let key: string | null = null;
    for (const [name, dx, dy] of WAYS) if (home[here + dx + dy * columns] === home[here] - 1) key ??= name;
    return key;
  }
  let key: string | null = null;
  let safest = -Infinity;
  for (const [name, dx, dy] of WAYS) {
    const cell = here + dx + dy * columns;
    if (isWall[Math.floor(cell / columns)][cell % columns]) continue;
    const exits = WAYS.filter(([, ex, ey]) => danger[cell + ex + ey * columns] > danger[cell]).length;
    const safety = danger[cell] + 0.1 * exits;
    if (safety > safest) {
      safest = safety;
      key = name;
    }
  }
  return key;
}

let held: string | null = null;
let caught = 0;
let stage = game.stage(0);
for (;;) {
  if (game.stage(0) !== stage) {
    if (stage.dotCount === 0) break;
    stage = game.stage(0);
    caught++;
  }
  const player = bodies().find((body) => body.className === "Player");
  const key = player ? chooseWay(rowOf(player) * columns + columnOf(player)) : null;
  if (key !== null && key !== held) {
    if (held !== null) await keyboard.up(held);
    held = key;
    await keyboard.down(key);
  }
  await nextFrame();
}
console.log(`no dot is left; caught ${caught} times`);
