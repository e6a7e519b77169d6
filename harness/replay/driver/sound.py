"""The page's sound into a file beside the video, while the replay goes on: about once a second of game time the page is asked for what its
contexts rendered. Hard part: sound and pictures must stay together to the frame, so the track is samples of game time and nothing
else, silence included, and what the coder puts before the first sample is taken off again."""

import asyncio
import base64
import contextlib
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from playwright.async_api import Error as PlaywrightError

from .encoder import Track, start_ffmpeg
from .errors import DriverFailure

ASK_EVERY = 60  # frames
CHANNELS = 2
BYTES = 2 * CHANNELS  # of one sample of all channels
PRIMING = 1024  # samples that ffmpeg's AAC coder puts first
BITRATE = "128k"
SILENCE_CHUNK = 1 << 20
CODER_TIMEOUT_S = 10.0

Ask = Callable[..., Awaitable[dict[str, Any] | None]]


class Sound:
    """Begins at the first frame; a page that makes no sound costs a question a second."""

    def __init__(self, ask: Ask, path: Path) -> None:
        self._ask = ask
        self._path = path
        self._first = 0
        self._ffmpeg: Process | None = None
        self._samples = 0
        self._rate = 0
        self._peak = 0.0
        self._notes: list[str] = []
        self._lost = ""

    async def begin(self, frame: int) -> None:
        self._first = frame
        await self._asked("hear", frame)

    async def frame(self, frame: int) -> None:
        if (frame - self._first) % ASK_EVERY == 0:
            await self._take()

    async def _asked(self, call: str, *arguments: int) -> dict[str, Any] | None:
        if self._lost:
            return None
        try:
            return await self._ask(call, *arguments)
        except (DriverFailure, PlaywrightError):
            self._lost = "the page was lost"
            return None

    async def _take(self) -> None:
        told = await self._asked("takeSound")
        if told is None:
            return
        self._rate, self._notes = int(told["rate"]), [str(note) for note in told["notes"]]
        self._peak = max(self._peak, float(told["peak"]))
        await self._add(int(told["count"]), base64.b64decode(told["data"]))

    async def _add(self, count: int, data: bytes) -> None:
        if data and self._ffmpeg is None:
            self._ffmpeg = await self._start()
            await self._write(bytes(self._samples * BYTES))
        self._samples += count
        if self._ffmpeg is not None:
            await self._write(data or bytes(count * BYTES))

    async def _start(self) -> Process:
        source = ("-f", "s16le", "-ar", str(self._rate), "-ac", str(CHANNELS), "-i", "pipe:0")
        coder = ("-c:a", "aac", "-b:a", BITRATE, "-flush_packets", "1", "-f", "adts", str(self._path))
        return await start_ffmpeg(*source, *coder, stdin=PIPE, stdout=DEVNULL)

    async def _write(self, data: bytes) -> None:
        assert self._ffmpeg is not None and self._ffmpeg.stdin is not None
        with contextlib.suppress(ConnectionError):
            for at in range(0, len(data), SILENCE_CHUNK):
                self._ffmpeg.stdin.write(data[at : at + SILENCE_CHUNK])
                await self._ffmpeg.stdin.drain()

    async def finish(self) -> Track | None:
        """Takes what is left; returns the track, if the page made a sound."""
        await self._take()
        if self._ffmpeg is None:
            return None
        assert self._ffmpeg.stdin is not None
        with contextlib.suppress(ConnectionError):
            self._ffmpeg.stdin.close()
        try:
            code = await asyncio.wait_for(self._ffmpeg.wait(), CODER_TIMEOUT_S)
        except TimeoutError:
            self._ffmpeg.kill()
            code = -1
        if code != 0:
            self._lost = "its coder failed"
            return None
        return Track(self._path, -PRIMING / self._rate)

    def tidy(self) -> None:
        self._path.unlink(missing_ok=True)

    def told(self, muxed: bool) -> "dict[str, Any] | str":
        """What frames.json says of the sound."""
        if self._ffmpeg is None:
            why = f"{self._lost} before it made any sound" if self._lost else "the page made no sound"
            return f"none: {why}"
        if not muxed:
            return f"none: {self._lost or 'the sound could not be put into the video'}"
        return {
            "from": "web audio, rendered by frames",
            "rate": self._rate,
            "channels": CHANNELS,
            "seconds": round(self._samples / self._rate, 3),
            "peak": round(self._peak, 4),
            "partial": [*self._notes, *([f"no sound of its end: {self._lost}"] if self._lost else [])],
        }
