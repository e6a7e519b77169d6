"""JSON lines over a container's stdio: how the host talks to the two trusted programs of a replay.

The programs are ours, but the browser beside one of them ran a stranger's script: a line is capped, parsed
as plain JSON and never trusted to arrive.
"""

import json
import time
from typing import Any, cast

from contracts.canonical import plain_json
from contracts.errors import InfraFailure
from harness.engine import Channel, ChannelTimeout

MAX_LINE_BYTES = 64 << 20
"""An evaluator's evidence is the largest thing said; far below this."""

STDERR_KEPT_BYTES = 4000


class LineChannel:
    """One JSON document a line, both ways, with deadlines."""

    def __init__(self, channel: Channel, who: str) -> None:
        self._channel = channel
        self._who = who
        self._buffer = bytearray()
        self._stderr = b""

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        self._channel.send(json.dumps(message).encode() + b"\n", timeout_s=30)

    def send_raw(self, data: bytes) -> None:
        """Send bytes that are no message, if there are any."""
        if data:
            self._channel.send(data, timeout_s=30)

    def receive(self, timeout_s: float) -> dict[str, Any]:
        """The next message; raises InfraFailure at the deadline, at the end, or for what is no message."""
        deadline = time.monotonic() + timeout_s
        while True:
            line, found, rest = self._buffer.partition(b"\n")
            if found:
                self._buffer = rest
                return self._parse(bytes(line))
            if len(self._buffer) > MAX_LINE_BYTES:
                raise InfraFailure(
                    f"The {self._who} sent a line of more than {MAX_LINE_BYTES} bytes; run it again."
                )
            self._fill(deadline)

    def _fill(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        try:
            piece = self._channel.recv(left) if left > 0 else self._late()
        except ChannelTimeout:
            piece = self._late()
        if piece is None:
            raise ChannelEnded(f"The {self._who} ended before it answered{self.last_words()}")
        stream, data = piece
        if stream == 1:
            self._buffer += data
        else:
            self._stderr = (self._stderr + data)[-STDERR_KEPT_BYTES:]

    def _late(self) -> None:
        raise InfraFailure(f"The {self._who} did not answer in time{self.last_words()}; run it again.")

    def last_words(self) -> str:
        """What the program last wrote to stderr, for a message."""
        words = self._stderr.decode(errors="replace").strip()
        return f" (it last said: {words[-500:]})" if words else ""

    def _parse(self, line: bytes) -> dict[str, Any]:
        try:
            message = plain_json(line)
        except ValueError as error:
            raise InfraFailure(
                f"The {self._who} sent what is not JSON ({line[:200]!r}); run it again."
            ) from error
        if not isinstance(message, dict):
            raise InfraFailure(f"The {self._who} sent {line[:200]!r} instead of a message; run it again.")
        return cast(dict[str, Any], message)

    def close(self) -> None:
        """Hang up."""
        self._channel.close()


class ChannelEnded(InfraFailure):
    """The program at the other end is gone."""
