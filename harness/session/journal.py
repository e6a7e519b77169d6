"""The session's journal: one line of JSON for each thing that happened, on disk before the next thing happens.

It is what is left when the harness is killed, and everything else that is written of a session is made from it.
A last line that was cut by a crash is left out when reading; nothing before it can be damaged by it.
"""

import json
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

JOURNAL = "journal.ndjson"
RAW = "raw"


class Journal:
    """Appends events; each carries the wall-clock time and the seconds since the session's start."""

    def __init__(self, folder: Path) -> None:
        (folder / RAW).mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._file = (folder / JOURNAL).open("ab")
        self._begun = time.monotonic()
        self._commands = 0

    def note(self, event: str, **told: Any) -> None:
        at_s = round(time.monotonic() - self._begun, 3)
        line = {"event": event, "time": utc_now(), "at_s": at_s, **told}
        text = json.dumps(line, ensure_ascii=False, default=str)
        self._file.write(text.encode("utf-8", "replace") + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def next_raw(self) -> Path:
        """Where the raw output of the next command goes."""
        self._commands += 1
        return self.folder / RAW / f"{self._commands:04}.out"

    def close(self) -> None:
        self._file.close()


def read_journal(folder: Path) -> list[Mapping[str, Any]]:
    """Every whole event of a session's folder, in order."""
    events: list[Mapping[str, Any]] = []
    for line in (folder / JOURNAL).read_bytes().split(b"\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            events.append(cast(Mapping[str, Any], event))
    return events


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
