"""Runs in a container, as a program: films a page that draws the number of its own frame, and reads the numbers back from the video.
Arguments: kind of page, frames, width, height, mode, hogs, and the frame at which the
browser is killed, or 0."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from driver.browser import Browser  # pyright: ignore[reportMissingImports]
from driver.cdp import Cdp  # pyright: ignore[reportMissingImports]
from driver.frame_recorder import FrameRecorder  # pyright: ignore[reportMissingImports]
from driver.pixels import pixel_digest  # pyright: ignore[reportMissingImports]

VIDEO = Path("/tmp/film.mp4")
CELL = 16  # px; 16 cells, each a bit of the number
TICK_TIMEOUT_S = 30.0
TICK = "function (n) { return this(n); }"

CELLS = """(n, fill) => { for (let bit = 0; bit < 16; bit++) fill(bit * 16, n >> bit & 1); }"""
PAGES = {
    "canvas": """const c = canvas.getContext("2d");
        const draw = (n) => { c.fillStyle = "#246"; c.fillRect(0, 0, W, H);
          for (let i = 0; i < 60; i++) { c.fillStyle = `hsl(${i * 6}, 80%, 50%)`; c.fillRect((n * 3 + i * 37) % W, 20 + (i * 53) % H, 20, 20); }
          cells(n, (x, on) => { c.fillStyle = on ? "#fff" : "#000"; c.fillRect(x, 0, 16, 16); }); };""",
    "webgl": """const g = canvas.getContext("webgl");
        const draw = (n) => { g.disable(g.SCISSOR_TEST); g.clearColor(n % 60 / 60, .2, .3, 1); g.clear(g.COLOR_BUFFER_BIT); g.enable(g.SCISSOR_TEST);
          cells(n, (x, on) => { g.scissor(x, H - 16, 16, 16); g.clearColor(on, on, on, 1); g.clear(g.COLOR_BUFFER_BIT); }); };""",
    "heavy": """const c = canvas.getContext("2d");
        const draw = (n) => { for (let i = 0; i < 3000; i++) { c.fillStyle = `hsl(${(i + n) * 7 % 360}, 60%, 50%)`; c.fillRect((i * 97 + n * 5) % W, 16 + (i * 53 + n) % H, 30, 30); }
          const end = performance.now() + 15; while (performance.now() < end);
          cells(n, (x, on) => { c.fillStyle = on ? "#fff" : "#000"; c.fillRect(x, 0, 16, 16); }); };""",
    "elements": """canvas.remove(); const bits = Array.from({ length: 16 }, (_, i) => { const e = document.body.appendChild(document.createElement("div"));
          e.style.cssText = `position: absolute; top: 0; left: ${i * 16}px; width: 16px; height: 16px`; return e; });
        const draw = (n) => cells(n, (x, on) => { bits[x / 16].style.background = on ? "#fff" : "#000"; });""",
    "still": """const draw = () => {};""",
}


def html(kind: str, width: int, height: int) -> str:
    script = f"const W = {width}, H = {height}, cells = {CELLS}; {PAGES[kind]}"
    hold = "window.tick = (n) => new Promise((done) => requestAnimationFrame(() => { draw(n); done(); }));"
    canvas = f"<canvas id=canvas width={width} height={height} style='display: block'></canvas>"
    return f"<body style='margin: 0; overflow: hidden'>{canvas}<script>{script}{hold}</script>"


def numbers() -> list[int]:
    """The number in each frame of the video."""
    only = f"crop=256:{CELL}:0:0,format=gray"
    command = ["ffmpeg", "-loglevel", "error", "-i", str(VIDEO), "-vf", only, "-fps_mode", "passthrough"]
    raw = subprocess.run([*command, "-f", "rawvideo", "-"], stdout=subprocess.PIPE, check=True).stdout
    size, middle = 256 * CELL, 256 * CELL // 2
    frames = [raw[at + middle : at + middle + 256] for at in range(0, len(raw), size)]
    return [sum((line[bit * 16 + 8] > 127) << bit for bit in range(16)) for line in frames]


async def film(kind: str, frames: int, width: int, height: int, mode: str, kill_at: int) -> dict[str, Any]:
    browser = await Browser.launch(by_frames=True)
    context = await browser.inner.new_context(viewport={"width": width, "height": height})
    page = await context.new_page()
    cdp = await Cdp.of_page(page)
    await page.set_content(html(kind, width, height))
    tick = (await cdp.send("Runtime.evaluate", {"expression": "tick"}))["result"]["objectId"]

    async def play(first: int, last: int, recorder: "FrameRecorder | None") -> None:
        for frame in range(first, last + 1):
            if frame == kill_at:
                browser.kill()
            question = {"objectId": tick, "functionDeclaration": TICK, "awaitPromise": True}
            call = cdp.send("Runtime.callFunctionOn", question | {"arguments": [{"value": frame}]})
            await asyncio.wait_for(call, TICK_TIMEOUT_S)
            if recorder is not None:
                await recorder.capture(frame)

    began = time.monotonic()
    if not kill_at:
        await play(1, frames // 4, None)
    bare_s = time.monotonic() - began
    recorder = await FrameRecorder.start(cdp, VIDEO, mode)
    began, lost = time.monotonic(), ""
    try:
        await play(1, frames, recorder)
    except Exception as error:
        lost = type(error).__name__
    filmed_s = time.monotonic() - began
    told = await recorder.stop()
    digest = "" if lost else await pixel_digest(cdp)
    await browser.close()
    pace = {"with": frames / filmed_s, "without": frames / 4 / bare_s}
    return {"frames": told, "pace": pace, "lost": lost, "digest": digest, "numbers": numbers()}


def main() -> None:
    kind, frames, width, height, mode, hogs, kill_at = sys.argv[1:]
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(int(hogs))]
    try:
        print(json.dumps(asyncio.run(film(kind, int(frames), int(width), int(height), mode, int(kill_at)))))
    finally:
        for hog in busy:
            hog.kill()


main()
