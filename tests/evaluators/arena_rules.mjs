// The arena's rules played without a picture, by node:test. The keys and buttons are real events on the game's own
// listeners; only the window they come from is a bare EventTarget. GAME is the folder of the game.

import assert from "node:assert/strict";
import test from "node:test";

const folder = process.env.GAME ?? "/opt/game";
const load = (name) => import(`file://${folder}/src/game/${name}.ts`);

globalThis.window = new EventTarget();
globalThis.document = Object.assign(new EventTarget(), { pointerLockElement: null });
const canvas = { requestPointerLock: () => Promise.reject(new Error("no pointer lock here")) };

const { gameState, MATCH_SECONDS } = await load("state");
const { advance, begin, prepare, MAX_FRAME_SECONDS } = await load("match");
const { listen, isHeld } = await load("input");
const { player, eye, lookBy, BODY_RADIUS, MOUSE_RADIANS_PER_PX } = await load("player");
const { colliders, HALF, HOVER_CLEARANCE, lineOfSight } = await load("world");
const { FIRE_INTERVAL, MAGAZINE, RELOAD_SECONDS } = await load("weapons");
const { takeEvents } = await load("events");

listen(canvas, { begin, look: lookBy });
const send = (type, fields) =>
  window.dispatchEvent(Object.assign(new Event(type, { cancelable: true }), fields));
const key = (code, down) => send(down ? "keydown" : "keyup", { code, repeat: false });
const trigger = (down) => send(down ? "mousedown" : "mouseup", { button: 0 });
const inside = (body, solid, by) =>
  body.x > solid.minX - by &&
  body.x < solid.maxX + by &&
  body.z > solid.minZ - by &&
  body.z < solid.maxZ + by;

function frames(count, seconds = 1 / 60) {
  for (let index = 0; index < count && gameState.phase === "playing"; index++) advance(seconds);
  takeEvents();
}

function fresh() {
  gameState.phase = "menu";
  prepare();
  send("click", {});
  assert.equal(gameState.phase, "playing");
}

/** Turns the view on a drone by mouse pixels, as a hand would. */
function aimAt(enemy) {
  const from = eye();
  const flat = Math.hypot(enemy.x - from.x, enemy.z - from.z);
  const yaw = Math.atan2(-(enemy.x - from.x), -(enemy.z - from.z)) - player.yaw;
  const pitch = Math.atan2(enemy.y - from.y, flat) - player.pitch;
  const movementX = -Math.atan2(Math.sin(yaw), Math.cos(yaw)) / MOUSE_RADIANS_PER_PX;
  send("mousemove", { movementX, movementY: -pitch / MOUSE_RADIANS_PER_PX });
}

test("nothing runs before the first click", () => {
  prepare();
  for (let index = 0; index < 100; index++) advance(1);
  assert.equal(gameState.phase, "menu");
  assert.equal(gameState.matchTime, 0);
});

test("a player who stands still is shot down and has not won", () => {
  for (let round = 0; round < 20; round++) {
    fresh();
    frames(MATCH_SECONDS * 60 + 10);
    assert.deepEqual([gameState.phase, gameState.over, gameState.won], ["over", true, false]);
    assert.equal(gameState.ending, "destroyed");
    assert.ok(
      gameState.matchTime > 5 && gameState.matchTime < 40,
      `shot down after ${gameState.matchTime} s`,
    );
  }
});

test("a player who aims and fires clears the arena in less than forty seconds at any frame rate", () => {
  for (const rate of [10, 20, 33, 60, 144]) {
    for (let round = 0; round < 6; round++) {
      fresh();
      while (gameState.phase === "playing") {
        const target = gameState.enemies.find((enemy) => enemy.alive && enemy.seesPlayer);
        if (target) aimAt(target);
        trigger(target !== undefined);
        frames(1, 1 / rate);
      }
      assert.equal(gameState.ending, "cleared", `at ${rate} fps`);
      assert.equal(gameState.kills, gameState.enemiesTotal);
      assert.ok(gameState.matchTime < 40, `took ${gameState.matchTime} s at ${rate} fps`);
    }
  }
});

test("a match that nobody decides ends when its time is over", () => {
  fresh();
  while (gameState.phase === "playing") {
    player.health = 100;
    frames(60);
  }
  assert.equal(gameState.ending, "time");
  assert.equal(gameState.won, false);
  assert.equal(gameState.matchTime, MATCH_SECONDS);
});

test("a slow frame slows the game instead of skipping over it", () => {
  fresh();
  advance(7);
  assert.ok(Math.abs(gameState.matchTime - MAX_FRAME_SECONDS) < 1e-9);
});

