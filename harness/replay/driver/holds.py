"""What is held down: one small state machine per control (`mouse:left`, `key:KeyW`). Hard part: calls overlap. A press or a release
takes a browser round trip, and what the next call means depends on which of them is under way; a control is claimed before
its event is sent, so that two calls in one tick cannot both press it."""

from dataclasses import dataclass
from enum import Enum

from .errors import InputRefused


class Phase(Enum):
    PRESSING = "pressing"
    HELD = "held"
    RELEASING = "releasing"


class Step(Enum):
    """What the caller has to do now."""

    PRESS = "press"
    RELEASE = "release"
    WAIT = "wait"  # for the event in flight, then ask again
    NOTHING = "nothing"


@dataclass
class Hold:
    phase: Phase
    token: int  # which press this is: a timer or a click may only release its own
    deadline_ms: float | None = None


class Holds:
    def __init__(self) -> None:
        self._holds: dict[str, Hold] = {}
        self._presses = 0

    def ids(self) -> list[str]:
        return list(self._holds)

    def get(self, control: str) -> Hold | None:
        return self._holds.get(control)

    def down(self, control: str, deadline_ms: float | None) -> Step:
        """Claims a press, or renews the deadline of what is held (none given: clears it)."""
        hold = self._holds.get(control)
        if hold is None:
            self._presses += 1
            self._holds[control] = Hold(Phase.PRESSING, self._presses, deadline_ms)
            return Step.PRESS
        if hold.phase is Phase.HELD:
            hold.deadline_ms = deadline_ms
            return Step.NOTHING
        return Step.WAIT

    def tap(self, control: str) -> Step:
        """Claims a press of its own (click, press): refused while the control is down."""
        hold = self._holds.get(control)
        if hold is not None and hold.phase is not Phase.RELEASING:
            raise InputRefused(f"Vitexec input {control} is already held.")
        return self.down(control, None)

    def up(self, control: str, token: int | None = None) -> Step:
        """Claims a release; with a token only of that very press."""
        hold = self._holds.get(control)
        if hold is None or (token is not None and hold.token != token):
            return Step.NOTHING
        if hold.phase is Phase.HELD:
            hold.phase = Phase.RELEASING
            hold.deadline_ms = None
            return Step.RELEASE
        return Step.WAIT

    def expire(self, control: str, token: int, now_ms: float) -> Step:
        """Claims the release that a deadline asks for, if it is still asked for."""
        hold = self._holds.get(control)
        if hold is None or hold.token != token or hold.phase is not Phase.HELD:
            return Step.NOTHING
        if hold.deadline_ms is None or hold.deadline_ms > now_ms:
            return Step.NOTHING
        return self.up(control, token)

    def pressed(self, control: str) -> None:
        self._holds[control].phase = Phase.HELD

    def gone(self, control: str) -> None:
        """The release arrived, or the press never did."""
        self._holds.pop(control, None)

    def clear_deadlines(self) -> None:
        for hold in self._holds.values():
            hold.deadline_ms = None
