// The game's only source of chance.

export function random(): number {
  return Math.random();
}

export function between(low: number, high: number): number {
  return low + (high - low) * random();
}
