"""The video of a page on the real clock: Chromium's screencast pictures, each held until the next one's time, into constant frames. Hard part:
capturing competes with the game for the processor, and a frame rate in a file's header proves nothing. So the encoder is the fastest there
is and large pages are filmed smaller; and what was really seen is counted and set beside the page's own count of its frames."""

import asyncio
import base64
import contextlib
import math
import time
from pathlib import Path
from typing import Any, Self

from playwright.async_api import Error as PlaywrightError

from .cdp import Cdp
from .encoder import Encoder
from .errors import DriverFailure
from .pacing import Pacing
from .slots import Slots

DEFAULT_FPS = 60
WIDEST = 960  # px; a 1280x720 page is recorded at 960x540
JPEG_QUALITY = 75
PAGE_ANSWER_S = 2.0
STILL_S = 1.0
SILENT = "none: the page's sound is not recorded"


class Recorder:
    def __init__(self, cdp: Cdp, encoder: Encoder, pacing: Pacing, fps: int) -> None:
        self._cdp = cdp
        self._encoder = encoder
        self._pacing = pacing
        self._slots = Slots(fps)
        self._fps = fps
        self._pictures: asyncio.Queue[tuple[float, str] | None] = asyncio.Queue(maxsize=fps)
        self._acks: set[asyncio.Task[None]] = set()
        self._writer = asyncio.ensure_future(self._write())

    @classmethod
    async def start(cls, cdp: Cdp, path: Path, viewport: tuple[int, int], fps: int = DEFAULT_FPS) -> Self:
        """Films from now on; `cdp` must be a session of its own."""
        pacing = await Pacing.start(cdp)
        recorder = cls(cdp, await Encoder.start(path, fps), pacing, fps)
        scale = min(1.0, WIDEST / viewport[0])
        size = {"maxWidth": math.ceil(viewport[0] * scale), "maxHeight": math.ceil(viewport[1] * scale)}
        cdp.on("Page.screencastFrame", recorder._frame)
        await cdp.send("Page.startScreencast", {"format": "jpeg", "quality": JPEG_QUALITY, **size})
        return recorder

    def _frame(self, event: dict[str, Any]) -> None:
        """One picture; its time is when the browser drew it, not when it came here."""
        at = float(event["metadata"].get("monotonicTimestamp") or time.monotonic())
        try:
            self._pictures.put_nowait((at, event["data"]))
        except asyncio.QueueFull:
            self._slots.lose()
        task = asyncio.ensure_future(self._acknowledge(int(event["sessionId"])))
        self._acks.add(task)
        task.add_done_callback(self._acks.discard)

    async def _acknowledge(self, session: int) -> None:
        """The next pictures come after this: at once, or later where few are asked for."""
        if self._fps < DEFAULT_FPS:
            await asyncio.sleep(0.5 / self._fps)
        with contextlib.suppress(PlaywrightError):
            await self._cdp.send("Page.screencastFrameAck", {"sessionId": session})

    async def _write(self) -> None:
        """Also while no picture comes: a still page must not leave minutes of video to be written at the end."""
        with contextlib.suppress(DriverFailure):
            while True:
                try:
                    item = await asyncio.wait_for(self._pictures.get(), STILL_S)
                except TimeoutError:
                    await self._put(*self._slots.hold(time.monotonic() - STILL_S / 2))
                    continue
                if item is None:
                    await self._put(*self._slots.end(time.monotonic()))
                    return
                await self._put(*self._slots.place(item[0], base64.b64decode(item[1])))
        while await self._pictures.get() is not None:  # the encoder is gone
            pass

    async def _put(self, picture: bytes, times: int) -> None:
        for _ in range(times):
            await self._encoder.add(picture)

    async def pacing(self) -> dict[str, Any]:
        """The page's own frames so far: mean_fps, p5_fps, longest_gap_ms, over_50_ms."""
        with contextlib.suppress(TimeoutError, PlaywrightError):
            await asyncio.wait_for(self._pacing.flush(), PAGE_ANSWER_S)
        return self._pacing.summary()

    async def stop(self) -> dict[str, Any]:
        """Ends the video and says what is in it: the content of frames.json."""
        pacing = await self.pacing()
        with contextlib.suppress(PlaywrightError, TimeoutError):
            await asyncio.wait_for(self._cdp.send("Page.stopScreencast"), PAGE_ANSWER_S)
        await self._pictures.put(None)
        await self._writer
        encoded = await self._encoder.finish()
        whole = encoded.complete and encoded.frames == self._slots.written
        return {
            "clock": "real",
            "mode": "full" if self._fps > 1 else "keyframes",
            "requested_fps": self._fps,
            **self._slots.summary(),
            "encoded": encoded.frames,
            "complete": whole,
            "page_counter": {
                "frames": pacing["frames"],
                "seen_share": round(self._slots.distinct / pacing["frames"], 3) if pacing["frames"] else None,
            },
            "pacing": pacing,
            "audio": SILENT,
        }
