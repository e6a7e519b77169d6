"""Runs commands beside PID 1, with a deadline that really ends them.

The engine has no timeout for an exec, and dropping the connection leaves the program running; so every
exec carries a mark in its environment, and after our own deadline whatever carries the mark is killed.
"""

import secrets
import threading
import time
from collections.abc import Sequence

from contracts.errors import InfraFailure
from harness.engine.api import Api, segment
from harness.engine.channel import STDERR, STDOUT, Channel, ChannelClosed, ChannelTimeout
from harness.engine.spec import ExecResult

DEFAULT_OUTPUT_BYTES = 1 << 20
SWEEP_TIMEOUT_S = 10.0
EXIT_CODE_WAIT_S = 5.0
_MARK = "PLAYPROOF_EXEC"
_SWEEP = (
    'n=0; while [ $n -lt 50 ]; do found=; for p in /proc/[0-9]*; do if grep -q "$1" "$p/environ" 2>/dev/null; '
    'then kill -9 "${p#/proc/}" 2>/dev/null && found=y; fi; done; [ -z "$found" ] && exit 0; n=$((n+1)); done; exit 1'
)


def run(
    api: Api,
    container_id: str,
    command: Sequence[str],
    *,
    timeout_s: float,
    stdin: bytes | None = None,
    max_output: int = DEFAULT_OUTPUT_BYTES,
) -> ExecResult:
    """Runs a command to its end, or kills it and its children at the deadline."""
    mark = secrets.token_hex(16)
    exec_id = _create(api, container_id, command, stdin is not None, mark)
    with _start(api, exec_id, command) as channel:
        feeder = _feed(channel, stdin, timeout_s)
        out, timed_out, truncated = _collect(channel, timeout_s, max_output)
        if timed_out:
            _sweep(api, container_id, mark, command)
    if feeder is not None:
        feeder.join(1.0)
    code = None if timed_out else _exit_code(api, exec_id)
    return ExecResult(code, bytes(out[STDOUT]), bytes(out[STDERR]), timed_out, truncated)


def begin(api: Api, container_id: str, command: Sequence[str]) -> Channel:
    """Starts a command and leaves the conversation to the caller."""
    return _start(api, _create(api, container_id, command, True, secrets.token_hex(16)), command)


def _create(api: Api, container_id: str, command: Sequence[str], stdin: bool, mark: str) -> str:
    made = api.json(
        "POST",
        f"/containers/{segment(container_id)}/exec",
        f"run {command[0]} in container {container_id[:12]}",
        body={
            "Cmd": list(command),
            "AttachStdin": stdin,
            "AttachStdout": True,
            "AttachStderr": True,
            "Env": [f"{_MARK}={mark}"],
        },
    )
    return str(made["Id"])


def _start(api: Api, exec_id: str, command: Sequence[str]) -> Channel:
    raw, first = api.hijack(
        f"/exec/{segment(exec_id)}/start", f"start {command[0]}", body={"Detach": False, "Tty": False}
    )
    return Channel(raw, first)


def _exit_code(api: Api, exec_id: str) -> int | None:
    """The engine may close the stream a moment before it knows the status."""
    deadline = time.monotonic() + EXIT_CODE_WAIT_S
    while True:
        found = api.json("GET", f"/exec/{segment(exec_id)}/json", "ask how a command ended")
        if found.get("ExitCode") is not None and not found.get("Running"):
            return int(found["ExitCode"])
        if time.monotonic() > deadline:
            return None
        time.sleep(0.01)


def _sweep(api: Api, container_id: str, mark: str, command: Sequence[str]) -> None:
    """Kills all that carries the mark of an exec; without a shell in the image nothing can be swept."""
    sweeper = ["sh", "-c", _SWEEP, "sweep", f"{_MARK}={mark}"]
    exec_id = _create(api, container_id, sweeper, False, "sweep")
    with _start(api, exec_id, sweeper) as channel:
        _, timed_out, _ = _collect(channel, SWEEP_TIMEOUT_S, 1024)
    if timed_out or _exit_code(api, exec_id) != 0:
        raise InfraFailure(
            f"{command[0]} in container {container_id[:12]} outlived its time and could not be killed: remove the container."
        )


def _feed(channel: Channel, stdin: bytes | None, timeout_s: float) -> threading.Thread | None:
    """Sends stdin from beside, since a command may write before it has read all."""
    if stdin is None:
        return None

    def send() -> None:
        try:
            channel.send(stdin, timeout_s)
        except (ChannelClosed, ChannelTimeout):
            return
        channel.end_input()

    thread = threading.Thread(target=send, name="exec-stdin", daemon=True)
    thread.start()
    return thread


def _collect(channel: Channel, timeout_s: float, max_output: int) -> tuple[dict[int, bytearray], bool, bool]:
    """Output by stream up to `max_output` bytes in all, whether time ran out, and whether some was dropped."""
    out = {STDOUT: bytearray(), STDERR: bytearray()}
    deadline = time.monotonic() + timeout_s
    room = max_output
    truncated = False
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return out, True, truncated
        try:
            piece = channel.recv(left)
        except ChannelTimeout:
            return out, True, truncated
        if piece is None:
            return out, False, truncated
        stream, data = piece
        out[stream] += data[:room]
        truncated = truncated or len(data) > room
        room = max(0, room - len(data))
