"""Every row of the interface's mouse table, in real Chromium."""

import pytest

from .conftest import PRELUDE, Stand

pytestmark = [pytest.mark.docker, pytest.mark.browser]

ALREADY = "Vitexec mouse is already moving."
NOT_FINITE = "Vitexec mouse coordinates must be finite numbers."
BAD_DURATION = "Vitexec input duration must be a finite number greater than zero."
TOO_LONG = "Vitexec mouse movement duration must be at most 1500ms."
SAME = "Vitexec mouse movement requires a different destination."


def test_mouse_and_keyboard_events_are_trusted(stand: Stand) -> None:
    found = stand.play(
        PRELUDE
        + """
        await mouse.moveTo(50, 60); await mouse.click(); await keyboard.press("KeyW");
        say(seen.map((event) => [event.type, event.detail, event.trusted]));"""
    ).value
    assert all(trusted for _, _, trusted in found)
    named = [f"{kind} {detail}" for kind, detail, _ in found if kind != "mousemove"]
    assert named == ["mousedown 0", "mouseup 0", "click 0", "keydown KeyW", "keyup KeyW"]


def test_a_settled_move_adds_up_exactly_and_sends_every_step(stand: Stand) -> None:
    played = stand.play(
        PRELUDE
        + """
        await mouse.moveTo(10, 20); await sleep(50); seen.length = 0;
        await mouse.move(600, 100); await sleep(50); say([total("dx"), total("dy"), seen.at(-1)!.x, seen.at(-1)!.y]);"""
    )
    assert played.value == [600, 100, 610, 120]
    moves = played.sent("mouse.move")
    assert moves[-1] == ["mouse.move", 610, 120]
    assert len(moves) == 5 + 46
    assert any(x != int(x) for _, x, _ in moves)


def test_the_rules_of_settled_moves_have_these_words_in_this_order(stand: Stand) -> None:
    played = stand.play(
        PRELUDE
        + """
        await mouse.moveTo(10, 10);
        const moving = mouse.move(200, 0);
        say([
          await refused(() => mouse.move(NaN, 0)), await refused(() => mouse.moveTo(1, 1, { durationMs: -1 })),
          await refused(() => mouse.moveLatest(1, 1)), await refused(() => mouse.moveToLatest(1, 1)),
        ]);
        await moving;
        const at = [210, 10] as const;
        say([
          await refused(() => mouse.move(NaN, 0)), await refused(() => mouse.moveTo(Infinity, 0, { durationMs: -1 })),
          await refused(() => mouse.move("5" as never, 0)), await refused(() => (mouse.move as never as () => Promise<void>)()),
          await refused(() => mouse.move(0, 0, { durationMs: -1 })), await refused(() => mouse.moveTo(...at)),
          await refused(() => mouse.move(5, 0, { durationMs: 0 })), await refused(() => mouse.move(5, 0, { durationMs: NaN })),
          await refused(() => mouse.move(5000, 0, { durationMs: 1500.5 })), await refused(() => mouse.move(1300, 0)),
          await refused(() => mouse.move(1300, 0, { durationMs: 100 })),
        ]);"""
    )
    assert played.said[0] == f'["{ALREADY}","{ALREADY}","{ALREADY}","{ALREADY}"]'
    assert played.value == [
        *[NOT_FINITE] * 4,
        "no error",
        "no error",
        BAD_DURATION,
        BAD_DURATION,
        TOO_LONG,
        "Vitexec mouse movement requires 1625ms.",
        "Vitexec mouse movement requires 1625ms.",
    ]


def test_less_than_a_pixel_moves_one_and_no_distance_sends_nothing(stand: Stand) -> None:
    played = stand.play(
        PRELUDE
        + """
        await mouse.moveTo(100, 100); await mouse.moveTo(100, 100); await mouse.move(0.2, -0.4); await mouse.move(0, 0);"""
    )
    moves = played.sent("mouse.move")
    assert moves[-1][1:] == [101, 99]
    assert len(moves) == len([move for move in moves if move[1:] != [100, 100]]) + 1


def test_a_move_takes_at_least_the_time_that_was_asked_for(stand: Stand) -> None:
    found = stand.play(
        PRELUDE
        + """
        const start = performance.now(); await mouse.move(3, 0, { durationMs: 400 }); const first = performance.now();
        await mouse.move(3, 0); say([first - start, performance.now() - first]);"""
    ).value
    assert found[0] >= 399
    assert found[1] >= 79


def test_stop_cancels_and_the_cancelled_move_resolves(stand: Stand) -> None:
    played = stand.play(
        PRELUDE
        + """
        await mouse.stop(); await mouse.moveTo(0, 0); seen.length = 0;
        const moving = mouse.move(600, 0); await until(() => total("dx") > 20);
        await mouse.stop(); await moving; await sleep(50); const x = total("dx");
        await sleep(200); say([x, total("dx")]);"""
    )
    assert played.status == "done", played
    stopped, later = played.value
    assert 20 < stopped == later < 600


