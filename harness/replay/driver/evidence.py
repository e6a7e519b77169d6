"""What is left of a replay in /out: video, screenshots, console, tape, witness and samples. Hard part: most of it is written when the page may be
gone already, and none of it may be lost or hold the judge for that."""

import contextlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Error as PlaywrightError

from .cdp import Cdp
from .errors import DriverFailure
from .pacing import Pacing
from .reconcile import reconcile
from .samples import Samples
from .stage import Stage
from .tape import Tape

LOG_SETTLE_S = 1.0
VideoMode = Literal["off", "keyframes", "full"]


class Evidence:
    def __init__(self, out: Path, video: VideoMode, viewport: tuple[int, int]) -> None:
        self._out = out
        self._video: VideoMode = video
        self._pacing: Pacing | None = None
        self.viewport = viewport

    async def begin(self, stage: Stage) -> None:
        """The first picture, and the start of the recording."""
        await stage.screenshot(self._out / "first.png")
        if self._video == "off":
            if stage.frames is None:
                self._pacing = await Pacing.start(await Cdp.of_page(stage.page))
        else:
            await stage.start_recording(self._out / "video.mp4", self.viewport, mode=self._video)

    async def last_look(self, stage: Stage) -> None:
        with contextlib.suppress(DriverFailure, PlaywrightError):
            await stage.screenshot(self._out / "last.png")

    async def write(self, stage: Stage, tape: Tape, samples: Samples) -> dict[str, Any]:
        """Writes tape, witness, samples and findings; returns what the result line says of them."""
        await stage.witness.settle()
        found = [*stage.witness.findings, *reconcile(tape.rows, stage.witness.events, self.viewport)]
        late = (
            []
            if stage.frames is None
            else [{"frame": frame, "what": what} for frame, what in stage.frames.late]
        )
        self._rows("tape.ndjson", tape.to_rows())
        self._rows("witness.ndjson", [asdict(event) for event in stage.witness.events])
        self._rows("states.ndjson", samples.rows())
        if samples.calls:
            self._rows("calls.ndjson", samples.calls)
        return {
            "findings": [asdict(one) for one in found],
            "late": late,
            "witnessed": len(stage.witness.events),
            "pacing": await self._paced(stage),
        }

    async def _paced(self, stage: Stage) -> dict[str, Any] | None:
        """How evenly the real clock's frames came; none under the virtual one, where they are made."""
        if self._pacing is None:
            return await stage.pacing()
        await self._pacing.flush()
        return self._pacing.summary()

    async def close(self, stage: Stage) -> None:
        """Writes the log and ends the browser; the video is finished by that."""
        await stage.logs.settle(LOG_SETTLE_S)
        stage.logs.close_run()
        self._rows("console.ndjson", [vars(entry) for entry in stage.logs.entries])
        frames = await stage.stop_recording()
        if frames is not None:
            (self._out / "frames.json").write_text(json.dumps(frames, indent=1) + "\n")
        await stage.close()

    def _rows(self, name: str, rows: list[dict[str, Any]]) -> None:
        (self._out / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
