// The eye of the view: the player's in a match, a slow flight round the arena before the first.

import { PerspectiveCamera } from "three";

import { EYE_HEIGHT, player } from "./player.ts";
import { gameState } from "./state.ts";

const FIELD_OF_VIEW = 74;
const NEAR = 0.08;
const FAR = 110;

export const camera = new PerspectiveCamera(FIELD_OF_VIEW, 16 / 9, NEAR, FAR);
camera.rotation.order = "YXZ";

let flight = 0.35;

export function stepCamera(dt: number): void {
  if (gameState.phase === "menu") {
    flight += dt * 0.07;
    camera.position.set(Math.sin(flight) * 19, 6.4, Math.cos(flight) * 19);
    camera.lookAt(0, 1.8, 0);
    return;
  }
  camera.position.set(player.x, player.y + EYE_HEIGHT, player.z);
  camera.rotation.set(player.pitch, player.yaw, 0);
}
