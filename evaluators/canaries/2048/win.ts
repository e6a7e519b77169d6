// Plays 2048 with the arrow keys: reads the board that the game saves after every move and looks a few moves
// ahead, weighing where new tiles may fall. A lost game is started again with R.
import { keyboard } from "vitexec";

const KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
const UNLIKELY = 0.003; // what falls less often than this is not looked into
const ROW_WORTH = 200_000; // keeps every board that is not lost above 0

// A row is four exponents in 16 bits, a board four rows.
const leftOf = new Uint16Array(65536);
const rightOf = new Uint16Array(65536);
const worthOf = new Float64Array(65536);

function slide(cells: number[]): number[] {
  const tiles = cells.filter((cell) => cell > 0);
  const slid: number[] = [];
  while (tiles.length) {
    const tile = tiles.shift() as number;
    if (tiles[0] === tile) {
      tiles.shift();
      slid.push(tile + 1);
    } else slid.push(tile);
  }
  while (slid.length < 4) slid.push(0);
  return slid;
}

const pack = (c: number[]) => c[0] | (c[1] << 4) | (c[2] << 8) | (c[3] << 12);

// Room and pairs are good; a row that neither rises nor falls, and many large tiles, are bad.
function weigh(c: number[]): number {
  let empty = 0;
  let pairs = 0;
  let run = 0;
  let before = 0;
  let weight = 0;
  for (const exponent of c) {
    weight += exponent ** 3.5;
    if (exponent === 0) empty++;
    else if (exponent === before) run++;
    else {
      if (run > 0) pairs += 1 + run;
      run = 0;
      before = exponent;
    }
  }
  if (run > 0) pairs += 1 + run;
  let rising = 0;
  let falling = 0;
  for (let i = 1; i < 4; i++) {
    const step = c[i - 1] ** 4 - c[i] ** 4;
    if (step > 0) falling += step;
    else rising -= step;
  }
  return ROW_WORTH + 270 * empty + 700 * pairs - 47 * Math.min(rising, falling) - 11 * weight;
}

for (let row = 0; row < 65536; row++) {
  const c = [row & 15, (row >> 4) & 15, (row >> 8) & 15, row >> 12];
  leftOf[row] = pack(slide(c));
  rightOf[row] = pack(slide([...c].reverse()).reverse());
  worthOf[row] = weigh(c);
}

// A board and its mirror along the diagonal are worth the same and have the same moves, so that up and down are left
// and right of the mirrored board, and nothing is ever mirrored back. Rows are passed one by one: no garbage.
const column = (a: number, b: number, c: number, d: number, i: number) =>
  ((a >> i) & 15) | (((b >> i) & 15) << 4) | (((c >> i) & 15) << 8) | (((d >> i) & 15) << 12);

function worth(a: number, b: number, c: number, d: number): number {
  let sum = worthOf[a] + worthOf[b] + worthOf[c] + worthOf[d];
  for (let i = 0; i < 16; i += 4) sum += worthOf[column(a, b, c, d, i)];
  return sum;
}

function emptyIn(row: number): number {
  return +!(row & 15) + +!(row & 240) + +!(row & 3840) + +!(row & 61440);
}

const emptyCells = (a: number, b: number, c: number, d: number) => emptyIn(a) + emptyIn(b) + emptyIn(c) + emptyIn(d);

function afterNewTile(a: number, b: number, c: number, d: number, depth: number, chance: number): number {
  if (depth === 0 || chance < UNLIKELY) return worth(a, b, c, d);
  const cells = emptyCells(a, b, c, d);
  const two = (0.9 * chance) / cells;
  const four = (0.1 * chance) / cells;
  let sum = 0;
  for (let i = 0; i < 16; i += 4) {
    const tile = 1 << i;
    const mask = 15 << i;
    if (!(a & mask)) {
      sum += 0.9 * bestWorth(a | tile, b, c, d, depth - 1, two) + 0.1 * bestWorth(a | (tile << 1), b, c, d, depth - 1, four);
    }
    if (!(b & mask)) {
      sum += 0.9 * bestWorth(a, b | tile, c, d, depth - 1, two) + 0.1 * bestWorth(a, b | (tile << 1), c, d, depth - 1, four);
    }
    if (!(c & mask)) {
      sum += 0.9 * bestWorth(a, b, c | tile, d, depth - 1, two) + 0.1 * bestWorth(a, b, c | (tile << 1), d, depth - 1, four);
    }
    if (!(d & mask)) {
      sum += 0.9 * bestWorth(a, b, c, d | tile, depth - 1, two) + 0.1 * bestWorth(a, b, c, d | (tile << 1), depth - 1, four);
    }
  }
  return sum / cells;
}

// -1 where the move changes nothing.
function worthOfMove(table: Uint16Array, a: number, b: number, c: number, d: number, depth: number, chance: number): number {
  const w = table[a];
  const x = table[b];
  const y = table[c];
  const z = table[d];
  return w === a && x === b && y === c && z === d ? -1 : afterNewTile(w, x, y, z, depth, chance);
}

function bestWorth(a: number, b: number, c: number, d: number, depth: number, chance: number): number {
  const p = column(a, b, c, d, 0);
  const q = column(a, b, c, d, 4);
  const r = column(a, b, c, d, 8);
  const s = column(a, b, c, d, 12);
  return Math.max(
    0,
    worthOfMove(leftOf, a, b, c, d, depth, chance),
    worthOfMove(rightOf, a, b, c, d, depth, chance),
    worthOfMove(leftOf, p, q, r, s, depth, chance),
    worthOfMove(rightOf, p, q, r, s, depth, chance),
  );
}

type Board = [number, number, number, number];

function bestKey(board: Board): number {
  const [a, b, c, d] = board;
  const empty = emptyCells(a, b, c, d);
  const depth = empty > 7 ? 1 : empty > 3 ? 2 : 3;
  const mirrored = [0, 4, 8, 12].map((i) => column(a, b, c, d, i)) as Board;
  let best = -1;
  let chosen = -1;
  for (let key = 0; key < 4; key++) {
    const [p, q, r, s] = key < 2 ? board : mirrored;
    const value = worthOfMove(key % 2 === 0 ? leftOf : rightOf, p, q, r, s, depth, 1);
    if (value > best) {
      best = value;
      chosen = key;
    }
  }
  return chosen;
}

function savedBoard(cells: ({ value: number } | null)[][]): Board {
  const rows: Board = [0, 0, 0, 0];
  for (let y = 0; y < 4; y++) rows[y] = pack([0, 1, 2, 3].map((x) => Math.log2(cells[x][y]?.value ?? 1)));
  return rows;
}

let released: Promise<void> = Promise.resolve();
async function tap(key: string): Promise<void> {
  await released;
  await keyboard.down(key);
  released = keyboard.up(key); // the next move is thought out meanwhile
}

while (!localStorage.getItem("gameState")) await new Promise((resolve) => requestAnimationFrame(resolve));
let moves = 0;
for (;;) {
  const saved = localStorage.getItem("gameState");
  const state = saved === null ? null : JSON.parse(saved);
  if (state?.won) break;
  const key = state ? bestKey(savedBoard(state.grid.cells)) : -1;
  await tap(key < 0 ? "r" : KEYS[key]);
  moves++;
}
await released;
console.log(`won after ${moves} moves`);
