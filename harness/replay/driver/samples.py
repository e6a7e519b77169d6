"""Samples of the game under the virtual clock: its state and its picture once a second of game time, and a fingerprint of the state after each
frame. What makes two replays comparable, and shows the first frame in which they differ."""

import contextlib
from dataclasses import asdict, dataclass
from typing import Any

from playwright.async_api import Error as PlaywrightError

from .errors import DriverFailure, PageThrew
from .pixels import pixel_digest
from .stage import Handle, Stage

SNAPSHOT_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Sample:
    """`fingerprints` are those of the frames since the last sample, up to this one."""

    frame: int
    state: Any
    pixels: str | None
    fingerprints: list[str]


class Samples:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._judge: Handle | None = None
        self._taken: list[Sample] = []
        self.calls: list[dict[str, Any]] = []
        """What the page asked of the clock, frame by frame, where a journal is kept."""

    def begin(self, judge: Handle | None) -> None:
        """From here on the frames count; `judge` is the evaluator, if there is one."""
        self._judge = judge
        if self._stage.frames is not None:
            self._stage.frames.fingerprints.clear()

    async def take(self) -> None:
        """One sample of now."""
        frames = self._stage.frames
        if frames is None:
            return
        fingerprints, frames.fingerprints = frames.fingerprints, []
        state: Any = None
        pixels: str | None = None
        with contextlib.suppress(DriverFailure, PageThrew, PlaywrightError):
            if self._judge is not None:
                state = await self._stage.call(self._judge, "snapshot", SNAPSHOT_TIMEOUT_S)
            pixels = await pixel_digest(self._stage.cdp)
            self.calls += await frames.take_calls()
        self._taken.append(Sample(self._stage.clock.frame, state, pixels, fingerprints))

    async def take_last(self) -> None:
        """The state at the end, all that can be said under the real clock."""
        if self._stage.frames is None and self._judge is not None:
            with contextlib.suppress(DriverFailure, PageThrew, PlaywrightError):
                state = await self._stage.call(self._judge, "snapshot", SNAPSHOT_TIMEOUT_S)
                if state is not None:
                    self._taken.append(Sample(0, state, None, []))

    def rows(self) -> list[dict[str, Any]]:
        return [asdict(sample) for sample in self._taken]
