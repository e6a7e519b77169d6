"""Runs in a container, as a program: plays a page under the virtual clock, films it, and says what the page noted and what is heard in the
video. One order as JSON: html, frames, click (the frame of a click), crash (the
frame at which the page crashes, or 0), hogs, film."""

import array
import asyncio
import itertools
import json
import math
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

from driver.server import ProjectServer  # pyright: ignore[reportMissingImports]
from driver.stage import Stage  # pyright: ignore[reportMissingImports]

ROOT = Path("/tmp/sounding")
VIDEO = Path("/tmp/sounding.mp4")
WAV_RATE, WAV_HZ = 22050, 440
RATE = 44100
FRAME = RATE // 60
LOUD = 300  # of 32767
MAKE_CLIP = "ffmpeg -loglevel error -y -f lavfi -i testsrc=s=160x120:r=30:d=1 -c:v libvpx -b:v 500k"


def wav(seconds: float) -> bytes:
    tones = (
        int(20000 * math.sin(2 * math.pi * WAV_HZ * at / WAV_RATE)) for at in range(int(seconds * WAV_RATE))
    )
    data = b"".join(struct.pack("<h", tone) for tone in tones)
    head = struct.pack("<IHHIIHH", 16, 1, 1, WAV_RATE, WAV_RATE * 2, 2, 16)
    body = b"WAVEfmt " + head + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def heard() -> dict[str, Any] | None:
    """The frames of the first and the last loud sample, and hertz and peak of each tenth of a second."""
    decode = ["ffmpeg", "-loglevel", "error", "-i", str(VIDEO), "-map", "0:a?", "-ac", "1", "-ar", str(RATE)]
    raw = subprocess.run([*decode, "-f", "s16le", "-"], stdout=subprocess.PIPE).stdout
    samples = array.array("h", raw)
    loud = [at for at, value in enumerate(samples) if abs(value) > LOUD]
    if not loud:
        return None
    tenths: list[list[int]] = []
    for at in range(0, len(samples) - 6 * FRAME + 1, 6 * FRAME):
        part = samples[at : at + 6 * FRAME]
        crossings = sum((one < 0) != (two < 0) for one, two in itertools.pairwise(part))
        tenths.append([crossings * 5, max(abs(value) for value in part)])
    return {"first": loud[0] / FRAME, "last": loud[-1] / FRAME, "tenths": tenths}


def streams() -> list[str]:
    asked = ["ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "default=nw=1:nk=1"]
    return subprocess.run([*asked, str(VIDEO)], stdout=subprocess.PIPE).stdout.decode().split()


async def play(stage: Any, order: dict[str, Any]) -> dict[str, Any]:
    await stage.load()
    if order["film"]:
        await stage.start_recording(VIDEO, (320, 180))
    for frame in range(1, order["frames"] + 1):
        if frame == order["click"]:
            await stage.device.button_down("left")
            await stage.device.button_up("left")
        if frame == order["crash"]:
            crash = asyncio.ensure_future(stage.cdp.send("Page.crash"))
            await asyncio.wait({asyncio.ensure_future(stage.crashed.wait())}, timeout=10)
            crash.cancel()
            break
        await stage.step()
        assert not stage.is_lost, [entry.line for entry in stage.logs.entries]
    log = "[]"
    if not stage.is_lost:
        question = {"expression": "JSON.stringify(log)", "returnByValue": True}
        log = (await stage.command("Runtime.evaluate", question))["result"]["value"]
    told = await stage.stop_recording()
    answer: dict[str, Any] = {"log": json.loads(log), "told": told, "late": stage.frames.late}
    return answer if told is None else answer | {"heard": heard(), "streams": streams()}


async def serve(order: dict[str, Any]) -> dict[str, Any]:
    ROOT.mkdir(exist_ok=True)
    (ROOT / "index.html").write_text(order["html"])
    (ROOT / "one.wav").write_bytes(wav(1))
    (ROOT / "half.wav").write_bytes(wav(0.5))
    subprocess.run([*MAKE_CLIP.split(), str(ROOT / "clip.webm")], check=True)
    server: Any = await ProjectServer.start(ROOT, serve="static", clock="virtual")
    url, nonce = str(server.url("/index.html")), str(server.nonce)
    stage: Any = await Stage.open(url, nonce, (320, 180), seed=5, load=False)
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(order["hogs"])]
    try:
        return await play(stage, order)
    finally:
        for hog in busy:
            hog.kill()
        await stage.close()
        await server.close()


print(json.dumps(asyncio.run(serve(json.loads(sys.stdin.read())))))
