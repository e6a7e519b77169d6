"""A simple video of the page: Chromium's screencast frames, each held until the next, into H.264 by ffmpeg. Hard part: encoding
competes with the game for the processor, so frames are small, their rate is held by acknowledging them late, and the encoder is
the fastest there is. The video of a page that hangs or crashes is kept: ffmpeg lives apart from the browser."""

import asyncio
import base64
import contextlib
import math
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path
from typing import Any, Self

from playwright.async_api import Error as PlaywrightError

from .cdp import Cdp
from .errors import DriverFailure

DEFAULT_FPS = 30
WIDEST = 960  # px; a 1280x720 page is recorded at 960x540
JPEG_QUALITY = 70
FINISH_TIMEOUT_S = 30.0
LONGEST_HOLD_S = 20 * 60.0  # a still page may repeat one frame this long


class Recorder:
    def __init__(self, cdp: Cdp, ffmpeg: Process, fps: int) -> None:
        self._cdp = cdp
        self._ffmpeg = ffmpeg
        self._fps = fps
        self._frames: asyncio.Queue[tuple[float, bytes] | None] = asyncio.Queue(maxsize=fps)
        self._started = time.monotonic()
        self._acks: set[asyncio.Task[None]] = set()
        self._writer = asyncio.ensure_future(self._write())

    @classmethod
    async def start(cls, cdp: Cdp, path: Path, viewport: tuple[int, int], fps: int = DEFAULT_FPS) -> Self:
        command = (
            "ffmpeg",
            "-y",
            "-loglevel",
            "error",
            "-f",
            "mjpeg",
            "-framerate",
            str(fps),
            "-i",
            "pipe:0",
        )
        encode = (
            "-c:v",
            "libx264",
            "-preset",
            "ultrafast",
            "-crf",
            "26",
            "-pix_fmt",
            "yuv420p",
            "-threads",
            "1",
        )
        even = ("-vf", "scale=trunc(iw/2)*2:trunc(ih/2)*2", "-movflags", "+faststart", "-f", "mp4")
        try:
            ffmpeg = await asyncio.create_subprocess_exec(
                *command,
                *encode,
                *even,
                str(path),
                stdin=PIPE,
                stdout=DEVNULL,
                stderr=DEVNULL,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise DriverFailure("recording needs ffmpeg, which is not installed here") from None
        recorder = cls(cdp, ffmpeg, fps)
        scale = min(1.0, WIDEST / viewport[0])
        size = {"maxWidth": math.ceil(viewport[0] * scale), "maxHeight": math.ceil(viewport[1] * scale)}
        cdp.on("Page.screencastFrame", recorder._frame)
        await cdp.send("Page.startScreencast", {"format": "jpeg", "quality": JPEG_QUALITY, **size})
        return recorder

    def _frame(self, event: dict[str, Any]) -> None:
        with contextlib.suppress(asyncio.QueueFull):
            self._frames.put_nowait((time.monotonic() - self._started, base64.b64decode(event["data"])))
        task = asyncio.ensure_future(self._acknowledge(int(event["sessionId"])))
        self._acks.add(task)
        task.add_done_callback(self._acks.discard)

    async def _acknowledge(self, session: int) -> None:
        await asyncio.sleep(0.5 / self._fps)
        with contextlib.suppress(PlaywrightError):
            await self._cdp.send("Page.screencastFrameAck", {"sessionId": session})

    async def _write(self) -> None:
        """Repeats each frame until the next one's time."""
        stdin = self._ffmpeg.stdin
        assert stdin is not None
        written, current = 0, b""
        with contextlib.suppress(ConnectionError):
            while True:
                item = await self._frames.get()
                at = time.monotonic() - self._started if item is None else item[0]
                due = min(int(at * self._fps), written + int(LONGEST_HOLD_S * self._fps))
                while current and written < due:
                    stdin.write(current)
                    await stdin.drain()
                    written += 1
                if item is None:
                    if current and written == 0:
                        stdin.write(current)
                    break
                if not current:
                    written = due  # the time before the first frame is not in the video
                current = item[1]
            stdin.close()

    async def stop(self) -> None:
        with contextlib.suppress(PlaywrightError, TimeoutError):
            await asyncio.wait_for(self._cdp.send("Page.stopScreencast"), 2)
        try:
            await asyncio.wait_for(self._finish(), FINISH_TIMEOUT_S)
        except TimeoutError:
            self._writer.cancel()
            self._ffmpeg.kill()
            await self._ffmpeg.wait()

    async def _finish(self) -> None:
        await self._frames.put(None)
        await self._writer
        await self._ffmpeg.wait()
