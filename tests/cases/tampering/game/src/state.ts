export interface Lamp {
  x: number;
  y: number;
  lit: boolean;
}
export const state = { score: 0, frames: 0, ticks: 0, time: 0, glows: 0, level: 0, bonus: 0, x: 320, wind: 0, best: 0, pad: 0 };
export const lamps: Lamp[] = [];
export const seen = new Map<string, number>();
export const held = new Set<string>();
export const rules = { worth: () => 1 };