test("no way of walking leads through a wall or out of the arena", () => {
  for (const codes of [
    ["KeyW", "ShiftLeft"],
    ["KeyW", "KeyD"],
    ["KeyA"],
    ["KeyS", "Space"],
    ["KeyW", "Space", "ShiftLeft"],
  ]) {
    fresh();
    for (const code of codes) key(code, true);
    for (let index = 0; index < 600; index++) {
      player.health = 100;
      send("mousemove", { movementX: 17 + (index % 29), movementY: 0 });
      frames(1, 0.05);
      assert.ok(Math.abs(player.x) <= HALF && Math.abs(player.z) <= HALF, "out of the arena");
      for (const solid of colliders) {
        const deep =
          inside(player, solid, BODY_RADIUS * 0.5) && player.y < solid.maxY - 0.3 && player.y >= solid.minY;
        assert.ok(!deep, `inside a ${solid.look} at ${player.x}, ${player.y}, ${player.z}`);
      }
    }
    for (const code of codes) key(code, false);
  }
});

test("drones stay in the arena and out of what is higher than they fly over", () => {
  fresh();
  for (let index = 0; index < 1500; index++) {
    player.health = 100;
    if (index % 100 === 0) Object.assign(player, { x: ((index * 7) % 36) - 18, z: ((index * 11) % 36) - 18 });
    frames(1, 0.05);
    for (const enemy of gameState.enemies) {
      assert.ok(Math.abs(enemy.x) < HALF && Math.abs(enemy.z) < HALF);
      for (const solid of colliders) {
        assert.ok(
          solid.maxY <= HOVER_CLEARANCE || !inside(enemy, solid, 0),
          `a ${enemy.kind} is in a ${solid.look}`,
        );
      }
    }
  }
});

test("wherever the player stands, every drone finds its way to see it", () => {
  for (const [x, y, z] of [
    [0, 0, 18.5],
    [-20, 0, -20],
    [20, 0, 20],
    [0, 1, -20],
    [18.5, 2.2, 17.5],
    [0, 0, 21.5],
    [-9, 0, 7.2],
  ]) {
    fresh();
    Object.assign(player, { x, y, z });
    const seen = new Set();
    while (seen.size < gameState.enemiesTotal && gameState.matchTime < 45) {
      player.health = 100;
      frames(1, 1 / 30);
      for (const enemy of gameState.enemies) if (enemy.seesPlayer) seen.add(enemy.id);
    }
    assert.equal(seen.size, gameState.enemiesTotal, `at ${x}, ${z}`);
  }
});

test("sight is the same from both ends", () => {
  const place = () => ({
    x: (Math.random() - 0.5) * 2 * HALF,
    y: 0.2 + Math.random() * 4,
    z: (Math.random() - 0.5) * 2 * HALF,
  });
  const solid = (at) => colliders.some((box) => inside(at, box, 0.01) && at.y < box.maxY + 0.01);
  let blocked = 0;
  for (let index = 0; index < 4000; index++) {
    const [a, b] = [place(), place()];
    if (solid(a) || solid(b)) continue;
    assert.equal(lineOfSight(a, b), lineOfSight(b, a));
    if (!lineOfSight(a, b)) blocked += 1;
  }
  assert.ok(blocked > 200, "cover hides something");
  assert.equal(lineOfSight({ x: 0, y: 1.6, z: 8 }, { x: 0, y: 1.6, z: -8 }), false);
  assert.equal(lineOfSight({ x: 15, y: 1.6, z: 18 }, { x: -15, y: 1.6, z: 18 }), true);
});

test("the carbine fires at its own pace, empties and reloads", () => {
  fresh();
  player.pitch = 1.2;
  trigger(true);
  frames(60);
  const inOneSecond = gameState.shotsFired;
  assert.ok(Math.abs(inOneSecond - 1 / FIRE_INTERVAL) < 1.5, `${inOneSecond} shots in a second`);
  for (let index = 0; index < 300 && player.reloadLeft === 0; index++) frames(1);
  assert.equal(gameState.shotsFired, MAGAZINE);
  trigger(false);
  frames(Math.ceil(RELOAD_SECONDS * 60) + 2);
  assert.equal(player.ammo, MAGAZINE);
});

test("losing the pointer pauses the match and a click goes on with it", () => {
  fresh();
  document.pointerLockElement = canvas;
  document.dispatchEvent(new Event("pointerlockchange"));
  key("KeyW", true);
  document.pointerLockElement = null;
  document.dispatchEvent(new Event("pointerlockchange"));
  assert.equal(gameState.paused, true);
  assert.equal(isHeld("KeyW"), false);
  const before = gameState.matchTime;
  frames(30);
  assert.equal(gameState.matchTime, before);
  send("click", {});
  frames(30);
  assert.ok(gameState.matchTime > before);
});

test("Enter after the end begins a new match from nothing", () => {
  fresh();
  player.health = 0;
  frames(1);
  assert.equal(gameState.phase, "over");
  const { match } = gameState;
  key("Enter", true);
  key("Enter", false);
  assert.deepEqual(
    [gameState.phase, gameState.over, gameState.matchTime, gameState.kills, gameState.match],
    ["playing", false, 0, 0, match + 1],
  );
});
