"""Follows the tape through the trusted events of one family: keys, pointer events or mouse events. Hard part: moves. Chromium merges
them, so that an event stands for the last of several dispatches; a free pointer is known by where it is, a locked one only by
the sum of its movements, in whole pixels cut towards zero. Screen coordinates are used, because they are the same in every frame."""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from .keys import physical_key
from .testimony import WitnessEvent

if TYPE_CHECKING:
    from .device import Dispatch

NEAR_PX = 1.5
"""Two places that are nearer than this are one to whole pixels, whichever way they were rounded."""

Family = Literal["pointer", "mouse"]
Offset = tuple[int, int]
Point = tuple[float, float]

BUTTONS = {0: "left", 1: "middle", 2: "right"}
BUTTON_BITS = {0: 1, 1: 4, 2: 2}
POINTER_TYPES = ("pointermove", "pointerdown", "pointerup", "mousemove", "mousedown", "mouseup")


class Presses:
    """Dispatches of presses and releases, to be claimed by the events they caused."""

    def __init__(self, tape: "Sequence[Dispatch]") -> None:
        self._tape = tape
        self._indices: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._times: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        self._last: defaultdict[tuple[str, str], int] = defaultdict(lambda: -1)
        self._told: defaultdict[str, int] = defaultdict(
            lambda: -1
        )  # control -> its newest dispatch that was claimed
        self.taken: set[int] = set()
        for index, dispatch in enumerate(tape):
            if dispatch.kind != "mouse.move":
                name = str(dispatch.args[0])
                control = (dispatch.kind, physical_key(name) if dispatch.kind.startswith("key.") else name)
                self._indices[control].append(index)
                self._times[control].append(dispatch.t_ms)

    def take(self, kind: str, name: str, t_ms: float) -> int | None:
        """Claims the newest dispatch of the control up to a time. An event may arrive when the next dispatch is already out, but never
        later: one before that stays unclaimed, and so does a press from before a release that was told."""
        control = (kind, name)
        indices, last = self._indices[control], self._last[control]
        newest = bisect_right(self._times[control], t_ms) - 1
        for place in range(newest, max(last - 1, 0) - 1, -1):
            if indices[place] not in self.taken and indices[place] > self._told[name]:
                self.taken.add(indices[place])
                self._told[name] = indices[place]
                self._last[control] = max(last, place)
                return indices[place]
        return None


class KeyTrail:
    def __init__(self, tape: "Sequence[Dispatch]", trusted: Sequence[WitnessEvent]) -> None:
        self.strangers: list[WitnessEvent] = []
        presses = Presses(tape)
        for event in trusted:
            if event.type in ("keydown", "keyup"):
                kind = "key.down" if event.type == "keydown" else "key.up"
                names = dict.fromkeys((event.code or "", physical_key(event.key or "")))
                if event.repeat or all(presses.take(kind, name, event.t_ms) is None for name in names):
                    self.strangers.append(event)
        self.seen = presses.taken


