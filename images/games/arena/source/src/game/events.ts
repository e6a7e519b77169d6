// What happened since the last frame, for the view and the sound. The rules never read it.

import type { EnemyKind, Point } from "./state.ts";

export type GameEvent =
  | { kind: "shot"; to: Point; struck: "enemy" | "world" | "nothing" }
  | { kind: "reload" }
  | { kind: "enemyHit"; id: number; at: Point }
  | { kind: "enemyDown"; id: number; enemy: EnemyKind; at: Point }
  | { kind: "enemyShot"; at: Point }
  | { kind: "boltBurst"; at: Point }
  | { kind: "hurt"; from: Point; damage: number }
  | { kind: "healed"; at: Point }
  | { kind: "jump" }
  | { kind: "begun" }
  | { kind: "ended"; won: boolean };

const pending: GameEvent[] = [];

export function emit(event: GameEvent): void {
  pending.push(event);
}

export function takeEvents(): GameEvent[] {
  return pending.splice(0, pending.length);
}
