from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.replay.driver.outcome import Answer, BadAnswer, Seen, decide, read_answer

NO = Answer(False, None, None)
YES = Answer(True, 1000.0, None)


@pytest.mark.parametrize(
    ("seen", "outcome"),
    [
        (Seen(YES, None, "done", False), "cleared"),
        (Seen(YES, None, "running", False), "cleared"),
        (Seen(YES, "page_crashed", "error", True), "cleared"),
        (Seen(NO, None, "done", False), "not_cleared"),
        (Seen(NO, None, "error", False), "script_error"),
        (Seen(NO, None, "running", True), "cap_reached"),
        (Seen(NO, None, "timeout", False), "cap_reached"),
        (Seen(NO, None, "done", True), "cap_reached"),
        (Seen(None, "page_hung", "running", True), "page_hung"),
        (Seen(None, "page_crashed", "error", False), "page_crashed"),
        (Seen(None, "navigated_away", "done", False), "navigated_away"),
        (Seen(None, None, "done", False), "not_cleared"),
    ],
)
def test_each_row_of_the_decision(seen: Seen, outcome: str) -> None:
    assert decide(seen) == outcome


@given(
    st.sampled_from([None, NO, Answer(False, None, {"won": False})]),
    st.sampled_from([None, "page_hung", "page_crashed", "navigated_away"]),
    st.sampled_from(["running", "done", "error", "timeout"]),
    st.booleans(),
)
def test_nothing_but_the_evaluators_yes_clears(answer: Any, page: Any, script: Any, cap: bool) -> None:
    assert decide(Seen(answer, page, script, cap)) != "cleared"


@pytest.mark.parametrize(
    "value",
    [
        None,
        1,
        "cleared",
        {},
        {"cleared": 1},
        {"cleared": True, "levelTimeMs": "1"},
        {"cleared": True, "levelTimeMs": -1},
        {"cleared": True, "levelTimeMs": float("inf")},
        {"cleared": True, "levelTimeMs": True},
    ],
)
def test_what_is_no_answer_is_refused(value: Any) -> None:
    with pytest.raises(BadAnswer):
        read_answer(value)


def test_a_time_without_a_clear_is_dropped() -> None:
    assert read_answer({"cleared": False, "levelTimeMs": 5, "evidence": 1}) == Answer(False, None, 1)
