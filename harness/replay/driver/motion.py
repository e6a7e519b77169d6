"""How the pointer moves, decided by numbers alone: how long a settled move takes, which points it visits and when, and the next
point of a latest move. Hard part: the order of the checks is part of the interface, and the last point must be the target
itself, not a sum that almost reaches it."""

import math
from dataclasses import dataclass

from .errors import InputRefused

PEAK_SPEED = 1200.0  # CSS px a second
STEP_MS = 16.67  # 60 steps a second
DEFAULT_HOLD_MS = 80.0
SHORTEST_MOVE_MS = 80.0
LONGEST_MOVE_MS = 1500.0
LATEST_STEP = 20.0  # CSS px
LATEST_LEASE_MS = 400.0

ALREADY_MOVING = "Vitexec mouse is already moving."
NOT_FINITE = "Vitexec mouse coordinates must be finite numbers."
BAD_DURATION = "Vitexec input duration must be a finite number greater than zero."
TOO_LONG = "Vitexec mouse movement duration must be at most 1500ms."
SAME_PLACE = "Vitexec mouse movement requires a different destination."

Number = float | int | str | bool | None  # what a script may hand over; only finite numbers pass


@dataclass(frozen=True)
class Point:
    x: float
    y: float

    def distance(self, other: "Point") -> float:
        return math.hypot(other.x - self.x, other.y - self.y)


@dataclass(frozen=True)
class SettledPlan:
    """A move of `duration_ms` in equal steps: (ms after the start, point)."""

    duration_ms: float
    steps: tuple[tuple[float, Point], ...]


def is_finite_number(value: Number) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def finite_point(x: Number, y: Number) -> Point:
    if not (is_finite_number(x) and is_finite_number(y)):
        raise InputRefused(NOT_FINITE)
    return Point(float(x or 0), float(y or 0))


def relative_target(origin: Point, dx: Number, dy: Number) -> Point:
    """The place a relative move means; a delta of less than one pixel counts as one."""
    delta = finite_point(dx, dy)
    return finite_point(origin.x + _at_least_one(delta.x), origin.y + _at_least_one(delta.y))


def _at_least_one(delta: float) -> float:
    return math.copysign(1.0, delta) if 0 < abs(delta) < 1 else delta


def checked_duration(value: Number) -> float:
    """A duration in ms as a script gave it."""
    if not is_finite_number(value) or float(value or 0) <= 0:
        raise InputRefused(BAD_DURATION)
    return float(value or 0)


def plan_settled(origin: Point, target: Point, requested: Number) -> SettledPlan | None:
    """The steps of a settled move, or None when there is nowhere to go."""
    distance = origin.distance(target)
    if distance == 0:
        return None
    wanted = SHORTEST_MOVE_MS
    if requested is not None:
        wanted = checked_duration(requested)
        if wanted > LONGEST_MOVE_MS:
            raise InputRefused(TOO_LONG)
    duration = max(SHORTEST_MOVE_MS, wanted, 1.5 * distance * 1000 / PEAK_SPEED)
    if not duration <= LONGEST_MOVE_MS:
        shown = str(math.ceil(duration)) if math.isfinite(duration) else "Infinity"
        raise InputRefused(f"Vitexec mouse movement requires {shown}ms.")
    count = max(2, math.ceil(duration / STEP_MS))
    steps = tuple((duration * (k / count), _between(origin, target, k / count)) for k in range(1, count + 1))
    return SettledPlan(duration, steps)


def _between(origin: Point, target: Point, t: float) -> Point:
    if t >= 1:
        return target
    share = t * t * (3 - 2 * t)
    return Point(origin.x + (target.x - origin.x) * share, origin.y + (target.y - origin.y) * share)


def latest_target(origin: Point, target: Point) -> Point:
    """Where a latest move goes: whole pixels, somewhere else."""
    rounded = Point(float(math.floor(target.x + 0.5)), float(math.floor(target.y + 0.5)))
    if rounded == origin:
        raise InputRefused(SAME_PLACE)
    return rounded


def latest_step(position: Point, target: Point) -> Point:
    """The next point of a latest move."""
    distance = position.distance(target)
    if distance <= LATEST_STEP:
        return target
    share = LATEST_STEP / distance
    return Point(position.x + (target.x - position.x) * share, position.y + (target.y - position.y) * share)
