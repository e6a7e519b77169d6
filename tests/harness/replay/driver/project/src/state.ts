export interface Seen {
  type: string;
  at: number;
  trusted: boolean;
  x: number;
  y: number;
  dx: number;
  dy: number;
  detail: string;
  repeat: boolean;
}

export const seen: Seen[] = [];
export const state = { ready: false, locked: false, count: 0 };
