"""What the driver costs on this machine, measured in one go for `playproof bench`: frames of the virtual clock with and without capture, input
from call to event, and what recorder, tape and witness add to a frame on the real clock. Each is taken in turns with its reference, so
that a busy moment hits both. Prints one JSON object: lists of samples, by name."""

import asyncio
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from .browser import Browser
from .cdp import Cdp
from .pacing import Pacing
from .server import ProjectServer
from .stage import Stage

ROOT = Path("/workspace")
SIZES = ((640, 360), (1280, 720))
WARM_FRAMES = 20
FRAMES = 60
REAL_S = 3.0
SEED = 1

MOVES = """
import { mouse } from "vitexec";
const until = performance.now() + LENGTH;
for (let k = 0; performance.now() < until; k++) await mouse.moveTo(100 + (k % 2) * 200, 150, { durationMs: 400 });
"""
PRESSES = """
import { keyboard } from "vitexec";
const took = [];
for (let k = 0; k < 60; k++) {
  const seen = new Promise((done) => addEventListener("keydown", () => done(performance.now()), { capture: true, once: true }));
  const asked = performance.now();
  const pressed = keyboard.down("Shift");
  took.push((await seen) - asked);
  await pressed;
  await keyboard.up("Shift");
  await new Promise((done) => setTimeout(done, 20));
}
console.log(JSON.stringify(took));
"""

Samples = dict[str, list[float]]


async def virtual(server: ProjectServer, size: tuple[int, int], samples: Samples) -> None:
    """Frames a second of one page under the virtual clock: without capture, with it, without."""
    stage = await Stage.open(server.url(server.entry), server.nonce, size, seed=SEED)
    try:
        name = f"{size[0]}x{size[1]}"
        for _ in range(WARM_FRAMES):
            await stage.step()
        samples[f"{name} without"].append(await frames_a_second(stage))
        await stage.start_recording(Path("/tmp/measured.mp4"), size)
        samples[f"{name} with"].append(await frames_a_second(stage))
        await stage.stop_recording()
        samples[f"{name} without"].append(await frames_a_second(stage))
    finally:
        await stage.close()


async def frames_a_second(stage: Stage) -> float:
    began = time.monotonic()
    for _ in range(FRAMES):
        await stage.step()
    return FRAMES / (time.monotonic() - began)


async def latency(server: ProjectServer, samples: Samples) -> None:
    """ms from a call of the script to its event, on the real clock."""
    stage = await Stage.open(server.url(server.entry), server.nonce, SIZES[0])
    try:
        await stage.start_script(await inline(server, PRESSES), 60)
        await stage.logs.settle(1)
        lines = [entry.text for entry in stage.logs.entries if entry.text.startswith("[")]
        samples["latency"] += json.loads(lines[-1])
    finally:
        await stage.close()


async def recorded(server: ProjectServer, samples: Samples) -> None:
    """The page's own mean frame time in ms on the real clock, without and with the recorder, and what the recorder saw of it."""
    stage = await Stage.open(server.url(server.entry), server.nonce, SIZES[0])
    try:
        await asyncio.sleep(1)
        pacing = await Pacing.start(await Cdp.of_page(stage.page))
        await asyncio.sleep(REAL_S)
        await pacing.flush()
        samples["frame bare"].append(frame_ms(pacing.summary()))
        await stage.start_recording(Path("/tmp/measured.mp4"), SIZES[0])
        await asyncio.sleep(REAL_S)
        found = await stage.stop_recording()
        assert found is not None
        samples["frame recorded"].append(frame_ms(found["pacing"]))
        samples["video fps"].append(found["distinct_fps"])
        samples["page fps"].append(found["pacing"]["mean_fps"])
    finally:
        await stage.close()


async def moved(server: ProjectServer, samples: Samples) -> None:
    """The page's mean frame time in ms while the mouse moves 60 times a second: by a script of ours, with tape and witness, and by plain Playwright."""
    rows: list[Any] = []
    stage = await Stage.open(server.url(server.entry), server.nonce, SIZES[0], on_dispatch=rows.append)
    try:
        pacing = await Pacing.start(await Cdp.of_page(stage.page))
        moves = MOVES.replace("LENGTH", str(round(REAL_S * 1000)))
        await stage.start_script(await inline(server, moves), 60)
        await pacing.flush()
        samples["frame moved"].append(frame_ms(pacing.summary()))
    finally:
        await stage.close()
    browser = await Browser.launch(gpu=False)
    try:
        page = await browser.inner.new_page(viewport={"width": SIZES[0][0], "height": SIZES[0][1]})
        await page.goto(server.url(server.entry))
        pacing = await Pacing.start(await Cdp.of_page(page))
        began = time.monotonic()
        step = 0
        while (left := began + step / 60 - time.monotonic()) < 1 and step < REAL_S * 60:
            await asyncio.sleep(max(0.0, left))
            await page.mouse.move(100 + step % 200, 150)
            step += 1
        await pacing.flush()
        samples["frame moved by Playwright"].append(frame_ms(pacing.summary()))
    finally:
        await browser.close()


def frame_ms(pacing: dict[str, Any]) -> float:
    return 1000 / pacing["mean_fps"]


async def inline(server: ProjectServer, text: str) -> str:
    name = f"measured{time.monotonic_ns()}.ts"
    return str((await server.order("inline", name=name, text=text))["url"])


async def measure(rounds: int) -> Samples:
    """Every measurement, `rounds` times."""
    samples: Samples = defaultdict(list)
    made = await ProjectServer.start(ROOT, clock="virtual")
    real = await ProjectServer.start(ROOT)
    try:
        for _ in range(rounds):
            for size in SIZES:
                await virtual(made, size, samples)
            await latency(real, samples)
            await recorded(real, samples)
            await moved(real, samples)
    finally:
        await made.close()
        await real.close()
    return samples


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(int(sys.argv[1])))))
