"""The video of a replay under the virtual clock: one picture for each frame, none dropped or doubled. Hard part: which frame does a picture
show? Screencast frames come when the browser likes and carry no number, and a number painted into the page would be in the game's
picture and in reach of its code. Here each picture is asked for between two ticks, while no code of the page runs, and the browser
draws before it answers; so the picture that comes can only be this frame's."""

import asyncio
import base64
import hashlib
import time
from pathlib import Path
from typing import Any, Literal, Self

from .browser import within
from .cdp import Cdp
from .encoder import Encoder
from .sound import Ask, Sound

GAME_FPS = 60
KEYFRAME_EVERY = 60  # in `keyframes`, one picture a second of game time
JPEG_QUALITY = 80
CAPTURE_TIMEOUT_S = 30.0
NOT_HEARD = "none: the page's sound was not asked for"

Mode = Literal["full", "keyframes"]


class FrameRecorder:
    def __init__(self, cdp: Cdp, encoder: Encoder, mode: Mode, sound: Sound | None) -> None:
        self._cdp = cdp
        self._encoder = encoder
        self._sound = sound
        self._mode: Mode = mode
        self._every = 1 if mode == "full" else KEYFRAME_EVERY
        self._last: int | None = None
        self._first: int | None = None
        self._picture = b""
        self._still = b""
        self._captured = self._distinct = self._dropped = self._unchanged = 0
        self._longest_gap = 0
        self._counted: int | None = None
        self._counters_checked = self._counters_off = 0
        self._busy_s = 0.0
        self._chain = hashlib.sha256()

    @classmethod
    async def start(cls, cdp: Cdp, path: Path, mode: Mode = "full", ask: Ask | None = None) -> Self:
        """With a way to `ask` the page's clock, its sound is recorded as well."""
        sound = None if ask is None else Sound(ask, path.with_name(f".{path.name}.aac"))
        recorder = cls(cdp, await Encoder.start(path, GAME_FPS if mode == "full" else 1), mode, sound)
        recorder._still = await recorder._ask_picture("before the first frame")
        return recorder

    async def capture(self, frame: int, counted: int | None = None) -> None:
        """Takes the picture of this frame; must be called between its tick and the next. `counted` is the number of frames that the page
        itself has drawn, where it is known: it must go up by one. Raises PageTimeout or Playwright's error when the page gives no picture."""
        if counted is not None:
            if self._counted is not None:
                self._counters_checked += 1
                self._counters_off += counted != self._counted + 1
            self._counted = counted
        if self._sound is not None:
            await (self._sound.begin(frame) if self._first is None else self._sound.frame(frame))
        if self._first is None:
            self._first = frame
        elif (frame - self._first) % self._every:
            return
        began = time.monotonic()
        await self._add(frame, await self._ask_picture(f"of frame {frame}"))
        self._busy_s += time.monotonic() - began

    async def _ask_picture(self, which: str) -> bytes:
        question = {"format": "jpeg", "quality": JPEG_QUALITY, "optimizeForSpeed": True}
        asked = self._cdp.send("Page.captureScreenshot", question)
        answer = await within(CAPTURE_TIMEOUT_S, asked, f"taking the picture {which}")
        return base64.b64decode(answer["data"])

    async def _add(self, frame: int, picture: bytes) -> None:
        step = self._every if self._last is None else frame - self._last
        missing = step // self._every - 1
        self._dropped += missing
        for _ in range(missing):  # game time must not shift, whatever was missed
            await self._encoder.add(self._picture)
        self._captured += 1
        if picture == self._picture:
            self._unchanged += step
        else:
            self._distinct += 1
            self._unchanged = step
        self._longest_gap = max(self._longest_gap, self._unchanged)
        self._chain.update(hashlib.sha256(picture).digest())
        self._last, self._picture = frame, picture
        await self._encoder.add(picture)

    async def stop(self) -> dict[str, Any]:
        """Ends the video and says what is in it: the content of frames.json. A play that ended before its first frame leaves a still."""
        if self._captured == 0:
            await self._encoder.add(self._still)
        track = None if self._sound is None else await self._sound.finish()
        encoded = await asyncio.shield(self._encoder.finish(track))
        if self._sound is not None:
            self._sound.tidy()
        written = self._captured + self._dropped
        return {
            "clock": "virtual",
            "mode": self._mode,
            "requested_fps": GAME_FPS / self._every,
            "captured": self._captured,
            "distinct": self._distinct,
            "repeated": self._captured - self._distinct,
            "dropped": self._dropped,
            "first_frame": self._first,
            "last_frame": self._last,
            "longest_gap_ms": round(self._longest_gap * 1000 / GAME_FPS, 2),
            "encoded": encoded.frames,
            "complete": encoded.complete and encoded.frames == written and self._dropped == 0,
            "page_counter": {"checked": self._counters_checked, "differ": self._counters_off},
            "pictures_sha256": self._chain.hexdigest(),
            "capture_ms_mean": round(self._busy_s * 1000 / max(1, self._captured), 2),
            "audio": NOT_HEARD if self._sound is None else self._sound.told(encoded.has_sound),
        }
