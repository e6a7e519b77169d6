"""The page's log, in the words that agents read, in real Chromium."""

import pytest

from .conftest import Stand

pytestmark = [pytest.mark.docker, pytest.mark.browser]


def test_console_calls_read_as_strings_and_json(stand: Stand) -> None:
    logs = stand.play(
        """
        console.log("plain", 1, true, null, undefined, { a: [1, "x"], b: { c: 0.5 } }, [1, "two"]);
        console.info("i"); console.warn("w"); console.error("e"); console.debug("d"); console.log("é\\u2028");
        console.log(new Error("logged"));"""
    ).logs
    assert logs[:6] == [
        '[log] plain 1 true null undefined {"a":[1,"x"],"b":{"c":0.5}} [1,"two"]',
        "[info] i",
        "[warning] w",
        "[error] e",
        "[debug] d",
        "[log] é\u2028",
    ]
    assert logs[6].startswith("[log] Error: logged\n    at http://127.0.0.1:")


def test_page_errors_are_uncaught_exceptions_and_unhandled_rejections(stand: Stand) -> None:
    logs = stand.play(
        """
        setTimeout(() => { throw new RangeError("later"); }); Promise.reject(new Error("rejected"));
        setTimeout(() => { throw "text"; }); await new Promise((done) => setTimeout(done, 300));"""
    ).logs
    assert any(line.startswith("[page error] RangeError: later\n    at ") for line in logs)
    assert any(line.startswith("[page error] Error: rejected\n    at ") for line in logs)
    assert "[page error] text" in logs


def test_failed_requests_and_bad_answers_are_logged(static_stand: Stand) -> None:
    logs = static_stand.play(
        """
        await fetch("/missing.json"); await fetch("http://example.com/x").catch(() => 0); await fetch("/favicon.ico");
        const stop = new AbortController(); const asked = fetch("/game/", { signal: stop.signal }).catch(() => 0); stop.abort(); await asked;"""
    ).logs
    assert any(
        line.startswith("[http 404] http://127.0.0.1:") and line.endswith("/missing.json") for line in logs
    )
    assert "[request failed] http://example.com/x net::ERR_NAME_NOT_RESOLVED" in logs
    assert not any("favicon" in line for line in logs)


def test_dialogs_are_dismissed_and_popups_closed_and_both_said(stand: Stand) -> None:
    played = stand.play(
        """
        alert("look"); const sure = confirm("sure?"); const name = prompt("name?");
        console.log(JSON.stringify([sure, name])); window.open("/?popup"); await new Promise((done) => setTimeout(done, 1500));"""
    )
    assert played.value == [False, None]
    assert "[dialog] alert dismissed: look" in played.logs
    assert any(line.startswith("[popup] ") and line.endswith("was closed") for line in played.logs)


def test_a_page_that_logs_without_end_is_capped(stand: Stand) -> None:
    logs = stand.play("for (let k = 0; k < 1500; k++) console.log(k, { k });").logs
    assert len(logs) <= 1001
    assert logs[10] == '[log] 10 {"k":10}'


def test_nothing_of_the_drivers_own_is_in_the_log(stand: Stand) -> None:
    stand.open()
    assert stand.play('console.log("only this");').logs == ["[log] only this"]
