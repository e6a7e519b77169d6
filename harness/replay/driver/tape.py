"""The tape: every input event that was dispatched in a replay, with its frame, and where the play began and ended. Under the virtual clock it
holds all that a page got from outside, so that it can be played again without the script."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from .device import Device, Dispatch
from .errors import InputRefused

KINDS = ("mouse.move", "mouse.down", "mouse.up", "key.down", "key.up")


@dataclass(frozen=True)
class Tape:
    """`begin` is the frame before the first that belongs to the play, `end` its last; `preload` are the modules of the game that were
    loaded before frame 0 because the script imports them."""

    begin: int
    end: int
    rows: tuple[Dispatch, ...]
    preload: tuple[str, ...] = ()

    def to_rows(self) -> list[dict[str, Any]]:
        """As lines of tape.ndjson: a head, the dispatches, an end."""
        head = {"kind": "begin", "frame": self.begin, "preload": list(self.preload)}
        body = [
            {"frame": one.frame, "t_ms": one.t_ms, "kind": one.kind, "args": list(one.args)}
            for one in self.rows
        ]
        return [head, *body, {"kind": "end", "frame": self.end}]


class BadTape(Exception):
    """The rows are no tape: one sentence says which."""


def read_tape(rows: Sequence[Any]) -> Tape:
    """A tape from its lines; raises BadTape."""
    table = [cast(dict[str, Any], row) if isinstance(row, dict) else {} for row in rows]
    if len(table) < 2 or table[0].get("kind") != "begin" or table[-1].get("kind") != "end":
        raise BadTape("the tape has no beginning or no end: it was cut off")
    begin, end = _frame(table[0], 1), _frame(table[-1], len(table))
    preload = cast(list[Any], table[0].get("preload") or [])
    body = tuple(_dispatch(row, number) for number, row in enumerate(table[1:-1], 2))
    last = begin
    for number, one in enumerate(body, 2):
        if not last <= one.frame <= end:
            raise BadTape(
                f"line {number} of the tape is out of order: frame {one.frame} after {last}, end {end}"
            )
        last = one.frame
    return Tape(begin, end, body, tuple(str(url) for url in preload))


def _frame(row: dict[str, Any], number: int) -> int:
    frame = row.get("frame")
    if not isinstance(frame, int) or isinstance(frame, bool) or frame < 0:
        raise BadTape(f"line {number} of the tape has no frame number")
    return frame


def _dispatch(row: dict[str, Any], number: int) -> Dispatch:
    kind, args, t_ms = row.get("kind"), row.get("args"), row.get("t_ms")
    if kind not in KINDS or not isinstance(args, list) or not isinstance(t_ms, int | float):
        raise BadTape(f"line {number} of the tape is no input event")
    given = cast(list[Any], args)
    wanted: tuple[type, ...] = (int, float) if kind == "mouse.move" else (str,)
    if len(given) != (2 if kind == "mouse.move" else 1) or not all(isinstance(one, wanted) for one in given):
        raise BadTape(f"line {number} of the tape has arguments that {kind} does not take")
    return Dispatch(float(t_ms), kind, tuple(given), _frame(row, number))


class TapePlayer:
    """Dispatches a tape's events, each in its frame. What the browser refuses it refused when the tape was made, too."""

    def __init__(self, tape: Tape, device: Device) -> None:
        self._rows = list(reversed(tape.rows))
        self._device = device

    async def play(self, frame: int) -> None:
        while self._rows and self._rows[-1].frame <= frame:
            with contextlib.suppress(InputRefused):
                await self._dispatch(self._rows.pop())

    async def _dispatch(self, one: Dispatch) -> None:
        match one.kind:
            case "mouse.move":
                await self._device.move(float(one.args[0]), float(one.args[1]))
            case "mouse.down":
                await self._device.button_down(str(one.args[0]))
            case "mouse.up":
                await self._device.button_up(str(one.args[0]))
            case "key.down":
                await self._device.key_down(str(one.args[0]))
            case "key.up":
                await self._device.key_up(str(one.args[0]))
