"""Whole sessions: the loop, the real SDK, the real scripted server and a real agent container."""

import base64
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.engine import Container
from harness.session import SessionJob, SessionResult, run_session
from harness.session.journal import read_journal
from harness.session.openai_chat import OpenAIChat
from harness.session.scripted import ScriptedServer, Turn

pytestmark = pytest.mark.docker
KEY = "sk-0123456789-secret"
Hold = Callable[..., SessionResult]


class Held:
    """One session's surroundings; `hold` runs it."""

    def __init__(self, container: Container, folder: Path) -> None:
        self.container = container
        self.folder = folder
        self.server: ScriptedServer | None = None
        self.said: list[str] = []

    def hold(self, *turns: dict[str, Any], session_s: float = 60, **caps: Any) -> SessionResult:
        self.server = ScriptedServer([Turn(**turn) for turn in turns], "scripted:test")
        provider = OpenAIChat("scripted:test", self.server.base_url, key=KEY)
        settings: dict[str, Any] = {"command_s": 30.0} | caps
        job = SessionJob(
            self.container, provider, "the task", self.folder, session_s, say=self.said.append, **settings
        )
        result = run_session(job)
        print(result)
        return result

    def events(self, kind: str) -> list[Any]:
        return [event for event in read_journal(self.folder) if event["event"] == kind]

    def file(self, path: str) -> bytes:
        return self.container.get_file(path, 64 << 20)


@pytest.fixture
def held(new_container: Callable[[], Container], tmp_path: Path) -> Iterator[Held]:
    held = Held(new_container(), tmp_path / "session")
    yield held
    if held.server:
        held.server.close()


