"""Every row of the interface's table of holds, in real Chromium."""

import pytest

from .conftest import PRELUDE, Stand

pytestmark = [pytest.mark.docker, pytest.mark.browser]

BAD_DURATION = "Vitexec input duration must be a finite number greater than zero."


def test_a_press_holds_eighty_ms_or_as_long_as_asked(stand: Stand) -> None:
    found = stand.play(
        PRELUDE
        + """
        await keyboard.press("KeyW"); await keyboard.press("ArrowLeft", { durationMs: 250 });
        say(seen.map((event) => [event.type, event.detail, event.at]));"""
    ).value
    assert [kind for kind, _, _ in found] == ["keydown", "keyup"] * 2
    assert found[1][2] - found[0][2] >= 75
    assert found[3][2] - found[2][2] >= 245


def test_holds_renew_without_an_event_and_never_repeat(stand: Stand) -> None:
    found = stand.play(
        PRELUDE
        + """
        await keyboard.down("KeyD"); await keyboard.down("KeyD"); await sleep(1200); await keyboard.down("d");
        await keyboard.up("KeyD"); const first = kinds(); await keyboard.up("d"); await keyboard.up("KeyD");
        await mouse.down(); await mouse.down(); await mouse.up(); await mouse.up();
        say([first, kinds(), seen.some((event) => event.repeat)]);"""
    ).value
    assert found == [
        ["keydown KeyD"],
        ["keydown KeyD", "keyup KeyD", "mousedown 0", "mouseup 0", "click 0"],
        False,
    ]


def test_a_hold_with_a_time_is_released_and_a_second_down_clears_or_renews_it(stand: Stand) -> None:
    found = stand.play(
        PRELUDE
        + """
        await keyboard.down("KeyA", { releaseAfterMs: 100 }); await until(() => seen.length === 2); const released = kinds();
        await keyboard.down("KeyA", { releaseAfterMs: 2000 }); await keyboard.down("KeyA"); await sleep(2500); const kept = kinds().length;
        await keyboard.down("KeyA", { releaseAfterMs: 100 }); await until(() => seen.length === 4); say([released, kept, seen.length]);"""
    ).value
    assert found == [["keydown KeyA", "keyup KeyA"], 3, 4]


def test_a_tap_of_what_is_held_is_refused(stand: Stand) -> None:
    found = stand.play(
        PRELUDE
        + """
        await keyboard.down("KeyW"); await mouse.down("right");
        say([await refused(() => keyboard.press("KeyW")), await refused(() => mouse.click("right")), await refused(() => mouse.click())]);"""
    ).value
    assert found == [
        "Vitexec input key:KeyW is already held.",
        "Vitexec input mouse:right is already held.",
        "no error",
    ]


def test_bad_durations_and_bad_keys_are_refused_and_nothing_is_held(stand: Stand) -> None:
    played = stand.play(
        PRELUDE
        + """
        say([
          await refused(() => keyboard.press("KeyW", { durationMs: 0 })), await refused(() => keyboard.down("KeyW", { releaseAfterMs: -1 })),
          await refused(() => mouse.click("left", { durationMs: Infinity })), await refused(() => mouse.down("left", { releaseAfterMs: NaN })),
          await refused(() => keyboard.down("Banana")), await refused(() => keyboard.press("Shift+A")),
          await refused(() => keyboard.up("Banana")), await refused(() => keyboard.down(5 as never)),
        ]);"""
    )
    assert played.value == [
        *[BAD_DURATION] * 4,
        'keyboard.down: Unknown key: "Banana"',
        'keyboard.down: Unknown key: "Shift+A"',
        "no error",
        "keyboard.down: key: expected string, got number",
    ]
    assert played.sent("key.up", "mouse.down", "mouse.up") == []


def test_a_down_after_an_up_in_flight_presses_anew(stand: Stand) -> None:
    found = stand.play(
        PRELUDE
        + """
        await keyboard.down("KeyW"); keyboard.up("KeyW"); await keyboard.down("KeyW"); say(kinds());"""
    ).value
    assert found == ["keydown KeyW", "keyup KeyW", "keydown KeyW"]


def test_keys_and_buttons_never_wait_for_motion(stand: Stand) -> None:
    played = stand.play(
        PRELUDE
        + """
        await mouse.moveTo(10, 10); const moving = mouse.move(500, 0, { durationMs: 1500 });
        await Promise.all([keyboard.press("KeyW"), mouse.click(), moving]);"""
    )
    kinds = [event[0] for event in played.sent()]
    last_move = len(kinds) - 1 - kinds[::-1].index("mouse.move")
    assert kinds.index("key.down") < last_move
    assert kinds.index("mouse.down") < last_move


def test_shift_held_makes_capitals_as_on_a_keyboard(stand: Stand) -> None:
    found = stand.play(
        PRELUDE
        + """
        const keys: string[] = []; addEventListener("keydown", (event) => keys.push(event.key));
        await keyboard.down("Shift"); await keyboard.press("KeyA"); await keyboard.up("Shift"); await keyboard.press("a"); say(keys);"""
    ).value
    assert found == ["Shift", "A", "a"]


def test_everything_held_is_released_at_the_end_and_not_before(stand: Stand) -> None:
    held = stand.play(
        PRELUDE
        + 'await keyboard.down("KeyW"); await mouse.down("left"); keyboard.down("KeyA"); await sleep(300); say(kinds());'
    )
    assert sorted(held.value) == ["keydown KeyA", "keydown KeyW", "mousedown 0"]
    assert sorted(held.sent("key.up", "mouse.up")) == [
        ["key.up", "KeyA"],
        ["key.up", "KeyW"],
        ["mouse.up", "left"],
    ]
    after = stand.play(
        'import { seen } from "/src/state.ts"; console.log(JSON.stringify(seen.filter((event) => event.type.endsWith("up")).length));'
    )
    assert after.value == 3


def test_a_script_that_throws_or_is_late_lets_go_too(stand: Stand) -> None:
    thrown = stand.play(PRELUDE + 'await keyboard.down("KeyW"); throw new Error("boom");')
    assert (thrown.status, thrown.message) == ("error", "boom")
    assert thrown.sent("key.up") == [["key.up", "KeyW"]]
    late = stand.play(
        PRELUDE
        + 'await keyboard.down("KeyS"); mouse.move(500, 0, { durationMs: 1500 }); await sleep(60000);',
        timeout_s=2,
    )
    assert late.status == "timeout"
    assert late.sent("key.up") == [["key.up", "KeyS"]]
