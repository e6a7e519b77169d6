"""What of a command's output the model is shown: its head and its tail, with the gap between them said.

Output is bytes of any kind and any length, and the model's context is small and must be valid text. So memory is
flat whatever arrives, a cut never leaves half a character behind, and NUL is shown, not sent.
"""

HEAD_BYTES = 12 << 10
TAIL_BYTES = 12 << 10


class HeadTail:
    """Keeps the first and the last bytes of a stream."""

    def __init__(self, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self._head_room = head
        self._tail_room = tail
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        room = self._head_room - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._tail_room:
            del self._tail[: -self._tail_room]

    def text(self) -> tuple[str, int]:
        """The text to show and how many bytes of the output it leaves out."""
        tail = bytes(self._tail[-self._tail_room :] if self._tail_room else b"")
        gap = self.total - len(self._head) - len(tail)
        if gap <= 0:
            return _readable(bytes(self._head) + tail), 0
        head = _without_cut_end(bytes(self._head))
        tail = _without_cut_start(tail)
        gap = self.total - len(head) - len(tail)
        return f"{_readable(head)}\n[… {gap} bytes of output left out here …]\n{_readable(tail)}", gap

    def last(self, size: int) -> bytes:
        return bytes((self._head + self._tail)[-size:]) if self.total else b""


def _readable(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\0", "␀")


def _without_cut_end(data: bytes) -> bytes:
    """Drops a last character of which only the beginning is there."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            whole = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if back < whole else data
    return data


def _without_cut_start(data: bytes) -> bytes:
    """Drops the rest of a character whose beginning is not there (at most three bytes)."""
    start = 0
    while start < min(3, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]
