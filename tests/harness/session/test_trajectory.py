"""The trajectory has ATIF's own field names, so that others' viewers open it."""

import json
from pathlib import Path

from harness.session.journal import JOURNAL, Journal, read_journal
from harness.session.trajectory import trajectory, write_trajectory

ROOT = {"schema_version", "session_id", "agent", "steps", "notes", "final_metrics", "extra"}
STEP = {"step_id", "timestamp", "source", "model_name", "reasoning_effort", "message", "reasoning_content", "tool_calls",
        "observation", "metrics", "extra"}  # fmt: skip
AGENT_ONLY = {"model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"}
METRICS = {"prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd", "extra"}
FINAL = {
    "total_prompt_tokens",
    "total_completion_tokens",
    "total_cached_tokens",
    "total_cost_usd",
    "total_steps",
    "extra",
}


def journal(folder: Path) -> None:
    log = Journal(folder)
    log.note("start", model="m", version="1", prompt="task", session_s=1, command_s=None, steps=None)
    log.note("reply", step=1, text="say", reasoning="why", model="m-2", raw={}, api_calls=1, input_tokens=5, output_tokens=0,
             cached_tokens=None, counted_by=None, calls=[{"id": "c", "name": "bash", "arguments": '{"command": "ls"}'}])  # fmt: skip
    log.note("result", step=1, call_id="c", text="out", is_error=True)
    log.note("reply", step=2, text="bye", reasoning=None, model=None, raw={}, api_calls=2, input_tokens=None,
             output_tokens=None, cached_tokens=None, counted_by=None, calls=[])  # fmt: skip
    log.note(
        "end",
        exit="submitted",
        exit_reason=None,
        api_calls=2,
        tool_calls=1,
        tool_errors=1,
        tokens_in=None,
        agent_s=1,
    )
    log.close()


def test_every_field_is_atifs_and_the_unknown_is_left_out(tmp_path: Path) -> None:
    journal(tmp_path)
    told = json.loads(write_trajectory(tmp_path, "run-1").read_text())
    assert set(told) <= ROOT and told["schema_version"] == "ATIF-v1.5" and told["session_id"] == "run-1"
    assert (
        {"name", "version"}
        <= set(told["agent"])
        <= {"name", "version", "model_name", "tool_definitions", "extra"}
    )
    assert [step["step_id"] for step in told["steps"]] == [1, 2, 3]
    for step in told["steps"]:
        assert {"step_id", "source", "message"} <= set(step) <= STEP
        assert step["source"] == "agent" or not AGENT_ONLY & set(step)
    first = told["steps"][1]
    assert first["tool_calls"] == [
        {"tool_call_id": "c", "function_name": "bash", "arguments": {"command": "ls"}}
    ]
    assert first["observation"] == {"results": [{"source_call_id": "c", "content": "out"}]}
    assert (
        first["metrics"] == {"prompt_tokens": 5, "completion_tokens": 0} and set(first["metrics"]) <= METRICS
    )
    assert "metrics" not in told["steps"][2] and set(told["final_metrics"]) <= FINAL
    assert "total_prompt_tokens" not in told["final_metrics"] and told["final_metrics"]["total_steps"] == 3


def test_a_journal_cut_by_a_crash_still_tells_all_that_was_whole(tmp_path: Path) -> None:
    journal(tmp_path)
    data = (tmp_path / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(data[: -len(data.splitlines()[-1]) // 2])
    events = read_journal(tmp_path)
    assert [e["event"] for e in events] == ["start", "reply", "result", "reply"]
    assert len(trajectory(events, "r")["steps"]) == 3
