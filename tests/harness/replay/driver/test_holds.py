import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from harness.replay.driver.errors import InputRefused
from harness.replay.driver.holds import Hold, Holds, Phase, Step

KEY = "key:KeyW"


def held(deadline_ms: float | None = None) -> tuple[Holds, Hold]:
    holds = Holds()
    assert holds.down(KEY, deadline_ms) is Step.PRESS
    holds.pressed(KEY)
    hold = holds.get(KEY)
    assert hold is not None
    return holds, hold


def test_a_second_down_presses_nothing_and_renews_the_deadline() -> None:
    holds, hold = held(100)
    assert holds.down(KEY, 500) is Step.NOTHING
    assert hold.deadline_ms == 500
    assert holds.down(KEY, None) is Step.NOTHING
    assert hold.deadline_ms is None


def test_a_down_while_the_release_is_in_flight_waits_and_presses_anew() -> None:
    holds, first = held()
    assert holds.up(KEY) is Step.RELEASE
    assert holds.down(KEY, None) is Step.WAIT
    holds.gone(KEY)
    assert holds.down(KEY, None) is Step.PRESS
    again = holds.get(KEY)
    assert again is not None
    assert again.token != first.token


def test_up_of_what_is_not_held_does_nothing() -> None:
    assert Holds().up(KEY) is Step.NOTHING


def test_a_tap_of_a_held_control_is_refused_in_these_words() -> None:
    holds, _ = held()
    with pytest.raises(InputRefused, match=r"^Vitexec input key:KeyW is already held\.$"):
        holds.tap(KEY)


def test_a_tap_is_refused_from_the_moment_a_press_is_claimed() -> None:
    holds = Holds()
    holds.down("mouse:left", None)
    with pytest.raises(InputRefused, match="mouse:left is already held"):
        holds.tap("mouse:left")


def test_a_timer_releases_only_the_press_it_was_made_for() -> None:
    holds, first = held(100)
    holds.up(KEY)
    holds.gone(KEY)
    holds.down(KEY, 1000)
    holds.pressed(KEY)
    assert holds.expire(KEY, first.token, 200) is Step.NOTHING
    second = holds.get(KEY)
    assert second is not None
    assert holds.expire(KEY, second.token, 999) is Step.NOTHING
    assert holds.expire(KEY, second.token, 1000) is Step.RELEASE


class AnyOrder(RuleBasedStateMachine):
    """Calls and arrivals in any order: events of a control must always alternate between press and release."""

    def __init__(self) -> None:
        super().__init__()
        self.holds = Holds()
        self.now = 0.0
        self.sent: list[str] = []

    def phase(self) -> Phase | None:
        hold = self.holds.get(KEY)
        return None if hold is None else hold.phase

    def take(self, step: Step) -> None:
        if step in (Step.PRESS, Step.RELEASE):
            self.sent.append(step.value)

    @rule(after=st.none() | st.integers(1, 100))
    def down(self, after: int | None) -> None:
        self.take(self.holds.down(KEY, None if after is None else self.now + after))

    @rule()
    def up(self) -> None:
        self.take(self.holds.up(KEY))

    @rule()
    def tap(self) -> None:
        try:
            self.take(self.holds.tap(KEY))
        except InputRefused:
            assert self.phase() in (Phase.PRESSING, Phase.HELD)

    @rule(ms=st.integers(1, 50))
    def time_passes(self, ms: int) -> None:
        self.now += ms
        hold = self.holds.get(KEY)
        if hold is not None:
            self.take(self.holds.expire(KEY, hold.token, self.now))

    @precondition(lambda self: self.phase() is Phase.PRESSING)
    @rule(arrives=st.booleans())
    def press_ends(self, arrives: bool) -> None:
        if arrives:
            self.holds.pressed(KEY)
        else:
            self.holds.gone(KEY)
            self.sent.pop()

    @precondition(lambda self: self.phase() is Phase.RELEASING)
    @rule()
    def release_ends(self) -> None:
        self.holds.gone(KEY)

    @invariant()
    def events_alternate(self) -> None:
        assert self.sent == [("press", "release")[k % 2] for k in range(len(self.sent))]
        assert (len(self.sent) % 2 == 1) == (self.phase() in (Phase.PRESSING, Phase.HELD))


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
