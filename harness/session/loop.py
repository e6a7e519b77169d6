"""The agent loop: ask the model, run what it calls, answer every call, until it calls nothing or its time is up.

Everything that can end a session ends it here, exactly once, with one of four exits. Whatever the exit, the agent's
container is frozen before anything else is done, so that what is collected is what was there at that moment.
The history only grows at its end, so a server's prompt cache keeps working; times are told in results only.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from contracts.errors import InfraFailure
from harness.engine import Container
from harness.session.journal import Journal
from harness.session.provider import (
    ENDS,
    Answered,
    Instruction,
    Message,
    Provider,
    ProviderFailure,
    Reply,
    ToolCall,
    ToolResult,
)
from harness.session.shell import CommandResult, Shell
from harness.session.tool import (
    BASH,
    BadCall,
    Command,
    bad_call_text,
    read_call,
    repaired,
    result_text,
    time_left,
)
from harness.session.trajectory import write_trajectory

MAX_BAD_REPLIES = 8
"""Replies in a row of which no call could be run, before the session is given up: such loops never end."""
CLOCK_GAP_S = 2.0
"""Wall and monotonic clock may drift apart by this much before the journal says that the machine was away."""

Exit = Literal["submitted", "cut_off", "error", "infra_error"]


@dataclass(frozen=True)
class SessionJob:
    """One session to be held. `container` is made but not started; `folder` gets the session's files."""

    container: Container
    provider: Provider
    prompt: str
    folder: Path
    session_s: float
    command_s: float | None
    steps: int | None = None
    say: Callable[[str], None] = lambda _text: None


@dataclass(frozen=True)
class SessionResult:
    """How a session ended and what it took; None is unknown."""

    exit: Exit
    exit_reason: str | None
    api_calls: int
    tool_calls: int
    tool_errors: int
    tokens_in: int | None
    tokens_out: int | None
    tokens_cached: int | None
    agent_s: float
    served_models: list[str]


class _SessionOver(Exception):
    """Leaves the loop from wherever it is."""

    def __init__(self, exit: Exit, reason: str | None = None) -> None:
        super().__init__(exit)
        self.exit: Exit = exit
        self.reason = reason


@dataclass
class _Tally:
    """What is counted while the session runs."""

    steps: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    bad_replies: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    served: list[str] = field(default_factory=list[str])

    def add(self, reply: Reply) -> None:
        self.steps += 1
        if reply.model_served and reply.model_served not in self.served:
            self.served.append(reply.model_served)
        usage = reply.usage
        first = self.steps == 1
        self.tokens_in = _total(self.tokens_in, usage and usage.input_tokens, first)
        self.tokens_out = _total(self.tokens_out, usage and usage.output_tokens, first)
        if usage and usage.cached_tokens is not None:
            self.tokens_cached = (self.tokens_cached or 0) + usage.cached_tokens


def run_session(job: SessionJob) -> SessionResult:
    """Holds one session to its end; the container is frozen, or gone, when this returns or raises."""
    channel = job.container.attach()
    job.container.start()
    shell = Shell(job.container, channel)
    journal = Journal(job.folder)
    try:
        return _Session(job, shell, journal).hold()
    finally:
        shell.close()
        journal.close()
        write_trajectory(job.folder, job.container.spec.run_id)


