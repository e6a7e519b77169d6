"""A duplex byte channel to a process in a container, with deadlines that are ours.

The engine wraps output in frames (8 bytes: stream number, three zeros, length) that arrive cut anywhere. The
client's socket timeout is no deadline: it counts silence, and a quiet command is not a dead one. So the
socket never blocks, waiting is `poll` against the monotonic clock, and payload is passed on as it comes,
however large its frame says it is.
"""

import select
import socket
import ssl
import threading
import time
from collections import deque
from contextlib import suppress

from contracts.errors import InfraFailure

STDOUT = 1
STDERR = 2
_SYSTEM_ERROR = 3
_READ_BYTES = 64 << 10


class ChannelTimeout(InfraFailure):
    """Nothing arrived, or nothing could be sent, before the caller's own deadline."""


class ChannelClosed(InfraFailure):
    """The other side is gone: its process ended or the engine dropped the connection."""


class FrameParser:
    """Turns the engine's byte stream into (stream, data) pieces, whichever way it was cut."""

    def __init__(self) -> None:
        self._header = b""
        self._stream = 0
        self._left = 0

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """The pieces that `data` completes; payload is never held back for the rest of its frame."""
        pieces: list[tuple[int, bytes]] = []
        at = 0
        while at < len(data):
            if self._left:
                piece = data[at : at + self._left]
                pieces.append((self._stream, piece))
                self._left -= len(piece)
                at += len(piece)
                continue
            need = 8 - len(self._header)
            self._header += data[at : at + need]
            at += need
            if len(self._header) == 8:
                self._open_frame()
        return pieces

    @property
    def between_frames(self) -> bool:
        """Whether the stream may end here without having lost anything."""
        return not self._left and not self._header

    def _open_frame(self) -> None:
        kind, zeros = self._header[0], self._header[1:4]
        if kind > _SYSTEM_ERROR or zeros != b"\0\0\0":
            raise InfraFailure(
                "The engine's output stream is not framed as expected, so what it carries cannot be trusted: make the "
                "container without a terminal."
            )
        self._stream = kind or STDOUT
        self._left = int.from_bytes(self._header[4:8], "big")
        self._header = b""


class Channel:
    """One attached process. Sending and receiving may be done from two threads at once."""

    def __init__(self, raw: socket.socket, first: bytes = b"") -> None:
        self._socket = raw
        self._parser = FrameParser()
        self._ready: deque[tuple[int, bytes]] = deque(self._parser.feed(first))
        self._sending = threading.Lock()
        self._ended = False

    def send(self, data: bytes, timeout_s: float = 10) -> None:
        """Writes all of `data` to the process's stdin."""
        deadline = time.monotonic() + timeout_s
        view = memoryview(data)
        with self._sending:
            while view:
                try:
                    view = view[self._socket.send(view) :]
                except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                    if not self._wait(select.POLLOUT, deadline):
                        raise ChannelTimeout(
                            f"The process in the container took no input for {timeout_s:g} s: it is stuck or frozen."
                        ) from None
                except (OSError, ValueError) as error:
                    raise ChannelClosed(
                        "The process in the container can take no more input: it ended or the engine dropped it."
                    ) from error

    def end_input(self) -> None:
        """Tells the process that no more input will come; output can still be received."""
        with self._sending:
            try:
                if isinstance(self._socket, ssl.SSLSocket):
                    self._socket.unwrap()
                else:
                    self._socket.shutdown(socket.SHUT_WR)
            except (OSError, ValueError):
                return

    def recv(self, timeout_s: float | None) -> tuple[int, bytes] | None:
        """The next piece as (1 stdout | 2 stderr, data), or None at the end."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._ready:
            if self._ended:
                return None
            data = self._read()
            if data is None:
                if not self._wait(select.POLLIN, deadline):
                    raise ChannelTimeout(
                        f"The process in the container said nothing for {timeout_s or 0:g} s, which was the limit given."
                    )
                continue
            if not data:
                self._ended = True
            self._ready.extend(self._parser.feed(data))
        stream, piece = self._ready.popleft()
        if stream == _SYSTEM_ERROR:
            raise InfraFailure(
                f"The engine's output stream broke: {piece.decode('utf-8', 'replace').strip()[:300]}."
            )
        return stream, piece

    def fileno(self) -> int:
        """For a caller that waits on several channels; `recv(0)` after it is readable never blocks."""
        return self._socket.fileno()

    def close(self) -> None:
        """Lets go of the process (one whose stdin is not kept sees its end), and wakes a thread that waits."""
        self._ended = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def __enter__(self) -> "Channel":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> bytes | None:
        """Bytes, b"" at the end, None when there are none now."""
        try:
            return self._socket.recv(_READ_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return None
        except (OSError, ValueError):
            return b""

    def _wait(self, event: int, deadline: float | None) -> bool:
        fd = self._socket.fileno()
        if fd < 0:
            return True
        poll = select.poll()
        poll.register(fd, event)
        if deadline is None:
            poll.poll()
            return True
        left = deadline - time.monotonic()
        return bool(poll.poll(max(0.0, left) * 1000))
