"""The judge of one replay: the trusted program in the browser's container.

It takes one job as a JSON line on stdin, opens the game, loads the evaluator before the artifact, starts the
artifact, asks the evaluator once a second, and writes one result line. Evidence goes to /out. What is hard:
the page may do anything, so every look at it has a deadline, and whatever fails before the artifact starts is
our failure, not the artifact's.
"""

import asyncio
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

from playwright.async_api import Error as PlaywrightError

from .device import Dispatch
from .errors import DriverFailure, PageThrew, PageTimeout
from .evaluator import EvaluatorError, compile_evaluator
from .outcome import Answer, BadAnswer, Ended, PageFate, Seen, decide, read_answer, unreadable
from .runner import ScriptResult
from .stage import Handle, Stage

OUT = Path("/out")
ASK_TIMEOUT_S = 30.0
"""A page that is busy for longer does not answer: it hangs. Heavy frames on a slow host take a second or two."""

PROGRESS_S = 10.0
LOOK_AROUND_S = 0.05
"""A beat after a failed question, for the event that explains it to arrive."""


class Judge:
    """One replay while it is played."""

    def __init__(self, job: dict[str, Any], stage: Stage) -> None:
        self._job = job
        self._stage = stage
        self._evaluator: Handle | None = None
        self._answer: Answer | None = None
        self._asking_s = 0.0
        self.fate: PageFate | None = None
        self.detail: str | None = None
        self.phases: dict[str, float] = {}

    async def prepare(self) -> None:
        """Load the evaluator and wait for the game; what fails here is our failure."""
        began = time.monotonic()
        if self._job["evaluator"] is not None:
            source = await asyncio.to_thread(compile_evaluator, self._job["evaluator"])
            self._evaluator = await self._stage.load_handle(source, self._job["ready_s"])
            await self._stage.call(self._evaluator, "setup", self._job["ready_s"])
        self.phases["ready"] = _ms(began)

    async def play(self) -> Seen:
        """Start the artifact and watch it to its end."""
        began = time.monotonic()
        cap = began + self._job["cap_s"]
        over: float | None = None
        told = began
        script = self._stage.start_script(self._job["script"], self._job["cap_s"])
        while True:
            if script.done() and over is None:
                over = min(cap, time.monotonic() + self._job["grace_s"])
                self._take(script.result())
            self._look()
            ends = cap if over is None else over
            last = self.fate is not None or time.monotonic() >= ends
            await self._ask()
            if last or self.fate is not None or (self._answer is not None and self._answer.cleared):
                break
            if time.monotonic() - told >= PROGRESS_S:
                told = time.monotonic()
                self._tell(told - began)
            await self._pause(min(self._job["ask_s"], ends - time.monotonic()), script)
        self.phases["play"] = _ms(began)
        self.phases["evaluate"] = round(self._asking_s * 1000, 1)
        return Seen(self._answer, self.fate, await self._ended(script), time.monotonic() >= cap)

    async def _pause(self, seconds: float, script: "asyncio.Task[ScriptResult]") -> None:
        """Until the next question; cut short when the script ends or the page is lost."""
        events = [self._stage.hung, self._stage.crashed, self._stage.navigated]
        waits = [asyncio.ensure_future(event.wait()) for event in events]
        watched: set[asyncio.Future[Any]] = {*waits, *(() if script.done() else (script,))}
        await asyncio.wait(watched, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    def _look(self) -> None:
        """Note what became of the page, once."""
        if self.fate is not None:
            return
        if self._stage.crashed.is_set():
            self.fate, self.detail = "page_crashed", self.detail or "the page crashed"
        elif self._stage.navigated.is_set():
            self.fate, self.detail = "navigated_away", self.detail or "the page navigated away"
        elif self._stage.hung.is_set():
            self.fate, self.detail = "page_hung", self.detail or "the page's main thread was blocked"

    def _take(self, result: ScriptResult) -> None:
        if result.message:
            self.detail = result.message[:2000]

    async def _ask(self) -> None:
        """One question. By now the artifact may have broken what the evaluator reads: that is no clear, and it is said."""
        if self._evaluator is None or self.fate is not None:
            return
        began = time.monotonic()
        try:
            value = await self._stage.call(self._evaluator, "evaluate", ASK_TIMEOUT_S)
        except PageTimeout:
            self._stage.hung.set()
            self._look()
            return
        except (PageThrew, PlaywrightError) as failure:
            await asyncio.sleep(LOOK_AROUND_S)
            self._look()
            if self.fate is None:
                self._answer = unreadable(failure.message)
            return
        finally:
            self._asking_s += time.monotonic() - began
        try:
            self._answer = read_answer(value)
        except BadAnswer as failure:
            self._answer = unreadable(str(failure))

    async def _ended(self, script: "asyncio.Task[ScriptResult]") -> Ended:
        """How the script stands at the end; one that still runs is stopped."""
        if not script.done():
            script.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await script
            return "running"
        status = script.result().status
        return status if status in ("done", "error", "timeout") else "error"

    async def renderer(self) -> str | None:
        """The GL renderer's name, for the record."""
        try:
            return None if self.fate is not None else await self._stage.renderer()
        except (DriverFailure, PlaywrightError):
            return None

    async def snapshot(self) -> Any:
        """The game's state at the end, where the evaluator offers one and the page still answers."""
        if self._evaluator is None or self.fate is not None:
            return None
        try:
            return await self._stage.call(self._evaluator, "snapshot", ASK_TIMEOUT_S)
        except (DriverFailure, PageThrew, PlaywrightError):
            return None

    def _tell(self, seconds: float) -> None:
        evidence = None if self._answer is None else self._answer.evidence
        _write({"progress": {"seconds": round(seconds), "evidence": evidence}})

    def result(self, seen: Seen) -> dict[str, Any]:
        """The result line."""
        outcome = decide(seen)
        if outcome == "cap_reached" and self.detail is None:
            self.detail = f"the cap of {self._job['cap_s']:g} s was reached"
        return {
            "outcome": outcome,
            "detail": None if outcome == "cleared" else self.detail,
            "level_time_ms": seen.answer.level_time_ms if seen.answer else None,
            "evidence": seen.answer.evidence if seen.answer else None,
            "script_ended": seen.script != "running",
            "phases": self.phases,
            "bypasses": len(self._stage.bridge.bypasses),
        }


def _ms(since: float) -> float:
    return round((time.monotonic() - since) * 1000, 1)


def _write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


async def judge(job: dict[str, Any]) -> dict[str, Any]:
    """Play one replay and return its result; `failure` in it means that our side failed."""
    began = time.monotonic()
    tape: list[Dispatch] = []
    record = OUT / "video.mp4" if job["record"] else None
    width, height = job["viewport"]
    url = job["origin"] + job["entry"]
    stage: Stage | None = None
    try:
        stage = await Stage.open(
            url, job["nonce"], (width, height), record, on_dispatch=tape.append, gpu=job["gpu"]
        )
        judged = Judge(job, stage)
        judged.phases["boot"] = _ms(began)
        await judged.prepare()
        await stage.screenshot(OUT / "first.png")
        seen = await judged.play()
        with contextlib.suppress(DriverFailure, PlaywrightError):
            await stage.screenshot(OUT / "last.png")
        snapshot = await judged.snapshot()
        result = judged.result(seen) | {"input_events": len(tape), "snapshot": snapshot}
        result["renderer"] = await judged.renderer()
    except (DriverFailure, EvaluatorError, BadAnswer) as failure:
        result = {"failure": str(failure)}
    except PageThrew as thrown:
        result = {"failure": f"the evaluator threw: {thrown.message}"}
    if stage is not None:
        await _close(stage, tape)
    return result


async def _close(stage: Stage, tape: list[Dispatch]) -> None:
    """Write the logs and end the browser; the video is finished by that."""
    await stage.logs.settle(1.0)
    stage.logs.close_run()
    _write_rows(OUT / "console.ndjson", [vars(entry) for entry in stage.logs.entries])
    _write_rows(OUT / "tape.ndjson", [vars(one) for one in tape])
    await stage.close()


def main() -> None:
    """Read the job, judge, answer, and stay until the host has taken the evidence and hangs up."""
    line = sys.stdin.readline()
    if line:
        _write(asyncio.run(judge(json.loads(line))))
        sys.stdin.readline()


if __name__ == "__main__":
    main()
