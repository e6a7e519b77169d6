"""What a page sees under the virtual clock: the browser's own objects look as without it, and everything that takes time takes it from the
frames, in one order on every host."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from .conftest import Box
from .looking_at import Looking, look_at

pytestmark = pytest.mark.browser

NO_CONSTRUCTOR = (
    "V8 prints the source of a function that is no constructor (`class extends setTimeout`, Reflect.construct), and only the browser's own "
    "functions have none: the end of the message is the same"
)

SHOWS_A_FRAME = {
    f"wrong | {method} value | rejected | stack"
    for method in (
        "AudioContext.close",
        "AudioContext.resume",
        "AudioContext.setSinkId",
        "AudioContext.suspend",
        "HTMLMediaElement.play",
        "OfflineAudioContext.resume",
        "OfflineAudioContext.suspend",
    )
}
"""Called on what they do not belong to, these promise an error whose stack has a line more: their part hands the native's promise on as it is."""


@pytest.fixture(scope="module")
def looking(box: Box) -> Iterator[Looking]:
    yield from look_at(box)


@pytest.fixture(scope="module")
def behaviour(looking: Looking) -> list[dict[str, Any]]:
    """What the page's checks told, on a quiet host and beside two busy programs."""
    told: list[dict[str, Any]] = []
    for busy in (0, 2):
        looking.open("behave.html", seed=5, busy=busy)
        looking.frames(3)
        looking.ask(op="click", x=12, y=12)
        looking.frames(2)
        locks = looking.call("locks")
        told.append(
            json.loads(looking.call("behave()", frames=2000)) | {"locks": locks, "seen": looking.seen()}
        )
    return told


