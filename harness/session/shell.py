"""The agent's bash as the host sees it: one command at a time over the channel to the container's supervisor.

The supervisor enforces timeouts and caps next to the processes; this half believes nothing it is told about time:
it has a deadline of its own for every command, and a supervisor that misses it is frozen with its whole container.
A heartbeat tells the supervisor that we live; when it stops, everything of the agent ends.
"""

import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from contracts.errors import InfraFailure
from harness.engine import Channel, ChannelTimeout, Container
from harness.session import supervisor
from harness.session.keeper import HeadTail
from harness.session.supervisor import FrameParser, message

OUTPUT_CAP_BYTES = 10 << 20
MARGIN_S = 15.0  # what the supervisor may need beyond a command's timeout to end it: sweeps, a new shell
UNTIMED_POLL_S = 3600.0
JOIN_S = 30.0  # from the start of a container to the supervisor's first answer
FILE_SIZE_STATUS = 128 + 25  # SIGXFSZ
_DISK_WORDS = b"No space left on device"
_FILE_WORDS = b"File too large"

Cap = Literal["output", "memory", "processes", "disk", "file_size"]


@dataclass(frozen=True)
class CommandResult:
    """What one command came to. `cut_off`: the session's own cap came while it ran, so it never ended."""

    exit_code: int | None
    shown: str
    raw_bytes: int
    truncated_bytes: int
    timed_out: bool
    cap: Cap | None
    notes: tuple[str, ...]
    duration_s: float
    cut_off: bool = False
    cancelled: bool = False

    @property
    def is_error(self) -> bool:
        return self.exit_code != 0 or self.timed_out or self.cap is not None


class Shell:
    """The persistent shell of one agent container; `run` from one thread, `cancel` from any."""

    def __init__(self, container: Container, channel: Channel) -> None:
        self._container = container
        self._channel = channel
        self._parser = FrameParser()
        self._frames: list[tuple[int, bytes]] = []
        self._next = 0
        self._closed = threading.Event()
        self.resumed = self._join()
        self._beat = threading.Thread(target=self._keep_alive, name="agent heartbeat", daemon=True)
        self._beat.start()

    def run(
        self,
        command: str,
        timeout_s: float | None,
        raw_archive: Path,
        *,
        until: float | None = None,
        output_cap: int = OUTPUT_CAP_BYTES,
    ) -> CommandResult:
        """Runs `command` to its end, its timeout, or `until` (monotonic; the session's cap: returned `cut_off`)."""
        self._next += 1
        order = {
            "id": self._next,
            "command": _sendable(command),
            "timeout_s": timeout_s,
            "output_cap": output_cap,
        }
        begun = time.monotonic()
        own_deadline = None if timeout_s is None else begun + timeout_s + MARGIN_S
        kept = HeadTail()
        self._channel.send(message(supervisor.RUN, order), timeout_s=30)
        with raw_archive.open("wb") as raw:
            for kind, payload in self._until(own_deadline, until):
                if kind == supervisor.OUTPUT:
                    raw.write(payload)
                    kept.feed(payload)
                elif kind == supervisor.DONE:
                    told = cast(dict[str, Any], json.loads(payload))
                    if told["id"] == self._next:
                        return _result(told, kept, output_cap, timeout_s)
        shown, gap = kept.text()
        notes = ("the session's time was up while this command ran",)
        spent = time.monotonic() - begun
        return CommandResult(None, shown, kept.total, gap, False, None, notes, spent, cut_off=True)

    def cancel(self) -> None:
        """Ends the running command, as its timeout would."""
        self._channel.send(message(supervisor.CANCEL, {"id": self._next}))

    def close(self) -> None:
        """Lets go of the container; its supervisor ends all within seconds unless it is frozen."""
        self._closed.set()
        self._channel.close()

    def _until(self, own_deadline: float | None, until: float | None) -> Iterator[tuple[int, bytes]]:
        """Frames as they come; stops at `until`; a supervisor that is silent past `own_deadline` is frozen."""
        ends = [t for t in (own_deadline, until) if t is not None]
        while True:
            left = min(ends) - time.monotonic() if ends else UNTIMED_POLL_S
            if left <= 0:
                if until is not None and time.monotonic() >= until:
                    return
                self._container.freeze()
                raise InfraFailure(
                    "The container's supervisor did not end a command at its timeout, so the container was frozen: "
                    "run this again, and run `playproof doctor` if it happens twice."
                )
            with suppress(ChannelTimeout):
                yield from self._receive(left)

    def _receive(self, timeout_s: float) -> list[tuple[int, bytes]]:
        got = self._channel.recv(timeout_s)
        if got is None:
            raise InfraFailure(
                "The agent's container ended or the engine dropped it while a command ran: look at its memory cap "
                "and at the engine's log, then run this again."
            )
        frames = self._parser.feed(got[1]) if got[0] == 1 else []
        if any(kind == supervisor.GONE for kind, _ in frames):
            raise InfraFailure(
                "The agent's container gave this harness up because no heartbeat reached it for "
                f"{supervisor.SILENCE_S:g} s (was this machine suspended?): run this again."
            )
        return frames

    def _join(self) -> bool:
        nonce = secrets.token_hex(8)
        hello = supervisor.MAGIC + message(supervisor.HELLO, {"nonce": nonce})
        end = time.monotonic() + JOIN_S
        said = b""
        while time.monotonic() < end:
            self._channel.send(hello)
            with suppress(ChannelTimeout):
                while (got := self._channel.recv(1.0)) is not None:
                    if got[0] == 2:
                        said = (said + got[1])[-500:]
                        continue
                    for kind, payload in self._parser.feed(got[1]):
                        if kind == supervisor.READY and json.loads(payload)["hello"]["nonce"] == nonce:
                            return bool(json.loads(payload)["resumed"])
                break
        reason = said.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it said nothing"]
        raise InfraFailure(
            f"The agent container's supervisor did not answer ({reason[0]}): build its image again with "
            "`playproof images build agent`."
        )

    def _keep_alive(self) -> None:
        with suppress(InfraFailure):
            while not self._closed.wait(supervisor.HEARTBEAT_S):
                self._channel.send(supervisor.frame(supervisor.BEAT))


