// Plays breakout through the mouse alone. The flight of the ball is foreseen with the engine's own rules of
// collision; where the ball will come down, the paddle is placed so that the next two flights break the most
// bricks for their time.
import { mouse } from "vitexec";
import * as engine from "/dist/littlejs.esm.js";
import * as game from "/examples/breakout/game.js";
import { Brick } from "/examples/breakout/gameObjects.js";

interface Flight {
  x: number;
  y: number;
  vx: number;
  vy: number;
  frames: number;
  broken: number;
}

const COLUMNS = 16;
const ROWS = 7;
const FIRST_X = 4;
const FIRST_Y = 12;
const PADDLE_Y = 1;
const PADDLE_HALF = 2.5;
const BALL_HALF = 0.25;
const REACH = 2.3; // how far off its middle the paddle is trusted to hit the ball
const LONGEST_FLIGHT = 900; // frames
const EPSILON = 0.001;
const SPEED_WORTH = 120; // bricks that a ball faster by one unit a frame is worth
const THINKING_MS = 150;
const OUT_OF_REACH = 0.05; // what a flight is worth that comes down where the paddle cannot be in time

const nextFrame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));

function bricksNow(): Uint8Array {
  const bricks = new Uint8Array(COLUMNS * ROWS);
  for (const object of engine.engineObjects) {
    if (!(object instanceof Brick) || object.destroyed) continue;
    bricks[Math.round((object.pos.x - FIRST_X) / 2) * ROWS + Math.round(object.pos.y - FIRST_Y)] = 1;
  }
  return bricks;
}

// One solid box against the ball that came from (ox, oy): pushes the ball out and turns it round.
function bounce(f: Flight, ox: number, oy: number, bx: number, by: number, halfX: number, halfY: number): boolean {
  const reachX = halfX + BALL_HALF;
  const reachY = halfY + BALL_HALF;
  const dx = f.x - bx;
  const dy = f.y - by;
  if (dx < -reachX || dx >= reachX || dy < -reachY || dy >= reachY) return false;
  const above = oy - by > reachY;
  const besideX = Math.abs(oy - by) < reachY;
  const besideY = Math.abs(ox - bx) < reachX;
  if (besideX && besideY) return true;
  if (above || besideY || !besideX) {
    f.y = by + (reachY + EPSILON) * Math.sign(oy - by);
    f.vy = -f.vy;
  }
  if (!above && besideX) {
    f.x = bx + (reachX + EPSILON) * Math.sign(ox - bx);
    f.vx = -f.vx;
  }
  return true;
}

// Flies on until the ball is down at the paddle's height. Changes `bricks`.
function fly(f: Flight, bricks: Uint8Array): boolean {
  const { x: width, y: height } = game.levelSize;
  for (let i = 0; i < LONGEST_FLIGHT; i++) {
    const ox = f.x;
    const oy = f.y;
    f.x += f.vx;
    f.y += f.vy;
    f.frames++;
    if (f.y > FIRST_Y - 1 && f.y < FIRST_Y + ROWS) {
      const column = Math.round((f.x - FIRST_X) / 2);
      const row = Math.round(f.y - FIRST_Y);
      for (let c = Math.max(0, column - 1); c <= Math.min(COLUMNS - 1, column + 1); c++) {
        for (let r = Math.max(0, row - 1); r <= Math.min(ROWS - 1, row + 1); r++) {
          if (!bricks[c * ROWS + r] || !bounce(f, ox, oy, FIRST_X + 2 * c, FIRST_Y + r, 1, 0.5)) continue;
          bricks[c * ROWS + r] = 0;
          f.broken++;
        }
      }
    }
    bounce(f, ox, oy, -0.5, height / 2, 0.5, 50);
    bounce(f, ox, oy, width + 0.5, height / 2, 0.5, 50);
    bounce(f, ox, oy, width / 2, height + 0.5, 50, 0.5);
    if (f.vy < 0 && f.y < PADDLE_Y + 2 * BALL_HALF) return true;
  }
  return false;
}

// The paddle's answer when the ball meets it `offset` to the left of the paddle's middle.
function hit(f: Flight, offset: number): void {
  const angle = 0.2 * offset;
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const vx = f.vx * cos + f.vy * sin;
  const vy = Math.max(f.vx * sin - f.vy * cos, 0.2);
  const speed = Math.hypot(vx, vy);
  const wanted = Math.min(1.04 * speed, 0.5);
  f.vx = (vx / speed) * wanted;
  f.vy = (vy / speed) * wanted;
}