class Trail:
    """The pointer's way, as one family of events tells it."""

    def __init__(self, tape: "Sequence[Dispatch]", trusted: Sequence[WitnessEvent], family: Family) -> None:
        self.strangers: list[WitnessEvent] = []
        self.reached: set[int] = set()  # tape indices of moves that an event stands for
        self._presses = Presses(tape)
        moves = [(index, one) for index, one in enumerate(tape) if one.kind == "mouse.move"]
        self._index = [index for index, _ in moves]
        self._times = [one.t_ms for _, one in moves]
        self._points: list[Point] = [(float(one.args[0]), float(one.args[1])) for _, one in moves]
        self._offset = window_offset(tape, trusted)
        self._at = -1  # the newest move known to have arrived; -1 is the pointer's start
        self._anchor: int | None = None  # the move from which a locked pointer's movements are summed
        self._sum = (0, 0)
        for event in trusted:
            if event.type == "pointerlockchange":
                self._anchor = None
            elif event.type.startswith(family) and event.type in POINTER_TYPES:
                self._follow(event)
        self.seen = self._presses.taken

    def _follow(self, event: WitnessEvent) -> None:
        moves = event.type.endswith("move") and event.button not in BUTTONS
        if event.type == "mousemove" or moves:
            known = self._locked_move(event) if event.locked else self._free_move(event)
        else:
            known = self._press(event)
        if not known:
            self.strangers.append(event)

    def _press(self, event: WitnessEvent) -> bool:
        button = event.button if event.button is not None else -1
        if button not in BUTTONS:
            return False
        is_down = event.type.endswith("down")
        if event.type == "pointermove":  # a second button, while one is down
            is_down = bool((event.buttons or 0) & BUTTON_BITS[button])
        kind = "mouse.down" if is_down else "mouse.up"
        index = self._presses.take(kind, BUTTONS[button], event.t_ms)
        if index is None:
            return False
        self._at = max(self._at, bisect_right(self._index, index) - 1)
        if not event.locked and self._at >= 0 and self._is_at(event, self._at):
            self.reached.add(self._index[self._at])
        return True

    def _free_move(self, event: WitnessEvent) -> bool:
        self._anchor = None
        return self._arrive(at for at in self._open(event) if self._is_at(event, at))

    def _locked_move(self, event: WitnessEvent) -> bool:
        step = (int(event.dx or 0), int(event.dy or 0))
        fresh = self._anchor is None or self._sum == (0, 0)
        self._sum = step if self._anchor is None else (self._sum[0] + step[0], self._sum[1] + step[1])
        if self._anchor is not None and self._arrive(self._fitting(event, self._anchor)):
            return True
        if not fresh:
            return False
        for anchor in [self._at, *self._open(event)]:  # moves outside the page were not seen, but count
            if self._arrive(self._fitting(event, anchor)):
                self._anchor = anchor
                return True
        return False

    def _fitting(self, event: WitnessEvent, anchor: int) -> Iterator[int]:
        """Where the sum of movements leads from an anchor: exactly, or else to within a pixel."""
        for most in (0, 1):
            for at in self._open(event):
                ways = (self._pixel(at, axis) - self._pixel(anchor, axis) for axis in (0, 1))
                if all(abs(way - moved) <= most for way, moved in zip(ways, self._sum, strict=True)):
                    yield at

    def _open(self, event: WitnessEvent) -> range:
        """The moves that an event can stand for: none before the newest that arrived, none that was not out yet."""
        return range(self._at, bisect_right(self._times, event.t_ms))

    def _arrive(self, places: Iterator[int]) -> bool:
        at = next(places, None)
        if at is None:
            return False
        self._at = at
        if at >= 0:
            self.reached.add(self._index[at])
        return True

    def _point(self, at: int) -> Point:
        return self._points[at] if at >= 0 else (0.0, 0.0)

    def _pixel(self, at: int, axis: Literal[0, 1]) -> int:
        return int(self._point(at)[axis] + self._offset[axis])

    def _is_at(self, event: WitnessEvent, at: int) -> bool:
        x, y = self._point(at)
        seen_x, seen_y = (event.screen_x or 0) - self._offset[0], (event.screen_y or 0) - self._offset[1]
        return abs(seen_x - x) < NEAR_PX and abs(seen_y - y) < NEAR_PX

    def has_reached(self, index: int) -> bool:
        """True when the pointer is known to have come where a move sent it, by that move's event or because it was there."""
        at = bisect_right(self._index, index) - 1
        x, y = self._points[at]
        for earlier in range(at, -2, -1):
            if earlier < 0 or self._index[earlier] in self.reached:
                return math.dist(self._point(earlier), (x, y)) < NEAR_PX
        return False


def window_offset(tape: "Sequence[Dispatch]", trusted: Sequence[WitnessEvent]) -> Offset:
    """Where the page stands on the screen: it stays there for the browser's life. The top document's events say it; a page that fills
    itself with a frame has none, and there the first move says it."""
    events = [one for one in trusted if one.type in POINTER_TYPES and one.x is not None]
    for event in events:
        if event.document == "top":
            return round((event.screen_x or 0) - (event.x or 0)), round(
                (event.screen_y or 0) - (event.y or 0)
            )
    first = next((one.args for one in tape if one.kind == "mouse.move"), None)
    if first is None or not events:
        return 0, 0
    x, y = (float(value) for value in first)
    return round((events[0].screen_x or 0) - int(x)), round((events[0].screen_y or 0) - int(y))
