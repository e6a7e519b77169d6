"""The judge of one replay: the trusted program in the browser's container.

It takes one job as a JSON line on stdin, opens the game, loads the evaluator before the artifact, plays the artifact (or, without it, a
tape), asks the evaluator once a second, and writes one result line. Evidence goes to /out. What is hard: the page may do anything, so every look
at it has a deadline, and whatever fails before the artifact starts is our failure, not the artifact's.
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
from .evidence import Evidence
from .outcome import Answer, BadAnswer, Ended, PageFate, Seen, decide, read_answer, unreadable
from .runner import ScriptResult
from .samples import Samples
from .stage import Handle, Stage
from .tape import BadTape, Tape, TapePlayer, read_tape

OUT = Path("/out")
ASK_TIMEOUT_S = 30.0
"""A page that is busy for longer does not answer: it hangs. Heavy frames on a slow host take a second or two."""

PROGRESS_S = 10.0
LOOK_AROUND_S = 0.05
"""A beat after a failed question, for the event that explains it to arrive."""


class Judge:
    """One replay while it is played. All its times are the stage's clock's: under the virtual clock, the game's own."""

    def __init__(self, job: dict[str, Any], stage: Stage, tape: Tape | None) -> None:
        self._job = job
        self._stage = stage
        self._clock = stage.clock
        self._tape = tape
        self._evaluator: Handle | None = None
        self._answer: Answer | None = None
        self._asking_s = 0.0
        self.samples = Samples(stage)
        self.began_at = 0
        self.fate: PageFate | None = None
        self.detail: str | None = None
        self.phases: dict[str, float] = {}

    async def prepare(self) -> None:
        """Load what the artifact imports of the game, and the evaluator, and wait for the game; what fails here is our failure."""
        began = time.monotonic()
        frames = self._stage.frames
        if frames is not None:
            await frames.preload(list(self._job["preload"] if self._tape is None else self._tape.preload))
        if self._job["evaluator"] is not None:
            source = await asyncio.to_thread(compile_evaluator, self._job["evaluator"])
            self._evaluator = await self._stage.load_handle(source, self._job["ready_s"])
            setup = self._stage.call(self._evaluator, "setup", self._job["ready_s"])
            await self._stage.within_frames(setup)
            if frames is not None:
                await frames.watch(self._evaluator.object_id)
        self.samples.begin(self._evaluator)
        self.phases["ready"] = _ms(began)

    async def play(self) -> Seen:
        """Start the artifact, or the tape, and watch it to its end."""
        began = time.monotonic()
        start = self._clock.now_ms()
        self.began_at = self._clock.frame
        self._stage.witness.begin()
        if self._tape is None:
            seen = await self._play_script(start)
        else:
            seen = await self._play_tape(self._tape)
        self.phases["play"] = _ms(began)
        self.phases["evaluate"] = round(self._asking_s * 1000, 1)
        return seen

    async def _play_script(self, start: float) -> Seen:
        cap = start + self._job["cap_s"] * 1000
        over: float | None = None
        script = self._stage.start_script(self._job["script"], self._job["cap_s"])
        await self._stage.begun.wait()
        due = start
        while True:
            if script.done() and over is None:
                over = min(cap, self._clock.now_ms() + self._job["grace_s"] * 1000)
                self._take(script.result())
            ends = cap if over is None else over
            last = self._look() or self._clock.now_ms() >= ends
            if last or self._clock.now_ms() >= due:
                await self._ask()
                due += self._job["ask_s"] * 1000
            if last or self.fate is not None or (self._answer is not None and self._answer.cleared):
                break
            self._tell()
            await self._stage.pass_time(min(due, ends), *(() if script.done() else (script,)))
        at_cap = self._clock.now_ms() >= cap
        return Seen(self._answer, self.fate, await self._ended(script), at_cap)

    async def _play_tape(self, tape: Tape) -> Seen:
        """The input alone, frame by frame, to the frame at which the script's replay ended."""
        frames = self._stage.frames
        assert frames is not None
        if self._clock.frame != tape.begin:
            raise BadTape(
                f"the game was ready at frame {self._clock.frame}, not {tape.begin} as when the tape was made"
            )
        frames.play_tape = TapePlayer(tape, self._stage.device).play
        start, due = self._clock.now_ms(), self._clock.now_ms()
        while True:
            last = self._look() or self._clock.frame >= tape.end
            if last or self._clock.now_ms() >= due:
                await self._ask()
                due += self._job["ask_s"] * 1000
            if last:
                break
            self._tell()
            ends = start + (tape.end - tape.begin) * 1000 / 60
            await self._stage.pass_time(min(due, ends))
        return Seen(self._answer, self.fate, "done", False)

    def _look(self) -> bool:
        """Note what became of the page, once; True when it is lost."""
        if self.fate is None:
            if self._stage.crashed.is_set():
                self.fate, self.detail = "page_crashed", self.detail or "the page crashed"
            elif self._stage.navigated.is_set():
                self.fate, self.detail = "navigated_away", self.detail or "the page navigated away"
            elif self._stage.hung.is_set():
                self.fate, self.detail = "page_hung", self.detail or "the page's main thread was blocked"
        return self.fate is not None

    def _take(self, result: ScriptResult) -> None:
        if result.message:
            self.detail = result.message[:2000]

    async def _ask(self) -> None:
        """One question. By now the artifact may have broken what the evaluator reads: that is no clear, and it is said."""
        if self.fate is not None:
            return
        await self.samples.take()
        if self._evaluator is None:
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
            if not self._look():
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
        self._stage.clock.stop()
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

    def _tell(self) -> None:
        """A word for whoever waits, every ten seconds."""
        now = time.monotonic()
        if now - self._told < PROGRESS_S:
            return
        self._told = now
        evidence = None if self._answer is None else self._answer.evidence
        _write({"progress": {"seconds": round(self._clock.now_ms() / 1000), "evidence": evidence}})

    _told = 0.0

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
            "script_ended": self._tape is None and seen.script != "running",
            "phases": self.phases,
            "bypasses": len(self._stage.bridge.bypasses),
            "frames": self._clock.frame - self.began_at,
        }