class _Session:
    def __init__(self, job: SessionJob, shell: Shell, journal: Journal) -> None:
        self.job = job
        self.shell = shell
        self.journal = journal
        self.tally = _Tally()
        self.history: list[Message] = [Instruction(job.prompt)]
        self.begun = time.monotonic()
        self.deadline = self.begun + job.session_s
        self.wall_offset = time.time() - self.begun

    def hold(self) -> SessionResult:
        job = self.job
        job.provider.on_retry = self._retrying
        self.journal.note(
            "start", model=job.provider.model, version=_version(), prompt=job.prompt, session_s=job.session_s,
            command_s=job.command_s, steps=job.steps,
        )  # fmt: skip
        over = _SessionOver("infra_error", "interrupted")
        try:
            while True:
                self._step()
        except _SessionOver as end:
            over = end
        except ProviderFailure as problem:
            exit, reason = ENDS[problem.kind]
            over = _SessionOver(exit, reason if exit == "cut_off" else f"{reason}: {problem}")
        except InfraFailure as problem:
            over = _SessionOver("infra_error", str(problem))
        finally:
            agent_s = time.monotonic() - self.begun
            over = self._freeze(over)
            result = self._result(over, agent_s)
            self.journal.note("end", **vars(result))
        return result

    def _step(self) -> None:
        """One reply of the model, and all that it calls."""
        if self.job.steps is not None and self.tally.steps >= self.job.steps:
            raise _SessionOver("cut_off", "step_cap")
        reply = self.job.provider.complete(self.history, [BASH], self._left())
        calls = repaired(reply.tool_calls)
        self._keep(reply, calls)
        if not calls:
            reason = None if reply.finish_reason in (None, "stop") else f"finish_reason {reply.finish_reason}"
            raise _SessionOver("submitted", reason)
        asked = [read_call(call) for call in reply.tool_calls]
        for call, command in zip(calls, asked, strict=True):
            self._answer(call, command)
        self.tally.bad_replies = (
            self.tally.bad_replies + 1 if all(isinstance(c, BadCall) for c in asked) else 0
        )
        if self.tally.bad_replies >= MAX_BAD_REPLIES:
            raise _SessionOver(
                "error", f"malformed_calls: {MAX_BAD_REPLIES} replies in a row could not be run"
            )

    def _keep(self, reply: Reply, calls: tuple[ToolCall, ...]) -> None:
        self.tally.add(reply)
        self.history.append(Answered(reply.text, calls, reply.reasoning))
        usage = reply.usage
        self.journal.note(
            "reply", step=self.tally.steps, text=reply.text, reasoning=reply.reasoning, model=reply.model_served,
            calls=[vars(call) for call in calls], raw=reply.raw, api_calls=self.job.provider.api_calls,
            input_tokens=usage and usage.input_tokens, output_tokens=usage and usage.output_tokens,
            cached_tokens=usage and usage.cached_tokens, counted_by=usage and usage.counted_by,
        )  # fmt: skip

    def _answer(self, call: ToolCall, command: Command | BadCall) -> None:
        self.tally.tool_calls += 1
        if isinstance(command, BadCall):
            self._result_of(call, bad_call_text(command, self._left()), is_error=True)
            return
        if self._left() <= 0:
            self._result_of(call, "[not run: the session's time was up]", is_error=False)
            raise _SessionOver("cut_off", "time_cap")
        self._tell(command.text)
        raw = self.journal.next_raw()
        self.journal.note(
            "command", step=self.tally.steps, call_id=call.id, command=command.text, raw=raw.name
        )
        result = self.shell.run(command.text, self._timeout(command), raw, until=self.deadline)
        if result.cut_off:
            self.job.container.freeze()
        text = result_text(result, self._left())
        self._result_of(call, text, is_error=result.is_error and not result.cut_off, result=result)
        if result.cut_off:
            raise _SessionOver("cut_off", "time_cap")

    def _result_of(
        self, call: ToolCall, text: str, *, is_error: bool, result: CommandResult | None = None
    ) -> None:
        self.tally.tool_errors += is_error
        self.history.append(ToolResult(call.id, text))
        told = {} if result is None else {
            "exit_code": result.exit_code, "timed_out": result.timed_out, "cap": result.cap, "cut_off": result.cut_off,
            "raw_bytes": result.raw_bytes, "left_out_bytes": result.truncated_bytes, "seconds": result.duration_s,
        }  # fmt: skip
        self.journal.note(
            "result", step=self.tally.steps, call_id=call.id, text=text, is_error=is_error, **told
        )

    def _timeout(self, command: Command) -> float | None:
        """What the model asks for, within the contract's limit."""
        asked, limit = command.timeout_s, self.job.command_s
        return min((t for t in (asked, limit) if t is not None), default=None)

    def _freeze(self, over: _SessionOver) -> _SessionOver:
        try:
            self.job.container.freeze()
        except InfraFailure as problem:
            if over.exit == "infra_error":
                return over
            return _SessionOver("infra_error", f"the agent's container could not be frozen: {problem}")
        return over

    def _result(self, over: _SessionOver, agent_s: float) -> SessionResult:
        gap = (time.time() - time.monotonic()) - self.wall_offset
        if abs(gap) > CLOCK_GAP_S:
            self.journal.note("clock_gap", seconds=round(gap, 1))
        tally = self.tally
        return SessionResult(
            over.exit, over.reason, self.job.provider.api_calls, tally.tool_calls, tally.tool_errors,
            tally.tokens_in, tally.tokens_out, tally.tokens_cached, round(agent_s, 3), tally.served,
        )  # fmt: skip

    def _left(self) -> float:
        return self.deadline - time.monotonic()

    def _tell(self, command: str) -> None:
        first = command.strip().splitlines()[0][:80]
        known = (self.tally.tokens_in, self.tally.tokens_out)
        tokens = "" if None in known else f", {known[0]} + {known[1]} tokens"
        self.job.say(f"step {self.tally.steps}, {time_left(self._left())}{tokens}: {first}")

    def _retrying(self, why: str) -> None:
        self.journal.note("retry", why=why)
        self.job.say(f"asking the model again: {why}")


def _total(total: int | None, more: int | None, first: bool) -> int | None:
    """A sum with an unknown part is unknown."""
    if more is None or (total is None and not first):
        return None
    return (total or 0) + more


def _version() -> str:
    try:
        return version("playproof")
    except PackageNotFoundError:
        return "unknown"
