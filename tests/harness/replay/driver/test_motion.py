import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.replay.driver.errors import InputRefused
from harness.replay.driver.motion import (
    LATEST_STEP,
    Number,
    Point,
    finite_point,
    latest_step,
    latest_target,
    plan_settled,
    relative_target,
)

ORIGIN = Point(0.0, 0.0)
places = st.floats(-600, 600)


@pytest.mark.parametrize(
    ("dx", "requested", "duration", "count"),
    [
        (10, None, 80, 5),
        (600, None, 750, 45),
        (1200, None, 1500, 90),
        (10, 20, 80, 5),
        (10, 500, 500, 30),
        (64, None, 80, 5),
    ],
)
def test_a_settled_move_takes_the_time_and_steps_of_its_distance(
    dx: float, requested: Number, duration: float, count: int
) -> None:
    plan = plan_settled(ORIGIN, Point(dx, 0), requested)
    assert plan is not None
    assert plan.duration_ms == duration
    assert len(plan.steps) == count


def test_a_settled_move_eases_in_and_out() -> None:
    plan = plan_settled(ORIGIN, Point(100, 0), 160)
    assert plan is not None
    assert len(plan.steps) == 10
    due, middle = plan.steps[4]
    assert (due, middle.x) == (pytest.approx(80), pytest.approx(50))
    assert plan.steps[0][1].x == pytest.approx(100 * 0.01 * 2.8)


@given(places, places, places, places, st.none() | st.floats(1, 1500))
def test_a_settled_move_ends_exactly_at_its_target_and_on_time(
    x: float, y: float, to_x: float, to_y: float, requested: float | None
) -> None:
    origin, target = Point(x, y), Point(to_x, to_y)
    assume(0 < origin.distance(target) <= 1200)
    plan = plan_settled(origin, target, requested)
    assert plan is not None
    times = [due for due, _ in plan.steps]
    assert plan.steps[-1] == (plan.duration_ms, target)
    assert times == sorted(times)
    assert 80 <= plan.duration_ms <= 1500
    assert len(plan.steps) >= 2


@given(places, places, places, places)
def test_no_step_of_a_settled_move_is_faster_than_the_peak_speed(
    x: float, y: float, to_x: float, to_y: float
) -> None:
    origin, target = Point(x, y), Point(to_x, to_y)
    assume(1 <= origin.distance(target) <= 1200)
    plan = plan_settled(origin, target, None)
    assert plan is not None
    before, at = origin, 0.0
    for due, point in plan.steps:
        assert before.distance(point) <= 1200 * (due - at) / 1000 * 1.001 + 1e-6
        before, at = point, due


def test_nowhere_to_go_is_no_move_even_with_a_bad_duration() -> None:
    assert plan_settled(ORIGIN, ORIGIN, -1) is None


@pytest.mark.parametrize("requested", [0, -5, math.nan, math.inf, "80", False, True])
def test_a_duration_must_be_a_finite_number_above_zero(requested: Number) -> None:
    with pytest.raises(
        InputRefused, match=r"^Vitexec input duration must be a finite number greater than zero\.$"
    ):
        plan_settled(ORIGIN, Point(10, 0), requested)


def test_a_duration_above_the_longest_is_refused() -> None:
    with pytest.raises(InputRefused, match=r"^Vitexec mouse movement duration must be at most 1500ms\.$"):
        plan_settled(ORIGIN, Point(10, 0), 1500.5)


def test_a_move_that_would_take_too_long_says_how_long() -> None:
    with pytest.raises(InputRefused, match=r"^Vitexec mouse movement requires 1502ms\.$"):
        plan_settled(ORIGIN, Point(1201, 0), None)


@pytest.mark.parametrize("bad", [math.nan, math.inf, None, "5", False])
def test_coordinates_must_be_finite_numbers(bad: Number) -> None:
    for make in (lambda: finite_point(bad, 1), lambda: relative_target(ORIGIN, 1, bad)):
        with pytest.raises(InputRefused, match=r"^Vitexec mouse coordinates must be finite numbers\.$"):
            make()


def test_a_relative_move_beyond_all_numbers_is_refused_as_not_finite() -> None:
    with pytest.raises(InputRefused, match="finite numbers"):
        relative_target(Point(1.7e308, 0), 1.7e308, 0)


@pytest.mark.parametrize(
    ("delta", "becomes"), [(0.2, 1), (-0.2, -1), (0, 0), (-0.0, 0), (1, 1), (1.5, 1.5), (-1.5, -1.5)]
)
def test_less_than_a_pixel_counts_as_one(delta: float, becomes: float) -> None:
    assert relative_target(Point(10, 10), delta, delta) == Point(10 + becomes, 10 + becomes)


def test_a_latest_move_goes_to_whole_pixels_rounded_as_javascript_does() -> None:
    assert latest_target(ORIGIN, Point(2.5, -2.5)) == Point(3, -2)


def test_a_latest_move_must_go_somewhere_else() -> None:
    with pytest.raises(InputRefused, match=r"^Vitexec mouse movement requires a different destination\.$"):
        latest_target(Point(5, 5), Point(5.2, 4.9))


@given(places, places, places, places)
def test_latest_steps_are_twenty_pixels_and_arrive(x: float, y: float, to_x: float, to_y: float) -> None:
    at, target = Point(x, y), Point(to_x, to_y)
    steps = 0
    while at != target:
        after = latest_step(at, target)
        if after != target:
            assert at.distance(after) == pytest.approx(LATEST_STEP)
        at = after
        steps += 1
        assert steps <= 100
