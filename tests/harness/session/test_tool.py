import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.session.provider import ToolCall
from harness.session.shell import CommandResult
from harness.session.tool import BadCall, Command, read_call, repaired, result_text


def call(arguments: str, name: str = "bash", call_id: str = "a") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def test_a_good_call_is_a_command() -> None:
    assert read_call(call('{"command": "ls", "timeout_s": 3}')) == Command("ls", 3.0)
    assert read_call(call('{"command": "a\nb"}')) == Command("a\nb", None)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ("{not json", "not valid JSON"), ("", "not valid JSON"), ("[1]", "not a JSON object"), ("{}", "'command'"),
        ('{"command": "  "}', "'command'"), ('{"command": 3}', "'command'"), ('{"command": "a\\u0000"}', "NUL"),
        ('{"command": "a", "timeout_s": 0}', "timeout_s"), ('{"command": "a", "timeout_s": "5"}', "timeout_s"),
        ('{"command": "a", "timeout_s": true}', "timeout_s"), ('{"command": "a", "timeout_s": NaN}', "timeout_s"),
    ],
)  # fmt: skip
def test_a_bad_call_says_what_is_wrong(arguments: str, word: str) -> None:
    bad = read_call(call(arguments))
    assert isinstance(bad, BadCall) and word in bad.reason


def test_an_unknown_tool_is_named() -> None:
    bad = read_call(call("{}", name="python"))
    assert isinstance(bad, BadCall) and "python" in bad.reason and "bash" in bad.reason


texts = st.text(max_size=20)


@given(
    st.lists(st.builds(ToolCall, st.sampled_from(["", "a", "b", "call_1_again"]), texts, texts), max_size=6)
)
def test_history_is_always_something_every_server_accepts(calls: list[ToolCall]) -> None:
    kept = repaired(calls)
    assert len(kept) == len(calls)
    assert len({c.id for c in kept}) == len(kept) and all(c.id for c in kept)
    assert all(isinstance(json.loads(c.arguments), dict) for c in kept)
    assert all(c.name and c.name.isascii() and len(c.name) <= 64 for c in kept)


@given(texts)
def test_reading_a_call_never_fails(arguments: str) -> None:
    assert isinstance(read_call(call(arguments)), Command | BadCall)


def result(**told: object) -> CommandResult:
    plain: dict[str, object] = {
        "exit_code": 0, "shown": "", "raw_bytes": 0, "truncated_bytes": 0, "timed_out": False, "cap": None, "notes": (),
        "duration_s": 0.1,
    }  # fmt: skip
    return CommandResult(**(plain | told))  # type: ignore[arg-type]


def test_a_result_tells_status_notes_and_the_time_left() -> None:
    text = result_text(result(exit_code=2, shown="out", notes=("a note",)), 3599)
    assert text == "out\n[a note]\n[exit code 2; 0.1 s; 59 min left]"
    assert result_text(result(exit_code=None, timed_out=True), 42.7).endswith("[timed out; 0.1 s; 42 s left]")


def test_an_error_is_a_status_a_timeout_or_a_cap() -> None:
    assert not result().is_error
    assert result(exit_code=1).is_error and result(cap="memory").is_error and result(timed_out=True).is_error