def _sendable(command: str) -> str:
    return command.encode("utf-8", "replace").decode()


def _result(told: dict[str, Any], kept: HeadTail, output_cap: int, timeout_s: float | None) -> CommandResult:
    stopped = told["stopped"]
    status = cast(int, told["status"])
    code = None if stopped else status
    cap = _cap_met(told, code, kept.last(4096))
    shown, gap = kept.text()
    notes = tuple(_notes(told, cap, output_cap, timeout_s))
    return CommandResult(
        code, shown, kept.total, gap, stopped == "timeout", cap, notes, told["seconds"],
        cancelled=stopped == "cancel",
    )  # fmt: skip


def _cap_met(told: dict[str, Any], code: int | None, last: bytes) -> Cap | None:
    """The cap that explains the result best; a failure's own words count only where the command failed."""
    if told["stopped"] == "output":
        return "output"
    if "memory" in told["caps"]:
        return "memory"
    if "pids" in told["caps"] or told["stopped"] == "processes":
        return "processes"
    if code == FILE_SIZE_STATUS or (code and _FILE_WORDS in last):
        return "file_size"
    if code and (told["full"] or _DISK_WORDS in last):
        return "disk"
    return None


def _notes(told: dict[str, Any], cap: Cap | None, output_cap: int, timeout_s: float | None) -> Iterator[str]:
    if told["stopped"] == "timeout":
        yield f"the command was ended at its timeout of {timeout_s:g} s, with everything it had started"
    if told["stopped"] == "cancel":
        yield "the command was cancelled, with everything it had started"
    if cap == "output":
        yield f"the command was ended because it had written more than {output_cap} bytes: redirect long output to a file"
    if cap == "memory":
        yield "the container's memory limit was met and the kernel ended the largest process"
    if cap == "processes":
        yield f"the container's process limit was met; {told['killed']} processes that this command started were ended"
    if cap == "file_size":
        yield "the limit on the size of one file was met"
    if told["full"]:
        yield f"no space is left in {', '.join(told['full'])}"
    elif cap == "disk":
        yield "the disk space this container has was used up"
    if told["restarted"]:
        how = str(told["restarted"])
        why = "did not let go of the command and was ended" if how == "stuck" else f"ended ({how})"
        yield (
            f"the shell {why}; a new one was started with the same working directory and exported variables "
            "(functions and unexported variables are gone)"
        )
    if told["log"]:
        yield f"a background process still runs with this command's output, which goes on to {told['log']}"
    if told["left"]:
        yield f"{told['left']} processes could not be ended"
    yield from told["notes"]