function offsets(x: number, step: number): number[] {
  const places: number[] = [];
  for (let offset = -REACH; offset <= REACH; offset += step) {
    const paddle = x + offset;
    if (paddle >= PADDLE_HALF && paddle <= game.levelSize.x - PADDLE_HALF) places.push(offset);
  }
  if (!places.length) places.push(x < PADDLE_HALF ? PADDLE_HALF - x : game.levelSize.x - PADDLE_HALF - x);
  return places;
}

// `pace` is how far the paddle gets in a frame of the engine: a slow machine draws few frames, and a mouse moves by frames.
function bestOffset(landing: Flight, bricks: Uint8Array, pace: number, paddle: number): number {
  let left = 0;
  for (const brick of bricks) left += brick;
  const speed = Math.hypot(landing.vx, landing.vy);
  const worth = (f: Flight) =>
    (f.broken + (f.broken >= left ? left : 0) + SPEED_WORTH * (Math.hypot(f.vx, f.vy) - speed)) / f.frames;
  const start = performance.now();
  let best = 0;
  let bestWorth = -Infinity;
  for (const offset of offsets(landing.x, 0.1)) {
    const first = { ...landing, frames: 0, broken: 0 };
    const afterFirst = bricks.slice();
    hit(first, offset);
    if (!fly(first, afterFirst)) continue;
    let value = worth(first);
    if (first.broken < left && performance.now() - start < THINKING_MS) {
      for (const next of offsets(first.x, 0.4)) {
        const second = { ...first };
        hit(second, next);
        if (fly(second, afterFirst.slice())) value = Math.max(value, worth(second));
      }
    }
    const way = Math.abs(first.x - landing.x - offset) - REACH;
    const late = Math.abs(landing.x + offset - paddle) > pace * landing.frames;
    if (late || way > pace * first.frames) value *= value > 0 ? OUT_OF_REACH : 1 / OUT_OF_REACH;
    if (value > bestWorth) {
      bestWorth = value;
      best = offset;
    }
  }
  return best;
}

function pixelX(x: number): number {
  const box = engine.mainCanvas.getBoundingClientRect();
  const onCanvas = (x - engine.cameraPos.x) * engine.cameraScale + engine.mainCanvas.width / 2 - 0.5;
  return box.left + (box.width * onCanvas) / engine.mainCanvas.width;
}

while (!(game.brickCount > 0)) await nextFrame();
const box = engine.mainCanvas.getBoundingClientRect();
const mouseY = box.top + box.height / 2;
let pointer = pixelX(game.levelSize.x / 2);
await mouse.moveTo(pointer, mouseY);

let planned = -1; // the landing place for which the paddle's place was chosen
let wanted = 0;
let pace = 0.2;
let lost = 0;
while (game.brickCount > 0) {
  if (!game.ball) {
    await mouse.click();
    await nextFrame();
    planned = -1;
    if (!game.ball) continue;
    lost++;
  }
  const { pos, velocity } = game.ball;
  const bricks = bricksNow();
  const landing: Flight = { x: pos.x, y: pos.y, vx: velocity.x, vy: velocity.y, frames: 0, broken: 0 };
  const gone = velocity.y < 0 && pos.y < PADDLE_Y + 2 * BALL_HALF;
  if (!gone && fly(landing, bricks)) {
    const place = Math.round(landing.x * 50);
    if (place !== planned) {
      planned = place;
      wanted = landing.x + bestOffset(landing, bricks, pace, game.paddle.pos.x);
    }
    const target = pixelX(Math.max(PADDLE_HALF, Math.min(game.levelSize.x - PADDLE_HALF, wanted)));
    const way = Math.abs(target - pointer);
    if (way > 0.5) {
      const before = engine.frame;
      pointer = target;
      await mouse.moveTo(pointer, mouseY);
      const took = engine.frame - before;
      if (way > 100 && took > 0) pace = 0.5 * pace + (0.4 * way) / (pixelX(1) - pixelX(0)) / took;
      continue;
    }
  }
  await nextFrame();
}
console.log(`cleared at ${engine.time.toFixed(2)} s of game time with ${lost} balls, pace ${pace.toFixed(2)}`);