def test_a_latest_move_goes_on_in_the_background_in_straight_steps(stand: Stand) -> None:
    played = stand.play(
        PRELUDE
        + """
        await mouse.moveTo(0, 100); seen.length = 0;
        await mouse.moveToLatest(50.4, 100.4); const busy = await refused(() => mouse.move(1, 1));
        await sleep(1000); const there = await refused(() => mouse.moveToLatest(50, 100));
        await mouse.moveLatest(0.3, 0); say([busy, there]);"""
    )
    assert played.value == [ALREADY, SAME]
    points = [move[1:] for move in played.sent("mouse.move")]
    assert points[-4:] == [[20, 100], [40, 100], [50, 100], [51, 100]]


def test_a_newer_latest_move_replaces_the_older_and_stop_ends_it(stand: Stand) -> None:
    played = stand.play(
        PRELUDE
        + """
        await mouse.moveTo(100, 100);
        mouse.moveToLatest(600, 100); await mouse.moveToLatest(100, 300); await mouse.stop(); say("stopped");"""
    )
    points = [move[1:] for move in played.sent("mouse.move")]
    assert [120, 100] in points
    assert max(x for x, _ in points[-2:]) <= 120
    assert played.value == "stopped"


def test_a_latest_move_ends_with_its_lease(stand: Stand) -> None:
    played = stand.play(
        PRELUDE
        + """
        await mouse.moveTo(0, 0); await mouse.moveToLatest(100000, 0); await sleep(800); await mouse.move(1, 0);"""
    )
    assert played.status == "done", played.message
    events = [event for event in played.dispatched if event[1] == "mouse.move"]
    started = next(k for k, event in enumerate(events) if event[2] == 20)
    latest = [event for event in events[started:] if event[2] % 20 == 0]
    assert latest[-1][0] - latest[0][0] <= 400
    assert latest[-1][2] < 100000


def test_a_script_drags(stand: Stand) -> None:
    found = stand.play(
        PRELUDE
        + """
        await mouse.moveTo(100, 100); seen.length = 0;
        await mouse.down(); await mouse.move(150, 50); await mouse.up(); await sleep(50);
        say([seen[0].type, seen.at(-2)!.type, seen.at(-1)!.type, total("dx"), seen.at(-1)!.x, seen.at(-1)!.y]);"""
    ).value
    assert found[0] == "mousedown"
    assert set(found[1:3]) <= {"mouseup", "click"}
    assert found[3:] == [150, 250, 150]


def test_clicks_hit_the_canvas_where_the_pointer_is_with_any_button(stand: Stand) -> None:
    found = stand.play(
        PRELUDE
        + """
        addEventListener("contextmenu", (event) => event.preventDefault());
        for (const [button, x] of [["left", 30], ["middle", 60], ["right", 90]] as const) {
          await mouse.moveTo(x, 40); await mouse.click(button);
        }
        say(seen.filter((event) => event.type === "mousedown").map((event) => [event.detail, event.x, event.y]));"""
    ).value
    assert found == [["0", 30, 40], ["1", 60, 40], ["2", 90, 40]]


def test_two_clicks_are_no_double_click_and_a_click_holds_eighty_ms(stand: Stand) -> None:
    found = stand.play(
        PRELUDE
        + """
        await mouse.moveTo(200, 200); seen.length = 0; await mouse.click(); await mouse.click();
        await mouse.click("left", { durationMs: 300 });
        const at = (type: string) => seen.filter((event) => event.type === type).map((event) => event.at);
        say([seen.some((event) => event.type === "dblclick"), ...at("mouseup").map((up, k) => up - at("mousedown")[k])]);"""
    ).value
    assert found[0] is False
    assert all(held >= 75 for held in found[1:3])
    assert found[3] >= 295


def test_a_bad_button_gets_playwrights_own_error(stand: Stand) -> None:
    found = stand.play(PRELUDE + 'say(await refused(() => mouse.down("back" as never)));').value
    assert "button: expected one of (left|right|middle)" in found


def test_looking_around_under_pointer_lock_keeps_its_full_movement(stand: Stand) -> None:
    found = stand.play(
        PRELUDE
        + """
        addEventListener("mousedown", () => (globalThis as never as { lockPointer(): void }).lockPointer(), { once: true });
        await mouse.moveTo(300, 200); await mouse.click(); await until(() => state.locked); await sleep(100); seen.length = 0;
        for (let turn = 0; turn < 3; turn++) await mouse.move(800, -25);
        await mouse.move(-900, 0); await sleep(100);
        say([state.locked, total("dx"), total("dy")]); document.exitPointerLock(); await until(() => !state.locked);"""
    ).value
    assert found == [True, 1500, -75]


def test_the_pointer_starts_at_the_corner_survives_runs_and_is_not_clamped(stand: Stand) -> None:
    stand.open()
    first = stand.play(PRELUDE + "await mouse.move(-300, 500);").sent("mouse.move")
    assert first[-1] == ["mouse.move", -300, 500]
    second = stand.play(PRELUDE + "await mouse.move(310, 0);").sent("mouse.move")
    assert second[-1] == ["mouse.move", 10, 500]
