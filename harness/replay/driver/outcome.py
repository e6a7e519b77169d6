"""What came out of a replay, decided from what was seen: the evaluator's answers and how page and script ended.

Pure, so that each row of the decision can be tested by its values. The order matters: a clear that the
evaluator saw stands, whatever the page did afterwards; a dead page outranks the script's own error, which is
then only its echo.
"""

from dataclasses import dataclass
from typing import Any, Literal, cast

Ended = Literal["running", "done", "error", "timeout"]
PageFate = Literal["page_hung", "page_crashed", "navigated_away"]
Outcome = Literal[
    "cleared",
    "not_cleared",
    "script_error",
    "page_hung",
    "page_crashed",
    "navigated_away",
    "cap_reached",
]


@dataclass(frozen=True)
class Answer:
    """One answer of an evaluator."""

    cleared: bool
    level_time_ms: float | None
    evidence: Any


@dataclass(frozen=True)
class Seen:
    """All that a judge saw of one replay."""

    answer: Answer | None
    page: PageFate | None
    script: Ended
    cap_reached: bool


class BadAnswer(Exception):
    """The evaluator returned something that is not an answer: our failure, never the artifact's."""


def read_answer(value: Any) -> Answer:
    """Check what an evaluator returned; raises BadAnswer. No time stands without a clear, and none is invented."""
    answer = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    cleared, time = answer.get("cleared"), answer.get("levelTimeMs")
    if not isinstance(cleared, bool):
        raise BadAnswer(f"the evaluator returned {value!r} instead of {{cleared, levelTimeMs, evidence}}")
    if time is not None and (isinstance(time, bool) or not isinstance(time, int | float)):
        raise BadAnswer(f"the evaluator's levelTimeMs is {time!r}, not a number or null")
    if time is not None and not 0 <= time < float("inf"):
        raise BadAnswer(f"the evaluator's levelTimeMs is {time!r}, not a time")
    return Answer(cleared, time if cleared else None, answer.get("evidence"))


def unreadable(why: str) -> Answer:
    """The answer where the evaluator cannot read the game any more."""
    return Answer(False, None, {"unreadable": why[:500]})


def decide(seen: Seen) -> Outcome:
    """The outcome of a replay."""
    if seen.answer is not None and seen.answer.cleared:
        return "cleared"
    if seen.page is not None:
        return seen.page
    if seen.script == "error":
        return "script_error"
    if seen.cap_reached or seen.script in ("timeout", "running"):
        return "cap_reached"
    return "not_cleared"
