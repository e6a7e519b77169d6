"""How runs end, who may drive, and what is noted, in real Chromium."""

import pytest

from harness.replay.driver.runner import combine

from .conftest import PRELUDE, Stand

pytestmark = [pytest.mark.docker, pytest.mark.browser]

NOT_A_RUN = "Input must originate from an active Vitexec script."
OTHER_RUN = "Another Vitexec run owns this page's input."
OUTSIDE = "Vitexec input is unavailable outside a running Vitexec script."


def test_done_means_that_top_level_await_is_done(stand: Stand) -> None:
    played = stand.play('await new Promise((done) => setTimeout(done, 300)); console.log("end");')
    assert (played.status, played.said) == ("done", ["end"])
    assert played.results[0]["duration_ms"] >= 300


def test_an_error_is_rethrown_with_message_and_stack(stand: Stand) -> None:
    played = stand.play(
        'function inner() { throw new TypeError("it broke"); }\\ninner();'.replace("\\n", "\n")
    )
    assert (played.status, played.message) == ("error", "it broke")
    assert "TypeError: it broke\n    at inner (http://127.0.0.1:" in played.results[0]["stack"]
    assert stand.play('throw "a text";').message == "a text"
    assert stand.play("throw { code: 5 };").status == "error"


def test_an_aggregate_error_of_the_scripts_own_is_rethrown(stand: Stand) -> None:
    played = stand.play('throw new AggregateError([new Error("one"), new Error("two")], "both broke");')
    assert (played.status, played.message) == ("error", "both broke")


def test_a_script_that_cannot_be_compiled_says_where(stand: Stand) -> None:
    played = stand.play("const x = ;")
    assert played.status == "error"
    assert "Unexpected token" in played.message
    missing = stand.play('import "/src/nowhere.ts";')
    assert missing.status == "error"
    assert "nowhere" in missing.message
    assert (
        "does not provide an export named 'nothing'"
        in stand.play('import { nothing } from "/src/state.ts"; nothing();').message
    )


def test_a_script_shares_the_games_modules(stand: Stand) -> None:
    found = stand.play(
        PRELUDE
        + "const before = state.count; await until(() => state.count > before); say([state.ready, state.count > before]);"
    )
    assert found.value == [True, True]


def test_one_run_drives_and_another_is_refused_until_it_ends(stand: Stand) -> None:
    first = PRELUDE + 'await keyboard.down("KeyW"); await sleep(1500); say("first");'
    second = PRELUDE + 'await sleep(500); say(await refused(() => keyboard.press("KeyA")));'
    played = stand.play(first, second)
    assert [result["status"] for result in played.results] == ["done", "done"]
    assert f'"{OTHER_RUN}"' in played.said
    assert played.sent("key.down") == [["key.down", "KeyW"]]
    assert stand.play(PRELUDE + 'say(await refused(() => keyboard.press("KeyA")));').value == "no error"


def test_input_outside_any_run_throws_at_once(stand: Stand) -> None:
    played = stand.play(
        """
        const { mouse } = await import("/@vitexec/client.js");
        try { mouse.click(); console.log("no error"); } catch (error) { console.log(error.message); }"""
    )
    assert played.said == [OUTSIDE]


def test_input_after_the_end_of_a_run_is_refused_and_noted(stand: Stand) -> None:
    stand.play(
        PRELUDE
        + 'setTimeout(async () => { Object.assign(globalThis, { late: await refused(() => keyboard.press("KeyW")) }); }, 300);'
    )
    played = stand.play(
        "await new Promise((done) => setTimeout(done, 800)); console.log(JSON.stringify(globalThis.late));"
    )
    assert played.value == NOT_A_RUN
    assert played.sent() == []


def test_calls_around_the_client_are_refused_and_noted(stand: Stand) -> None:
    played = stand.play(
        PRELUDE
        + """
        await keyboard.press("KeyW");
        const connect = (globalThis as never)[Symbol.for("vitexec.connect")] as (run: string) => { call(...words: unknown[]): Promise<void> };
        const run = new URL(import.meta.url).searchParams.get("vitexec")!;
        say([
          await refused(() => connect("f00").call("mouse.stop")), await refused(() => connect(run).call("keyboard.press", "KeyA")),
          await refused(() => connect(run).call("mouse.wheel", 5, 5)), await refused(() => keyboard.press("KeyD")),
        ]);"""
    )
    assert played.value == [NOT_A_RUN, NOT_A_RUN, NOT_A_RUN, "no error"]
    assert played.bypasses == ["the run is not active", "not the client of the run", "there is no such call"]
    assert played.sent("key.down") == [["key.down", "KeyW"], ["key.down", "KeyD"]]