def plain(facts: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in facts.items():
        if isinstance(value, dict):
            yield from plain(value, f"{path}{key} | ")
        elif key == "builds":  # see NO_CONSTRUCTOR
            yield path + key, str(value).rpartition("}")[2]
        else:
            yield path + key, value


def test_the_browsers_objects_look_as_without_the_clock(looking: Looking) -> None:
    found: list[dict[str, Any]] = []
    for seed in (None, 5):
        looking.open("natives.html", seed=seed)
        found.append(dict(plain(json.loads(looking.call("natives()", frames=9000 if seed else 0)))))
    real, virtual = found
    assert len(real) > 100_000
    keys = real.keys() | virtual.keys()
    differing = {key: (real.get(key), virtual.get(key)) for key in keys if real.get(key) != virtual.get(key)}
    assert {key: value for key, value in differing.items() if key not in SHOWS_A_FRAME} == {}


def test_everything_is_the_same_beside_busy_programs(behaviour: list[dict[str, Any]]) -> None:
    quiet, busy = behaviour
    assert {key: (quiet[key], busy[key]) for key in quiet if key != "seen" and quiet[key] != busy[key]} == {}


def test_a_frame_runs_timers_in_order_of_due_time_then_callbacks_then_idle_time(
    behaviour: list[dict[str, Any]],
) -> None:
    order = [what for what, _ in behaviour[0]["order"]]
    assert order[:2] == ["now", "microtask"]
    assert order[2:5] == ["idle", "after idle", "idle 2"]
    timed = [
        "timer 0",
        "blocking",
        "message",
        "visible",
        "background",
        "timer 2",
        "timer 2 again",
        "timer 4",
        "after timer 4",
    ]
    assert order[5:] == [*timed, "frame", "after frame", "frame 2"]


def test_timers_keep_the_rules_of_the_platform(behaviour: list[dict[str, Any]]) -> None:
    told = behaviour[0]
    assert told["nesting"]["rows"] == [0, 0, 0, 0, 0, 4, 8, 12, 16]
    delays = {"0": 0, "-5": 0, "NaN": 0, "1": 1, "4294967303": 7, "10.9": 10, "16.67": 16, "20": 20, "33": 33}
    assert dict(told["delays"]) == delays
    assert told["cleared"] == ["first", "frame", 2]


def test_messages_and_tasks_of_the_page_take_their_turn(behaviour: list[dict[str, Any]]) -> None:
    loop, own, copied, moved, *tasks = behaviour[0]["messages"]
    assert loop == ["500 messages", 50]
    assert own == ["self", True, True]
    assert (copied, moved) == (1, [7, 0]), "a message is copied when it is posted, a buffer moved"
    assert tasks == ["task", "later", None, "RangeError: mine", "stopped"]


def test_a_loop_that_waits_for_the_clock_ends(behaviour: list[dict[str, Any]]) -> None:
    assert behaviour[0]["waiting"]["reads"] > 5000


def test_performance_entries_and_dates_are_of_the_virtual_time(behaviour: list[dict[str, Any]]) -> None:
    entries, dates = behaviour[0]["entries"], behaviour[0]["dates"]
    assert (entries["duration"], entries["whole"], entries["timing"]) == (30, 0, 0)
    assert sorted(entries["kinds"]) == ["mark", "measure"]
    assert sorted(entries["seen"]) == ["a", "ab", "all", "b"]
    assert dates["format"][:2] == ["Thursday, 1 January 2026", "Thursday, 1 January 1970"]
    assert (dates["locale"], dates["temporal"], dates["modified"]) == (
        "01/01/2026",
        "2026-01-01",
        "01/01/2026",
    )
    assert (dates["near"], dates["file"], dates["event"], dates["year"]) == (True, 0, 0, 2026)


def test_animations_end_in_the_frame_they_are_due_in_shadow_trees_too(
    behaviour: list[dict[str, Any]],
) -> None:
    ends = {
        (name, kind): frame for name, kind, *rest in behaviour[0]["animations"] if rest for frame in rest[:1]
    }
    first = ends["css", "animationstart"]
    assert ends["css", "animationiteration"] - first in (15, 16), "0.25 s"
    assert ends["css", "animationend"] - first == 30
    assert ends["shadow", "animationend"] in (5, 6, 7)
    assert ends["transition", "transitionend"] in (12, 13)
    assert ends["web", "finish"] in (18, 19)


def test_loads_take_no_time_and_come_in_the_order_of_asking(behaviour: list[dict[str, Any]]) -> None:
    told = behaviour[0]
    order = [what for what, _ in told["loads"]]
    events = ["file", "image", "xhr 80", "xhr 5"]
    promises = [
        "quick",
        "missing 404",
        "TypeError",
        "json",
        "bytes",
        "digest",
        "compiled",
        "bitmap",
        "fonts",
        "image/png",
    ]
    assert order == [*events, *promises, "slow 96", "frames"], "the slow answer's text is asked for last"
    assert told["loads"][-1][1] == 0
    assert told["storage"] == [0, "value", 0, 0]
    assert [frames - told["modules"][0][2] for *_, frames in told["modules"][1:]] == [0]
    assert told["asking"] == 2


def test_waits_for_memory_and_signals_end_by_the_clock(behaviour: list[dict[str, Any]]) -> None:
    assert behaviour[0]["memory"] == [True, "timed-out", 40, 1, "ok", "not-equal", "TimeoutError", 30]


def test_pointer_lock_is_granted_in_the_frame_that_asked(behaviour: list[dict[str, Any]]) -> None:
    (_, clicked), (_, locked, changed), _ = behaviour[0]["locks"]
    assert locked
    assert changed == clicked


def test_a_script_draws_and_counts_apart_from_the_game(
    behaviour: list[dict[str, Any]], looking: Looking
) -> None:
    told = behaviour[0]["script"]
    looking.open("behave.html", seed=5)
    alone = looking.call("[Math.random(), Math.random()]")
    assert [told["game"][0], told["game"][2]] == alone
    assert [told["game"][1], told["game"][3]] == [3, 5], "timer numbers of the game alone"
    assert told["own"][1] and told["own"][4], "and the script's"
    assert told["own"][0] not in alone


def test_what_is_never_answered_is_let_go_and_named(behaviour: list[dict[str, Any]]) -> None:
    for told in behaviour:
        came, frames = told["never"]
        assert not came
        assert 5 <= frames <= 7, "100 ms"
        assert [what for _, what in told["seen"]["late"]] == ["fetch"]


def test_what_no_clock_drives_is_named(looking: Looking) -> None:
    looking.open("behave.html", seed=5)
    looking.frames(2)
    looking.call('void new Worker(URL.createObjectURL(new Blob(["postMessage(1)"])))')
    looking.call('void new SharedWorker("module.js")')
    looking.call('void crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt"])')
    looking.call('new BroadcastChannel("x").postMessage(1)')
    looking.frames(2)
    looking.call("void requestAnimationFrame(() => import('data:text/javascript,'))")
    looking.frames(3)
    late = [what for _, what in looking.seen()["late"]]
    assert late[0].startswith("a worker runs blob:") and late[0].endswith(": its time is not driven")
    assert late[1:] == [
        "a shared worker runs module.js: its time is not driven",
        "crypto.subtle.generateKey may draw true randomness",
        "a BroadcastChannel carries messages in its own time",
        "a module of a blob: or data: address runs in its own time",
    ]
    assert "worker" in {kind for kind, _ in looking.seen()["findings"]}
