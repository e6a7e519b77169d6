"""Tapes are generated, and a small model of the browser makes their events: it merges moves, sums movements of a locked pointer, says
nothing outside the page, and lets an event arrive when the next dispatch is already out."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.replay.driver.device import Dispatch
from harness.replay.driver.reconcile import MOST_FINDINGS, reconcile
from harness.replay.driver.testimony import Finding, WitnessEvent

VIEWPORT = (640, 360)
OFFSET = (10, 97)
NUMBERS = {"left": 0, "middle": 1, "right": 2}
BITS = {"left": 1, "middle": 4, "right": 2}

coordinates = st.floats(-200, 900, allow_nan=False).map(lambda value: round(value, 3))
moves = st.tuples(st.just("move"), coordinates, coordinates, st.booleans())  # the last: merged into the next
presses = st.tuples(
    st.just("press"), st.sampled_from(list(NUMBERS)), st.sampled_from(("both", "pointer", "mouse"))
)
keys = st.tuples(st.just("key"), st.sampled_from(("KeyA", "KeyW", "Space", "ShiftLeft", "ArrowUp")))
locks = st.just(("lock",))
sessions = st.lists(st.one_of(moves, moves, presses, keys, locks), max_size=60)


class Browser:
    """What Chromium would tell of a session."""

    def __init__(self, gap_ms: float = 10.0, late_ms: float = 2.0) -> None:
        self.tape: list[Dispatch] = []
        self.rows: list[WitnessEvent] = []
        self._now = 0.0
        self._gap, self._late = gap_ms, late_ms
        self._place = (0.0, 0.0)
        self._told = (0, 0)  # where movements are counted from
        self._down: set[str] = set()
        self._keys: set[str] = set()
        self._locked = False
        self._first = True

    def play(self, session: list[Any]) -> "Browser":
        for k, (act, *words) in enumerate(session):
            if act == "move":
                follows = session[k + 1][0] if k + 1 < len(session) else None
                self.move(*words[:2], merged=words[2] and follows == "move")
            else:
                getattr(self, act)(*words)
        return self

    def _send(self, kind: Any, *args: Any) -> None:
        self._now += self._gap
        self.tape.append(Dispatch(self._now, kind, args))

    def tell(self, kind: str, **fields: Any) -> None:
        self.rows.append(WitnessEvent(self._now + self._late, 0, "top", kind, True, "canvas", **fields))

    def _pointer(self, kind: str, button: int | None, moved: tuple[int, int] = (0, 0)) -> None:
        x, y = self._place if not self._locked else self._frozen
        if kind.startswith("mouse"):
            x, y = float(int(x)), float(int(y))
        self.tell(
            kind,
            button=button,
            buttons=sum(BITS[one] for one in self._down),
            x=x,
            y=y,
            screen_x=x + OFFSET[0],
            screen_y=y + OFFSET[1],
            dx=float(moved[0]),
            dy=float(moved[1]),
            locked=self._locked,
        )

    def move(self, x: float, y: float, merged: bool) -> None:
        self._send("mouse.move", x, y)
        self._place = (x, y)
        inside = 0 <= x < VIEWPORT[0] and 0 <= y < VIEWPORT[1]
        if merged or not (inside or self._locked):
            return
        now = (int(x + OFFSET[0]), int(y + OFFSET[1]))
        moved = (0, 0) if self._first else (now[0] - self._told[0], now[1] - self._told[1])
        self._told, self._first = now, False
        self._pointer("pointermove", -1, moved)
        self._pointer("mousemove", 0, moved)

    def press(self, button: str, families: str) -> None:
        goes_down = button not in self._down
        self._send("mouse.down" if goes_down else "mouse.up", button)
        chorded = bool(self._down - {button})
        (self._down.add if goes_down else self._down.discard)(button)
        end = "down" if goes_down else "up"
        if families != "mouse":
            self._pointer("pointermove" if chorded else f"pointer{end}", NUMBERS[button])
        if families != "pointer":
            self._pointer(f"mouse{end}", NUMBERS[button])
        if not goes_down and button == "left":
            self.tell("click", button=0)
        self._told, self._first = (int(self._place[0] + OFFSET[0]), int(self._place[1] + OFFSET[1])), False

    def key(self, code: str) -> None:
        goes_down = code not in self._keys
        self._send("key.down" if goes_down else "key.up", code)
        (self._keys.add if goes_down else self._keys.discard)(code)
        self.tell("keydown" if goes_down else "keyup", code=code, key=code)
        if goes_down:
            self.tell("keypress", code=code, key=code)

    def lock(self) -> None:
        """A click where the pointer is, and the lock that it allows; or the end of one."""
        if not self._locked:
            self.move(50, 60, merged=False)
            for _ in range(2 if "left" not in self._down else 3):
                self.press("left", "both")
            self._frozen = self._place
        self._locked = not self._locked
        self.tell("pointerlockchange")


def left(browser: Browser) -> list[Finding]:
    return reconcile(browser.tape, browser.rows, VIEWPORT)


@given(sessions, st.sampled_from((0.0, 2.0, 12.0)))
def test_whatever_the_browser_merges_an_honest_session_leaves_nothing(
    session: list[Any], late_ms: float
) -> None:
    assert left(Browser(late_ms=late_ms).play(session)) == []


pressing = st.lists(st.one_of(moves, presses, keys), min_size=1, max_size=40).filter(
    lambda session: any(act[0] != "move" for act in session)
)


@given(pressing, st.data())
def test_a_dispatch_whose_events_are_missing_is_unseen(session: list[Any], data: st.DataObject) -> None:
    browser = Browser().play(session)
    chosen = data.draw(st.sampled_from([one for one in browser.tape if one.kind != "mouse.move"]))
    when = chosen.t_ms + 2.0
    browser.rows = [row for row in browser.rows if row.t_ms != when]
    found = left(browser)
    assert "unseen" in [one.kind for one in found]
    assert any(f"{chosen.kind} {chosen.args[0]} at {chosen.t_ms:.0f} ms" in one.detail for one in found)


@given(pressing, st.data())
def test_an_event_whose_dispatch_is_missing_is_untaped(session: list[Any], data: st.DataObject) -> None:
    session = [
        act for act in session if act[-1] not in ("pointer", "mouse")
    ]  # half told, one could stand in for the other
    browser = Browser().play(session)
    sent = [one for one in browser.tape if one.kind != "mouse.move"]
    if not sent:
        return
    browser.tape.remove(data.draw(st.sampled_from(sent)))
    assert "untaped" in [one.kind for one in left(browser)]


def test_a_press_told_by_one_family_alone_explains_no_later_press_of_the_other() -> None:
    browser = Browser().play(
        [("press", "middle", "pointer"), ("press", "middle", "both"), ("press", "middle", "mouse")]
    )
    browser.tape.pop()
    assert "untaped" in [one.kind for one in left(browser)]


presses_told = ("keydown", "keyup", "pointerdown", "pointerup", "mousedown", "mouseup")


@given(pressing, st.data())
def test_a_trusted_event_told_twice_is_untaped(session: list[Any], data: st.DataObject) -> None:
    session = [
        act for act in session if act[-1] not in ("pointer", "mouse")
    ]  # half told, one could stand in for the other
    browser = Browser().play(session)
    places = [k for k, row in enumerate(browser.rows) if row.type in presses_told]
    if not places:
        return
    place = data.draw(st.sampled_from(places))
    again = replace(browser.rows[place], t_ms=browser.rows[place].t_ms + 1)
    browser.rows.insert(place + 1, again)
    assert "untaped" in [one.kind for one in left(browser)]


@given(sessions, coordinates, coordinates)
def test_a_move_to_where_no_dispatch_went_is_untaped(session: list[Any], x: float, y: float) -> None:
    session = [act for act in session if act[-1] not in ("pointer", "mouse")]
    browser = Browser().play([*session, ("move", 10, 10, False)])
    inside = replace(browser.rows[-1], locked=False, screen_x=x + 2000.0, screen_y=y + 2000.0)
    browser.rows.append(inside)
    assert [one.kind for one in left(browser)] == ["untaped"]


@given(sessions)
def test_an_event_of_page_code_stands_for_no_dispatch(session: list[Any]) -> None:
    browser = Browser().play(session)
    browser.rows = [replace(row, trusted=False) for row in browser.rows]
    kinds = {one.kind for one in left(browser)}
    assert "untaped" not in kinds
    assert ("synthetic" in kinds) == bool(browser.rows)
    if any(one.kind != "mouse.move" for one in browser.tape):
        assert "unseen" in kinds


texts = st.sampled_from(
    (
        "keydown",
        "mousedown",
        "pointermove",
        "mousemove",
        "input",
        "change",
        "click",
        "wheel",
        "dragstart",
        "odd",
    )
)
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5).map(float)
rows = st.builds(
    WitnessEvent,
    st.floats(0, 1000),
    st.integers(0, 50),
    st.sampled_from(("top", "frame 1")),
    texts,
    st.booleans(),
    st.text(max_size=5),
    st.none() | st.text(max_size=5),
    st.none() | st.text(max_size=5),
    st.booleans(),
    st.none() | st.integers(-2, 9),
    st.none() | st.integers(-2, 9),
    *([numbers] * 6),
    st.booleans(),
)


@given(st.lists(rows, max_size=30), sessions)
@settings(max_examples=50)
def test_any_rows_at_all_are_findings_and_never_an_error(
    told: list[WitnessEvent], session: list[Any]
) -> None:
    for finding in reconcile(Browser().play(session).tape, told):
        assert finding.detail


def told(*kinds: str, gap_ms: float = 1.0, frames: tuple[int, ...] = ()) -> Iterator[WitnessEvent]:
    for k, kind in enumerate(kinds):
        frame = frames[k] if frames else 0
        yield WitnessEvent(100 + k * gap_ms, frame, "top", kind, True, "input", key="a", code="KeyA")


KEY_TAPE = [Dispatch(99, "key.down", ("a",)), Dispatch(99.5, "key.up", ("A",))]


def test_text_follows_from_a_key_and_not_from_nothing() -> None:
    typed = ("keydown", "keypress", "beforeinput", "input", "keyup", "change")
    assert reconcile(KEY_TAPE, list(told(*typed))) == []
    assert [one.kind for one in reconcile([], list(told("input", "change")))] == ["untaped", "untaped"]


def test_a_change_is_said_when_the_focus_leaves_however_long_after_the_typing() -> None:
    first = list(told("keydown", "keypress", "input", "keyup"))
    late = replace(first[0], type="change", t_ms=90_000.0)
    assert reconcile(KEY_TAPE, [*first, late]) == []
    assert [one.kind for one in reconcile(KEY_TAPE, [*first, late, late])] == ["untaped"]


@pytest.mark.parametrize(("frames", "kinds"), [((5, 5, 5), []), ((5, 5, 6), []), ((5, 5, 7), ["untaped"])])
def test_under_the_virtual_clock_a_consequence_comes_with_its_frame(
    frames: tuple[int, ...], kinds: list[str]
) -> None:
    tape = [replace(one, frame=5) for one in KEY_TAPE]
    assert [
        one.kind for one in reconcile(tape, list(told("keydown", "keyup", "click", frames=frames)))
    ] == kinds


def test_a_click_on_a_label_is_two_and_a_third_is_not_explained() -> None:
    browser = Browser().play([("press", "left", "both"), ("press", "left", "both")])
    browser.tell("click", button=0)
    assert left(browser) == []
    browser.tell("click", button=0)
    assert [one.kind for one in left(browser)] == ["untaped"]


@pytest.mark.parametrize("kind", ["wheel", "touchstart", "compositionstart", "repeat", "drop"])
def test_what_the_driver_never_sends_is_untaped(kind: str) -> None:
    event = next(told("keydown" if kind == "repeat" else kind))
    tape = [KEY_TAPE[0]] if kind == "repeat" else []
    found = reconcile(tape, [replace(event, repeat=kind == "repeat")])
    assert "untaped" in [one.kind for one in found]


def test_a_key_that_does_not_exist_was_refused_and_need_not_be_seen() -> None:
    assert (
        reconcile([Dispatch(1, "key.down", ("NoSuchKey",)), Dispatch(2, "mouse.down", ("fourth",))], []) == []
    )


def test_after_the_end_of_the_page_the_reason_is_said() -> None:
    (found,) = reconcile(KEY_TAPE[:1], [])
    assert "it hung, had left or had ended" in found.detail


def test_findings_are_counted_when_they_are_too_many() -> None:
    tape = [Dispatch(float(k), "key.down", ("KeyA",)) for k in range(MOST_FINDINGS + 500)]
    found = reconcile(tape, [])
    assert len(found) == MOST_FINDINGS + 1
    assert found[-1].detail == "and 500 more findings"


def test_a_long_session_is_reconciled_quickly() -> None:
    path = [("move", 100 + k % 400, 50 + k % 200, k % 3 == 0) for k in range(20_000)]
    browser = Browser().play([("lock",), *path, ("lock",), *path])
    assert left(browser) == []
