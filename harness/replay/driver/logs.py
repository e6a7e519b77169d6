"""The page's log as lines: `[warning] text`, `[page error] …`, `[http 404] url`. Hard part: an object that was logged has to be fetched
from the page, and lines must still stand in the order of the calls; and a page that logs without end must cost neither
memory nor the reader's patience, so both lines and bytes are capped and the cap is said."""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from .clock import Clock

MAX_LINES = 1000  # a run's lines: more is noise for a reader
MAX_BYTES = 256 * 1024
MAX_LINE_BYTES = 16 * 1024

CONSOLE_KINDS = {
    "log": "log",
    "info": "info",
    "warning": "warning",
    "error": "error",
    "debug": "debug",
    "assert": "error",
}


@dataclass(frozen=True)
class LogEntry:
    t_ms: float
    kind: str
    text: str

    @property
    def line(self) -> str:
        return f"[{self.kind}] {self.text}"


class Slot:
    """A place in the log whose text is still on its way."""

    def __init__(self, t_ms: float, kind: str) -> None:
        self.t_ms = t_ms
        self.kind = kind
        self.text: str | None = None


class LogBook:
    def __init__(self, clock: Clock, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> None:
        self._clock = clock
        self._max_lines = max_lines
        self._max_bytes = max_bytes
        self._pending: deque[Slot] = deque()
        self._settled = asyncio.Event()
        self._settled.set()
        self.on_entry: Callable[[LogEntry], None] | None = None
        self.entries: list[LogEntry] = []
        self._restart()

    def _restart(self) -> None:
        self._lines = 0
        self._bytes = 0
        self._lost_lines = 0
        self._lost_bytes = 0

    @property
    def is_full(self) -> bool:
        return self._lines + len(self._pending) >= self._max_lines or self._bytes >= self._max_bytes

    def add(self, kind: str, text: str) -> None:
        self.fill(self.reserve(kind), text)

    def reserve(self, kind: str) -> Slot:
        slot = Slot(self._clock.now_ms(), kind)
        self._pending.append(slot)
        self._settled.clear()
        return slot

    def fill(self, slot: Slot, text: str) -> None:
        slot.text = text
        while self._pending and (head := self._pending[0]).text is not None:
            self._pending.popleft()
            self._write(LogEntry(head.t_ms, head.kind, shorten(head.text)))
        if not self._pending:
            self._settled.set()

    async def settle(self, timeout_s: float) -> None:
        """Waits for texts on their way; what does not come in time is written as missing."""
        try:
            await asyncio.wait_for(self._settled.wait(), timeout_s)
        except TimeoutError:
            for slot in list(self._pending):
                if slot.text is None:
                    self.fill(slot, "(the page did not hand the value over)")

    def close_run(self) -> None:
        """Says what the caps kept back, and starts counting anew for the next run."""
        if self._lost_lines:
            caps = f"at most {self._max_lines} lines and {self._max_bytes} bytes are kept"
            text = f"{self._lost_lines} more lines ({self._lost_bytes} bytes) are not shown: {caps}"
            self._emit(LogEntry(self._clock.now_ms(), "log cap", text))
        self._restart()

    def _write(self, entry: LogEntry) -> None:
        size = len(entry.line.encode(errors="replace")) + 1
        if self._lines >= self._max_lines or self._bytes + size > self._max_bytes:
            self._lost_lines += 1
            self._lost_bytes += size
            return
        self._lines += 1
        self._bytes += size
        self._emit(entry)

    def _emit(self, entry: LogEntry) -> None:
        self.entries.append(entry)
        if self.on_entry is not None:
            self.on_entry(entry)


def shorten(text: str) -> str:
    encoded = text.encode(errors="replace")
    if len(encoded) <= MAX_LINE_BYTES:
        return text
    kept = encoded[:MAX_LINE_BYTES].decode(errors="ignore")
    return f"{kept}… ({len(encoded) - MAX_LINE_BYTES} more bytes)"


def console_kind(type_: str) -> str:
    return CONSOLE_KINDS.get(type_, "log")


_BY_DESCRIPTION = {
    "error",
    "date",
    "regexp",
    "node",
    "map",
    "set",
    "weakmap",
    "weakset",
    "promise",
    "proxy",
    "generator",
}


def plain_text(value: dict[str, Any]) -> str | None:
    """A logged value as text, or None when it is an object that has to be fetched first."""
    if value.get("type") == "string":
        return str(value.get("value", ""))
    if (
        value.get("type") == "object"
        and value.get("objectId")
        and value.get("subtype") not in _BY_DESCRIPTION
    ):
        return None
    if "unserializableValue" in value:
        return str(value["unserializableValue"])
    if "value" in value:
        return to_json(value["value"])
    return str(value.get("description") or value.get("type"))


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def error_text(details: dict[str, Any]) -> str:
    """What an uncaught exception says: message and stack for an Error, the value for anything else."""
    exception = cast(dict[str, Any], details.get("exception") or {})
    if exception.get("description"):
        return str(exception["description"])
    if exception:
        return plain_text(exception) or str(details.get("text"))
    return str(details.get("text"))
