"""Which picture fills which slot of a video with a constant frame rate, by the times at which the pictures were drawn. Hard part: pictures come
unevenly, sometimes two in one slot and sometimes none for long; every one that is left out or repeated is counted, for the file's
own frame rate says nothing of that."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Slots:
    """Fills slots in order; `place`, `hold` and `end` return what is to be written: a picture and how many times."""

    fps: int
    captured: int = 0
    distinct: int = 0
    repeated: int = 0
    dropped: int = 0
    longest_gap_ms: float = 0.0
    _zero: float | None = None
    _slot: int = 0  # the first slot that is not written; the present picture is to fill it
    _shown: bool = False
    _seen: float = 0.0
    _picture: bytes = field(default=b"", repr=False)
    _last: bytes = field(default=b"", repr=False)

    def place(self, at_s: float, picture: bytes) -> tuple[bytes, int]:
        """A picture drawn at this time; the one before it is written up to it."""
        self.captured += 1
        if self._zero is None:
            self._zero = self._seen = at_s
        self.longest_gap_ms = max(self.longest_gap_ms, (at_s - self._seen) * 1000)
        self._seen = max(self._seen, at_s)
        due = self.hold(at_s)
        if self._picture and not self._shown:
            self.dropped += 1
        self._picture, self._shown = picture, False
        return due

    def lose(self) -> None:
        """A picture came that could not be taken."""
        self.captured += 1
        self.dropped += 1

    def hold(self, at_s: float) -> tuple[bytes, int]:
        """The present picture lasts until this time at least."""
        if self._zero is None or not self._picture:
            return b"", 0
        return self._fill(int((at_s - self._zero) * self.fps + 0.5))

    def end(self, at_s: float) -> tuple[bytes, int]:
        """The present picture lasts until this time, and is seen at least once."""
        due = self.hold(at_s)
        return due if due[1] or self._shown or not self._picture else self._fill(self._slot + 1)

    def _fill(self, until: int) -> tuple[bytes, int]:
        times = max(0, until - self._slot)
        if times:
            new = self._picture != self._last
            self.distinct += new
            self.repeated += times - new
            self._slot, self._last, self._shown = until, self._picture, True
        return self._picture, times

    @property
    def written(self) -> int:
        return self._slot

    def summary(self) -> dict[str, Any]:
        return {
            "captured": self.captured,
            "distinct": self.distinct,
            "repeated": self.repeated,
            "dropped": self.dropped,
            "longest_gap_ms": round(self.longest_gap_ms, 2),
            "distinct_fps": round(self.distinct * self.fps / self.written, 2) if self.written else 0.0,
        }