def _ms(since: float) -> float:
    return round((time.monotonic() - since) * 1000, 1)


def _write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


async def judge(job: dict[str, Any]) -> dict[str, Any]:
    """Play one replay and return its result; `failure` in it means that our side failed."""
    began = time.monotonic()
    rows: list[Dispatch] = []
    seed = job["seed"] if job["clock"] == "virtual" else None
    evidence = Evidence(OUT, job["video"], tuple(job["viewport"]))
    stage: Stage | None = None
    judged: Judge | None = None
    try:
        tape = None if job["tape"] is None else read_tape(job["tape"])
        url = job["origin"] + job["entry"]
        stage = await Stage.open(
            url,
            job["nonce"],
            evidence.viewport,
            seed=seed,
            journal=job["journal"],
            on_dispatch=rows.append,
            gpu=job["gpu"],
        )
        judged = Judge(job, stage, tape)
        judged.phases["boot"] = _ms(began)
        await judged.prepare()
        await evidence.begin(stage)
        seen = await judged.play()
        kept = Tape(
            judged.began_at,
            stage.clock.frame,
            tuple(rows),
            tuple(job["preload"]) if tape is None else tape.preload,
        )
        await evidence.last_look(stage)
        if judged.fate is None:
            await judged.samples.take_last()
        result = judged.result(seen) | {"input_events": len(kept.rows), "renderer": await judged.renderer()}
        result["storage"] = stage.storage
        result |= await evidence.write(stage, kept, judged.samples)
    except (DriverFailure, EvaluatorError, BadAnswer, BadTape) as failure:
        result = {"failure": str(failure)}
    except PageThrew as thrown:
        result = {"failure": f"the evaluator threw: {thrown.message}"}
    if stage is not None:
        await evidence.close(stage)
    return result


def main() -> None:
    """Read the job, judge, answer, and stay until the host has taken the evidence and hangs up."""
    line = sys.stdin.readline()
    if line:
        _write(asyncio.run(judge(json.loads(line))))
        sys.stdin.readline()


if __name__ == "__main__":
    main()