def raw_calls(*calls: tuple[str, str, str]) -> dict[str, Any]:
    made = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    message = {"role": "assistant", "content": None, "tool_calls": made}
    return {
        "raw": {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    }


def test_a_session_that_submits_leaves_its_artifact_and_its_story(held: Held) -> None:
    result = held.hold(
        {"say": "I begin.", "bash": "mkdir -p vitexec && echo one > vitexec/best.ts"},
        {"bash": ["cat vitexec/best.ts", "false"]},
        {"say": "Done."},
    )
    assert (result.exit, result.exit_reason) == ("submitted", None)
    assert (result.api_calls, result.tool_calls, result.tool_errors) == (3, 3, 1)
    assert result.tokens_in and result.tokens_out and result.tokens_cached is None
    assert result.served_models == ["scripted:test"] and 0 < result.agent_s < 60
    assert held.file("/workspace/vitexec/best.ts") == b"one\n"
    assert (held.folder / "raw" / "0002.out").read_bytes() == b"one\n"
    assert [e["event"] for e in read_journal(held.folder)][-1] == "end"
    assert any("cat vitexec/best.ts" in text for text in held.said)
    told = json.loads((held.folder / "trajectory.json").read_text())
    assert [step["source"] for step in told["steps"]] == ["user", "agent", "agent", "agent"]
    assert held.server is not None
    asked = held.server.asked[-1].body["messages"]
    assert [m["role"] for m in asked] == ["user", "assistant", "tool", "assistant", "tool", "tool"]
    assert "[exit code 1; " in asked[-1]["content"] and "left]" in asked[-1]["content"]


def test_no_file_of_a_session_and_no_process_of_its_container_knows_the_key(held: Held) -> None:
    held.hold({"status": 401, "say": f"wrong key {KEY}"})
    for path in held.folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert KEY.encode() not in data and base64.b64encode(KEY.encode()) not in data


def test_malformed_calls_get_error_results_are_counted_and_kept_repaired(held: Held) -> None:
    result = held.hold(
        raw_calls(
            ("a", "bash", '{"command": "echo'), ("a", "python", "{}"), ("", "bash", '{"command": "echo ran"}')
        ),
        {"say": "done"},
    )
    assert (result.exit, result.tool_calls, result.tool_errors) == ("submitted", 3, 2), result
    assert held.server is not None
    messages = held.server.asked[1].body["messages"]
    calls = messages[1]["tool_calls"]
    assert [m["tool_call_id"] for m in messages[2:]] == [c["id"] for c in calls]
    assert len({c["id"] for c in calls}) == 3
    assert all(isinstance(json.loads(c["function"]["arguments"]), dict) for c in calls)
    assert "not valid JSON" in messages[2]["content"] and "no tool 'python'" in messages[3]["content"]
    assert messages[4]["content"].startswith("ran\n")
    assert result.tokens_in is None, "the first reply had no usage, so the sum is unknown"


def test_a_model_that_only_makes_malformed_calls_is_given_up(held: Held) -> None:
    result = held.hold(*[raw_calls(("a", "bash", "{"))] * 20)
    assert result.exit == "error" and (result.exit_reason or "").startswith("malformed_calls")
    assert result.api_calls == 8


def test_the_cap_during_a_model_call_cuts_off_at_once(held: Held) -> None:
    begun = time.monotonic()
    result = held.hold(
        {"bash": "(while :; do echo line >> /workspace/best.ts; done) >/dev/null 2>&1 &"},
        {"say": "late", "delay_s": 50},
        session_s=3,
    )
    assert (result.exit, result.exit_reason) == ("cut_off", "time_cap")
    assert time.monotonic() - begun < 15 and result.agent_s < 6
    grown = len(held.file("/workspace/best.ts"))
    time.sleep(0.5)
    assert grown > 0 and len(held.file("/workspace/best.ts")) == grown


def test_the_cap_during_a_command_freezes_what_it_was_writing(held: Held) -> None:
    result = held.hold({"bash": "while :; do echo line >> /workspace/best.ts; done"}, session_s=2)
    assert (result.exit, result.exit_reason, result.tool_errors) == ("cut_off", "time_cap", 0)
    grown = len(held.file("/workspace/best.ts"))
    time.sleep(0.5)
    assert grown > 0 and len(held.file("/workspace/best.ts")) == grown
    assert result.agent_s < 5


def test_nothing_runs_on_after_a_submission(held: Held) -> None:
    result = held.hold(
        {"bash": "(while :; do echo x >> /workspace/best.ts; done) >/dev/null 2>&1 &"}, {"say": "done"}
    )
    assert result.exit == "submitted"
    grown = len(held.file("/workspace/best.ts"))
    time.sleep(0.5)
    assert len(held.file("/workspace/best.ts")) == grown


def test_the_step_cap_cuts_off(held: Held) -> None:
    result = held.hold(*[{"bash": "true"}] * 5, steps=2)
    assert (result.exit, result.exit_reason, result.api_calls) == ("cut_off", "step_cap", 2)


def test_a_command_gets_the_shorter_of_its_own_and_the_contracts_limit(held: Held) -> None:
    result = held.hold(
        {"bash": "sleep 30", "timeout_s": 25},
        {"bash": "sleep 30", "timeout_s": 0.5},
        {"say": "x"},
        command_s=1,
    )
    assert result.exit == "submitted" and result.tool_errors == 2
    assert [e["timed_out"] for e in held.events("result")] == [True, True]


@pytest.mark.parametrize(
    ("turn", "exit", "reason"),
    [
        ({"status": 401}, "infra_error", "provider_unauthorised"), ({"status": 404}, "infra_error", "unknown_model"),
        ({"status": 400, "say": "maximum context length"}, "error", "context_overflow"), ({"status": 400}, "error", "provider_refused"),
    ],
)  # fmt: skip
def test_a_providers_lasting_fault_ends_the_session_by_its_name(
    held: Held, turn: dict[str, Any], exit: str, reason: str
) -> None:
    result = held.hold(turn)
    assert result.exit == exit and (result.exit_reason or "").startswith(reason)


def test_a_container_that_dies_is_our_failure(held: Held) -> None:
    import threading

    threading.Timer(3, held.container.kill).start()
    result = held.hold({"bash": "sleep 60"})
    assert result.exit == "infra_error" and result.exit_reason
