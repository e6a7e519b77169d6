"""Each case is a real page in tests/cases/witness/pages, watched in a container by tests/cases/witness/watch.py."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .conftest import Box, Lines

CASES = Path(__file__).parents[3] / "cases" / "witness"

pytestmark = [pytest.mark.docker, pytest.mark.browser]

Act = Sequence[Any]
CLICK: list[Act] = [["move", 50, 50], ["button_down", "left"], ["button_up", "left"]]
KEY: list[Act] = [["key_down", "KeyW"], ["key_up", "KeyW"]]


@dataclass(frozen=True)
class Watched:
    seen: list[list[Any]]  # what the page's own listeners saw
    events: list[dict[str, Any]]
    kinds: dict[str, int]
    findings: list[dict[str, Any]]
    before: list[dict[str, Any]]
    left: list[dict[str, Any]]

    def trusted(self, *kinds: str) -> list[str]:
        return [one["type"] for one in self.events if one["trusted"] and one["type"] in kinds]

    def synthetic(self, key: str = "code") -> list[Any]:
        return [one[key] for one in self.events if not one["trusted"]]

    def found(self) -> list[str]:
        return [one["kind"] for one in self.findings]

    def left_over(self) -> list[str]:
        return [one["kind"] for one in self.left]


class Watch:
    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def visit(self, page: str, *acts: Act, start_late: bool = False) -> Watched:
        return Watched(**self._lines.ask({"page": page, "acts": acts, "start_late": start_late}))


@pytest.fixture(scope="module")
def watch(box: Box) -> Iterator[Watch]:
    box.put_tree(CASES, "/tmp/witness")
    with box.container.open_exec(["python3", "/tmp/witness/watch.py"]) as channel:
        yield Watch(Lines(channel))


def page(code: str) -> Act:
    return ["page", f"async () => {{ {code} }}"]


# Honest sessions


def test_moves_clicks_and_keys_reconcile_with_nothing_left(watch: Watch) -> None:
    watched = watch.visit(
        "game.html",
        ["mouse.moveTo", 200.4, 120.7, 120],
        ["mouse.move", -37.5, 12.25],
        ["mouse.click", "left"],
        ["mouse.click", "right"],
        ["mouse.click", "middle"],
        ["mouse.down", "left"],
        ["mouse.down", "right"],
        ["mouse.move", 60, 0, 100],
        ["mouse.up", "left"],
        ["mouse.up", "right"],
        ["keyboard.press", "KeyW", None, 30],
        [
            "together",
            ["mouse.move", 100, 30, 300],
            ["keyboard.press", "Shift", None, 100],
            ["mouse.click", "left"],
        ],
        ["mouse.moveToLatest", 20, 20],
        ["wait", 0.5],
    )
    assert watched.left == []
    assert watched.findings == []
    assert watched.trusted("click", "keydown") == ["click", "click", "keydown", "keydown", "click"]
    assert [kind for kind, trusted, _ in watched.seen if not trusted] == []


def test_a_pointer_outside_the_page_and_moves_sent_at_once_reconcile(watch: Watch) -> None:
    at_once = [["move", 20 + 3.3 * step, 30 + step] for step in range(12)]
    outside = [["move", -80, 50], *CLICK[1:], ["move", 3000, -20], ["move", 40, 40], *CLICK[1:]]
    watched = watch.visit("game.html", *CLICK, ["together", *at_once], *CLICK[1:], *outside)
    assert watched.left == []


def test_a_locked_pointer_reconciles_by_its_movements(watch: Watch) -> None:
    lock = page("await board.requestPointerLock()")
    leave = page("document.exitPointerLock(); await new Promise((done) => setTimeout(done, 100))")
    around = [
        ["mouse.move", 300.5, -20.25],
        ["mouse.move", -900, 400, 900],
        *CLICK[1:],
        ["mouse.move", 40.1, 7],
    ]
    watched = watch.visit("game.html", *CLICK, lock, *around, leave, *CLICK, lock, *around, leave, *CLICK)
    assert watched.left == []
    assert any(event["locked"] and event["dx"] for event in watched.events)


def test_the_browsers_own_controls_explain_what_they_swallow(watch: Watch) -> None:
    watched = watch.visit(
        "game.html",
        *[["move", 420, 10], *CLICK[1:]],  # a disabled button
        *[["move", 420, 40], *CLICK[1:], *KEY, ["key_down", "Enter"], ["key_up", "Enter"]],
        *[["move", 520, 40], *CLICK[1:], ["wait", 0.3], ["key_down", "ArrowDown"], ["key_up", "ArrowDown"]],
        *[["move", 520, 320], *CLICK[1:], ["wait", 0.3]],
        *[["move", 420, 80], *CLICK[1:], ["key_down", "Space"], ["key_up", "Space"]],
        *[["move", 420, 110], CLICK[1], ["move", 440, 110], ["move", 470, 112], CLICK[2]],
        *[["move", 420, 150], CLICK[1], ["move", 425, 155], ["move", 450, 200], ["move", 300, 300], CLICK[2]],
        *[["move", 100, 250], ["move", 130, 260], *CLICK[1:], *KEY],
        *CLICK,
    )
    assert watched.left == []
    assert {"dragend", "change", "input"} <= set(watched.trusted("dragend", "change", "input"))


def test_a_slow_page_reconciles(watch: Watch) -> None:
    lock = page("await lock()")
    moves = [["mouse.move", 200, 80], *CLICK[1:], ["mouse.move", -120, -30], ["mouse.click", "right"]]
    together = ["together", ["mouse.move", 150, 10, 400], ["keyboard.press", "KeyD"], ["mouse.click", "left"]]
    watched = watch.visit("slow.html", *CLICK, *moves, *KEY, lock, *moves, together, *KEY)
    assert watched.left == []
    assert watched.findings == []


# Hiding


def test_a_page_that_stops_and_overrides_everything_hides_nothing(watch: Watch) -> None:
    watched = watch.visit("hiding.html", *CLICK, *KEY, page("window.stop()"), ["move", 90, 90], *CLICK[1:])
    assert watched.left == []
    expected = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]
    assert watched.trusted(*expected) == expected * 2
    assert watched.trusted("keydown", "keyup") == ["keydown", "keyup"]
    down = next(event for event in watched.events if event["type"] == "pointerdown")
    assert (down["button"], down["x"], down["y"], down["screen_x"] - down["x"] >= 0) == (0, 50, 50, True)
    key = next(event for event in watched.events if event["type"] == "keydown")
    assert (key["code"], key["key"]) == ("KeyW", "w")
    assert {"form#trap < body < html", "html"} & {event["target"] for event in watched.events}


def test_events_in_shadow_trees_and_frames_are_seen(watch: Watch) -> None:
    places = [(50, 25), (170, 25), (50, 85), (170, 85), (270, 75)]
    acts = [act for x, y in places for act in (["move", x, y], *CLICK[1:], *KEY)]
    watched = watch.visit("places.html", *acts)
    assert watched.left == []
    assert watched.trusted("pointerdown") == ["pointerdown"] * 5
    assert watched.trusted("keydown") == ["keydown"] * 5
    assert {event["document"] for event in watched.events} == {"top", "frame 1", "frame 2", "frame 3"}


def test_a_frame_that_may_run_no_script_is_seen_into(watch: Watch) -> None:
    watched = watch.visit("quietframe.html", *CLICK, *KEY, page("press()"))
    assert watched.left_over() == ["synthetic"]
    assert watched.trusted("pointerdown", "click", "keydown") == ["pointerdown", "click", "keydown"]
    assert len(watched.seen) == 4  # the page, too, listens there


def test_an_event_that_no_tape_has_is_found(watch: Watch) -> None:
    watched = watch.visit(
        "game.html", *CLICK, ["forget", ["key_down", "KeyA"]], ["forget", ["key_up", "KeyA"]]
    )
    assert watched.left_over() == ["untaped"] * 3  # keydown, keypress, keyup
    assert "keydown KeyA" in watched.left[0]["detail"]


def test_a_move_that_no_tape_has_is_found(watch: Watch) -> None:
    watched = watch.visit("game.html", *CLICK, ["forget", ["move", 150, 70]], *CLICK)
    assert set(watched.left_over()) == {"untaped"}


def test_document_open_is_found_and_events_after_it_are_seen(watch: Watch) -> None:
    watched = watch.visit("reopened.html", *CLICK, page("reopen()"), *KEY, *CLICK, page("press('KeyA')"))
    assert watched.found() == ["document_opened"]
    assert watched.trusted("keydown", "click") == ["click", "keydown", "click"]
    assert [one["kind"] for one in watched.left] == ["synthetic"]
    assert len(watched.events) == len({str(sorted(one.items(), key=str)) for one in watched.events})


def test_events_hidden_behind_document_open_leave_their_dispatches_over(watch: Watch) -> None:
    watched = watch.visit("reopened.html", *CLICK, page("reopenAndHide()"), *KEY)
    assert watched.found() == ["document_opened"]
    assert watched.left_over() == ["untaped", "unseen", "unseen"]  # a keypress without its keydown


def test_a_flood_is_counted_not_kept_and_hides_nothing(watch: Watch) -> None:
    watched = watch.visit("flooding.html", page("flood(100000)"), page("focusAndLeave(20000)"), *CLICK, *KEY)
    assert watched.kinds["mousemove False"] == 2000
    assert set(watched.found()) == {"flood"}
    assert watched.kinds["keydown True"] == 1
    assert watched.left_over() == ["synthetic"]
    assert "2000 times" in watched.left[0]["detail"]


# Forging


@pytest.mark.parametrize(
    "way", ["onInstance", "onPrototype", "bySubclass", "byProxy", "bySetter", "again", "byCall", "byInit"]
)
def test_no_event_of_page_code_passes_for_trusted(watch: Watch, way: str) -> None:
    watched = watch.visit("forging.html", *KEY, page(f"forge('{way}')"), *KEY)
    assert watched.left_over() == ["synthetic"]
    assert len(watched.synthetic()) == 1
    assert watched.trusted("keydown", "keyup", "click") == ["keydown", "keyup"] * 2


def test_synthetic_events_are_seen_wherever_they_are_made(watch: Watch) -> None:
    watched = watch.visit("places.html", page("pressEverywhere()"))
    assert watched.synthetic() == [f"Key{letter}" for letter in "ABCDEFGHI"]
    assert set(watched.found()) == {"late_frame"}


def test_what_the_witness_cannot_see_is_what_the_documentation_says(watch: Watch) -> None:
    assert watch.visit("places.html", page("pressUnseen()")).synthetic() == []


def test_a_trusted_consequence_that_page_code_made_has_no_cause(watch: Watch) -> None:
    type_text = "document.getElementById('name').focus(); document.execCommand('insertText', false, 'x')"
    watched = watch.visit("game.html", page(type_text))
    assert watched.left_over() == ["untaped"]
    assert "input" in watched.left[0]["detail"]


# What it cannot look into


@pytest.mark.parametrize(
    ("way", "kind"),
    [
        ("popup", "popup"),
        ("link", "popup"),
        ("worker", "worker"),
        ("shared", "worker"),
        ("service", "worker"),
        ("download", "download"),
        ("frame", "late_frame"),
        ("sandbox", "separate_frame"),
        ("site", "separate_frame"),
    ],
)
def test_what_the_witness_cannot_look_into_is_a_finding(watch: Watch, way: str, kind: str) -> None:
    watched = watch.visit("elsewhere.html", page(f"await go('{way}')"), ["wait", 0.4])
    assert kind in watched.found()


def test_what_a_game_does_while_it_loads_is_kept_apart(watch: Watch) -> None:
    watched = watch.visit("places.html", start_late=True)
    assert watched.findings == []
    assert watched.before == []


def test_a_page_that_searches_for_the_witness_finds_nothing(watch: Watch) -> None:
    watched = watch.visit("searching.html", *KEY, ["wait", 0.5])
    assert watched.seen == [[], [], []]
    assert watched.trusted("keydown") == ["keydown"]
