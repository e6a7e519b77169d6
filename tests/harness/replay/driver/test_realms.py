"""Realms other than the page's own: frames of every kind have the page's clock and randomness from the first moment, and what cannot have
them is a finding."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from .conftest import Box
from .looking_at import Looking, look_at

pytestmark = pytest.mark.browser

KINDS = ("blank", "about:blank", "srcdoc", "blob", "javascript", "file", "data")
START_MS = 100
MOVES = [["frame", 16.7, 0], ["timer", 25], ["frame", 33.3, 0], ["frame", 50, 0]]


@pytest.fixture(scope="module")
def looking(box: Box) -> Iterator[Looking]:
    yield from look_at(box)


@pytest.fixture(scope="module")
def realms(looking: Looking) -> list[dict[str, Any]]:
    """What the page told of its realms, on a quiet host and beside two busy programs."""
    told: list[dict[str, Any]] = []
    for busy in (0, 2):
        looking.open("realms.html", seed=5, busy=busy)
        looking.frames(3)
        told.append(json.loads(looking.call("realms()", frames=2000)) | {"seen": looking.seen()})
    return told


def test_realms_are_the_same_twice(realms: list[dict[str, Any]]) -> None:
    quiet, busy = realms
    assert {key: (quiet[key], busy[key]) for key in quiet if key != "seen" and quiet[key] != busy[key]} == {}


@pytest.mark.parametrize("kind", [*KINDS, "nested", "written"])
def test_a_new_frame_has_the_clock_at_the_first_moment(realms: list[dict[str, Any]], kind: str) -> None:
    first = realms[0][kind]["first"]
    assert first["year"] == "2026,2026,2026"
    assert first["now"] == START_MS
    assert first["own"], "natives of its own realm"
    assert first["native"].count("[native code]") == 4


def test_all_realms_draw_from_the_one_stream(realms: list[dict[str, Any]]) -> None:
    draws = [
        realms[0][kind][when]["random"]
        for kind in KINDS
        for when in ("first", "then")
        if when in realms[0][kind]
    ]
    assert len(set(draws)) == len(draws) == 13


@pytest.mark.parametrize("kind", ["srcdoc", "blob", "file", "written"])
def test_a_frames_own_script_begins_under_the_clock(realms: list[dict[str, Any]], kind: str) -> None:
    date, now, _ = realms[0][kind]["script"]
    assert 1767225600000 <= date < 1767225660000
    assert START_MS <= now < 200


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "data"])
def test_a_frame_is_driven_by_the_pages_frames(realms: list[dict[str, Any]], kind: str) -> None:
    assert realms[0][kind]["moves"] == MOVES


def test_nothing_of_a_frame_that_is_gone_runs_or_is_waited_for(realms: list[dict[str, Any]]) -> None:
    assert realms[0]["heard"] == []
    assert realms[0]["gone"] == {"timer": 0, "frame": 0}
    assert realms[0]["seen"]["late"] == []


def test_messages_between_realms_say_who_sent_them(realms: list[dict[str, Any]]) -> None:
    assert realms[0]["talk"] == [["ready", True], [["hello", True], True]]


def test_no_window_opens_and_each_that_was_wanted_is_a_finding(realms: list[dict[str, Any]]) -> None:
    told = realms[0]
    assert told["windows"] == [True, True]
    assert told["inside"], "a frame is still found by its name"
    assert told["bare"] == [None, None]
    kinds = [kind for kind, _ in told["seen"]["findings"]]
    assert kinds.count("popup") == 2
    assert "document_opened" in kinds


def test_a_frame_of_another_process_is_a_finding(looking: Looking) -> None:
    looking.open("realms.html", seed=5)
    looking.call("framed((frame) => { frame.sandbox = 'allow-scripts'; frame.srcdoc = 'x' }) && 1")
    looking.frames(5)
    assert "separate_frame" in [kind for kind, _ in looking.seen()["findings"]]