def test_the_host_holds_against_a_page_that_replaced_everything(stand: Stand) -> None:
    played = stand.play(
        PRELUDE
        + """
        const stringify = JSON.stringify, json = (value: unknown) => stringify(value);
        Object.assign(Array.prototype, { toJSON: () => "forged" }); Object.assign(Object.prototype, { toJSON: () => "forged" });
        const own = globalThis.Promise; JSON.stringify = () => "[]"; Number.isFinite = () => true;
        globalThis.Promise = class { constructor() { throw new Error("no"); } } as never;
        const found = [await refused(() => mouse.move(NaN, 0)), await refused(() => keyboard.press("KeyW"))];
        globalThis.Promise = own; JSON.stringify = stringify;
        delete (Array.prototype as never as Record<string, unknown>).toJSON; delete (Object.prototype as never as Record<string, unknown>).toJSON;
        say(found);"""
    )
    assert played.value == ["Vitexec mouse coordinates must be finite numbers.", "no error"]
    assert played.bypasses == []


def test_a_timeout_cuts_the_script_off_and_its_input_with_it(stand: Stand) -> None:
    played = stand.play(
        PRELUDE + 'say(1); while (true) { await sleep(100); await refused(() => keyboard.press("KeyW")); }',
        timeout_s=2,
    )
    assert (played.status, played.message) == ("timeout", "Vitexec script timed out after 2s.")
    stand.open()


def test_a_script_that_waits_for_ever_is_a_timeout(stand: Stand) -> None:
    assert stand.play("await new Promise(() => {});", timeout_s=2).status == "timeout"


def test_a_page_that_hangs_is_told_from_one_that_is_slow(stand: Stand) -> None:
    slow = stand.play("const end = performance.now() + 3000; while (performance.now() < end);", timeout_s=60)
    assert slow.status == "done"
    hung = stand.play("for (;;);", timeout_s=60, hang_after_s=4)
    assert hung.status == "page_hung"
    assert "no answer for 4s" in hung.message
    stand.open()
    cut_off = stand.play("for (;;);", timeout_s=3)
    assert cut_off.status == "page_hung"
    assert "cut off after 3s" in cut_off.message
    stand.open()


def test_a_page_that_leaves_is_navigated_away(stand: Stand) -> None:
    played = stand.play('location.href = "/?next"; await new Promise(() => {});')
    assert (played.status, played.message) == (
        "navigated_away",
        "The page navigated away while the script ran.",
    )
    assert any(line.startswith("[navigation] navigated http://127.0.0.1:") for line in played.logs)
    stayed = stand.play('history.pushState({}, "", "/level-2"); location.hash = "#x"; console.log("here");')
    assert stayed.status == "done"
    assert any(line.endswith("/level-2#x") for line in stayed.logs)


def test_a_page_that_crashes_is_page_crashed(stand: Stand) -> None:
    played = stand.play(PRELUDE + "await keyboard.down('KeyW'); await sleep(60000);", crash_after_s=1)
    assert (played.status, played.message) == ("page_crashed", "The page crashed.")
    stand.open()
    assert stand.play("console.log(1);").status == "done"


def test_one_error_is_rethrown_and_several_become_an_aggregate_error() -> None:
    done, thrown = ("done", "", ""), ("error", "boom", "Error: boom\n    at x")
    assert combine(done, []) == ("done", "", "", ())
    assert combine(thrown, []) == ("error", "boom", "Error: boom\n    at x", ())
    assert combine(done, ["late"]) == ("error", "late", "late", ())
    both = combine(thrown, ["late"])
    assert both[0] == "error"
    assert both[1] == "AggregateError: 2 errors: boom; late"
    assert both[3] == ("boom", "late")
    assert combine(("timeout", "cut off", ""), ["late"]) == ("timeout", "cut off", "", ())
