// All that a match is, as plain data. The game's modules write it, the view and any observer read it.

export type Phase = "menu" | "playing" | "over";
export type Ending = "" | "cleared" | "destroyed" | "time";
export type EnemyKind = "scout" | "sentry" | "warden";

export interface Point {
  x: number;
  y: number;
  z: number;
}

export interface Player extends Point {
  /** Feet. Eyes are EYE_HEIGHT above. */
  vx: number;
  vy: number;
  vz: number;
  /** Radians. Yaw 0 looks along -z and grows to the left; pitch grows upwards. */
  yaw: number;
  pitch: number;
  grounded: boolean;
  sprinting: boolean;
  health: number;
  ammo: number;
  /** Seconds until the cell is full again; 0 when not reloading. */
  reloadLeft: number;
  /** Seconds until the next shot may leave. */
  cooldown: number;
}

export interface Enemy extends Point {
  /** The centre of its body is x, y, z. */
  id: number;
  kind: EnemyKind;
  vx: number;
  vy: number;
  vz: number;
  radius: number;
  health: number;
  maxHealth: number;
  alive: boolean;
  awake: boolean;
  seesPlayer: boolean;
  /** Seconds until its bolt leaves; 0 when it is not aiming. */
  charge: number;
  /** Seconds until it may aim again. */
  cooldown: number;
  wakeAt: number;
  strafe: number;
  strafeLeft: number;
  bob: number;
  facing: number;
}

export interface Bolt extends Point {
  vx: number;
  vy: number;
  vz: number;
  damage: number;
  life: number;
}

export interface Pickup extends Point {
  taken: boolean;
}

export const MATCH_SECONDS = 120;
export const MAX_HEALTH = 100;

export const gameState = {
  phase: "menu" as Phase,
  over: false,
  won: false,
  ending: "" as Ending,
  paused: false,
  /** How many matches were begun since the page was opened. */
  match: 0,
  /** Seconds of play since the match began: the game's own clock. */
  matchTime: 0,
  timeLimit: MATCH_SECONDS,
  kills: 0,
  enemiesTotal: 0,
  shotsFired: 0,
  shotsHit: 0,
  player: {
    x: 0,
    y: 0,
    z: 0,
    vx: 0,
    vy: 0,
    vz: 0,
    yaw: 0,
    pitch: 0,
    grounded: true,
    sprinting: false,
    health: MAX_HEALTH,
    ammo: 0,
    reloadLeft: 0,
    cooldown: 0,
  } as Player,
  enemies: [] as Enemy[],
  bolts: [] as Bolt[],
  pickups: [] as Pickup[],
};
