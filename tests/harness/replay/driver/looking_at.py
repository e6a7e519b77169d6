"""The host's side of `looking.py`: pages of the folder `page/clock`, opened under either clock, one at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .conftest import Box, Lines


class Looking:
    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def ask(self, **order: Any) -> dict[str, Any]:
        return self._lines.ask(order)

    def open(self, page: str, seed: int | None = None, busy: int = 0) -> None:
        """With a seed, under the virtual clock; with `busy` programs beside the browser."""
        self.ask(op="open", page=page, seed=seed, busy=busy)

    def frames(self, count: int) -> None:
        self.ask(op="frames", count=count)

    def call(self, expression: str, frames: int = 0) -> Any:
        return self.ask(op="call", expression=expression, frames=frames)["value"]

    def seen(self) -> dict[str, Any]:
        return self.ask(op="seen")


def look_at(box: Box) -> Iterator[Looking]:
    box.container.put("/tmp", {"looking.py": (Path(__file__).parent / "looking.py").read_bytes()})
    with box.container.open_exec(["python3", "/tmp/looking.py", "/tmp/page/clock"]) as channel:
        yield Looking(Lines(channel))
