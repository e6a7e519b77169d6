// Surfaces drawn on canvases when the page loads: grey, since colour comes from the baked light.

import { CanvasTexture, LinearFilter, LinearMipmapNearestFilter, RepeatWrapping } from "three";

import { between, random } from "../game/rng.ts";

const SIZE = 256;

type Painter = (brush: CanvasRenderingContext2D) => void;

function texture(paint: Painter): CanvasTexture {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIZE;
  const brush = canvas.getContext("2d");
  if (!brush) throw new Error("This browser gives no 2D canvas to draw surfaces on.");
  paint(brush);
  const made = new CanvasTexture(canvas);
  made.wrapS = made.wrapT = RepeatWrapping;
  made.magFilter = LinearFilter;
  made.minFilter = LinearMipmapNearestFilter;
  return made;
}

function grey(level: number, alpha = 1): string {
  return `rgba(${level},${level},${level},${alpha})`;
}

function grain(brush: CanvasRenderingContext2D, marks: number): void {
  for (let index = 0; index < marks; index++) {
    brush.fillStyle = random() < 0.5 ? grey(0, between(0.02, 0.1)) : grey(255, between(0.02, 0.07));
    brush.fillRect(random() * SIZE, random() * SIZE, between(1, 14), between(1, 3));
  }
}

/** A plate with a dark joint round it and a lit upper edge. */
function plate(
  brush: CanvasRenderingContext2D,
  x: number,
  y: number,
  width: number,
  height: number,
  level: number,
): void {
  brush.fillStyle = grey(level);
  brush.fillRect(x, y, width, height);
  brush.strokeStyle = grey(70);
  brush.lineWidth = 3;
  brush.strokeRect(x + 1.5, y + 1.5, width - 3, height - 3);
  brush.fillStyle = grey(255, 0.35);
  brush.fillRect(x + 4, y + 4, width - 8, 2);
}

function rivets(brush: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
  brush.fillStyle = grey(90);
  for (const [dx, dy] of [
    [10, 10],
    [width - 14, 10],
    [10, height - 14],
    [width - 14, height - 14],
  ] as const) {
    brush.fillRect(x + dx, y + dy, 4, 4);
  }
}

export function floorTexture(): CanvasTexture {
  return texture((brush) => {
    for (const [x, y] of [
      [0, 0],
      [128, 0],
      [0, 128],
      [128, 128],
    ] as const) {
      plate(brush, x, y, 128, 128, between(172, 196));
      rivets(brush, x, y, 128, 128);
    }
    brush.strokeStyle = grey(110, 0.7);
    brush.lineWidth = 3;
    for (let line = 0; line < 7; line++) {
      brush.beginPath();
      brush.moveTo(146, 24 + line * 13);
      brush.lineTo(238, 24 + line * 13);
      brush.stroke();
    }
    grain(brush, 420);
  });
}

export function wallTexture(): CanvasTexture {
  return texture((brush) => {
    plate(brush, 0, 0, 160, 176, 186);
    plate(brush, 160, 0, 96, 88, 168);
    plate(brush, 160, 88, 96, 88, 178);
    plate(brush, 0, 176, 256, 80, 150);
    rivets(brush, 0, 0, 160, 176);
    brush.fillStyle = grey(60);
    for (let slot = 0; slot < 6; slot++) brush.fillRect(178, 16 + slot * 10, 60, 4);
    brush.fillStyle = grey(90);
    for (let stripe = -1; stripe < 9; stripe++) {
      brush.beginPath();
      brush.moveTo(stripe * 32, 236);
      brush.lineTo(stripe * 32 + 16, 236);
      brush.lineTo(stripe * 32 + 32, 252);
      brush.lineTo(stripe * 32 + 16, 252);
      brush.fill();
    }
    grain(brush, 380);
  });
}

export function crateTexture(): CanvasTexture {
  return texture((brush) => {
    plate(brush, 0, 0, SIZE, SIZE, 168);
    brush.strokeStyle = grey(214);
    brush.lineWidth = 22;
    brush.strokeRect(18, 18, SIZE - 36, SIZE - 36);
    brush.strokeStyle = grey(120);
    brush.lineWidth = 3;
    brush.strokeRect(30, 30, SIZE - 60, SIZE - 60);
    brush.lineWidth = 16;
    brush.strokeStyle = grey(196);
    brush.beginPath();
    brush.moveTo(34, 34);
    brush.lineTo(SIZE - 34, SIZE - 34);
    brush.stroke();
    rivets(brush, 0, 0, SIZE, SIZE);
    grain(brush, 300);
  });
}

/** A soft round spot for sparks and glows. */
export function glowTexture(): CanvasTexture {
  return texture((brush) => {
    const spot = brush.createRadialGradient(SIZE / 2, SIZE / 2, 0, SIZE / 2, SIZE / 2, SIZE / 2);
    spot.addColorStop(0, "rgba(255,255,255,1)");
    spot.addColorStop(0.22, "rgba(255,255,255,0.55)");
    spot.addColorStop(0.55, "rgba(255,255,255,0.13)");
    spot.addColorStop(1, "rgba(255,255,255,0)");
    brush.fillStyle = spot;
    brush.fillRect(0, 0, SIZE, SIZE);
  });
}
