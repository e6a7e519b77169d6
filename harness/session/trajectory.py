"""The session as an ATIF trajectory (Harbor's Agent Trajectory Interchange Format), made from the journal.

Viewers of others refuse unknown fields, so the names are theirs exactly and what is ours goes into `extra`. A
figure that nobody reported is left out, never 0.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from harness.session.journal import read_journal
from harness.session.tool import BASH

TRAJECTORY = "trajectory.json"
SCHEMA = "ATIF-v1.5"


def write_trajectory(folder: Path, session_id: str) -> Path:
    """Writes trajectory.json of a session's folder, whole or not at all."""
    text = json.dumps(trajectory(read_journal(folder), session_id), ensure_ascii=False, indent=1)
    path, half = folder / TRAJECTORY, folder / f".{TRAJECTORY}.half"
    with half.open("w", encoding="utf-8", errors="replace") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)
    return path


def trajectory(events: Sequence[Mapping[str, Any]], session_id: str) -> dict[str, Any]:
    """The ATIF document of a journal's events."""
    start, end = _first(events, "start"), _first(events, "end")
    results = [e for e in events if e["event"] == "result"]
    steps: list[dict[str, Any]] = []
    for event in events:
        if event["event"] == "start":
            steps.append({"timestamp": event["time"], "source": "user", "message": event["prompt"]})
        elif event["event"] == "reply":
            own = [r for r in results if r["step"] == event["step"]]
            steps.append(_agent_step(event, own))
    for number, step in enumerate(steps, 1):
        step["step_id"] = number
    agent: dict[str, Any] = {
        "name": "playproof-bash",
        "version": start.get("version", "unknown"),
        "model_name": start.get("model", "unknown"),
        "tool_definitions": [_definition()],
    }
    return {
        "schema_version": SCHEMA,
        "session_id": session_id,
        "agent": agent,
        "steps": steps,
        "final_metrics": _final(end, len(steps)),
    }


def _first(events: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    nothing: Mapping[str, Any] = {}
    return next((e for e in events if e["event"] == name), nothing)


def _agent_step(reply: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    step: dict[str, Any] = {"timestamp": reply["time"], "source": "agent", "message": reply["text"]}
    if reply.get("model"):
        step["model_name"] = reply["model"]
    if reply.get("reasoning"):
        step["reasoning_content"] = reply["reasoning"]
    calls = cast(Sequence[Mapping[str, Any]], reply["calls"])
    if calls:
        step["tool_calls"] = [
            {"tool_call_id": c["id"], "function_name": c["name"], "arguments": json.loads(c["arguments"])}
            for c in calls
        ]
    if results:
        step["observation"] = {
            "results": [{"source_call_id": r["call_id"], "content": r["text"]} for r in results]
        }
    metrics = _without_none(
        prompt_tokens=reply.get("input_tokens"),
        completion_tokens=reply.get("output_tokens"),
        cached_tokens=reply.get("cached_tokens"),
    )
    if metrics:
        step["metrics"] = metrics
    errors = [r["call_id"] for r in results if r["is_error"]]
    step["extra"] = {"api_calls": reply["api_calls"], "tool_errors": errors}
    return step


def _final(end: Mapping[str, Any], steps: int) -> dict[str, Any]:
    totals = _without_none(
        total_prompt_tokens=end.get("tokens_in"),
        total_completion_tokens=end.get("tokens_out"),
        total_cached_tokens=end.get("tokens_cached"),
    )
    kept = ("exit", "exit_reason", "api_calls", "tool_calls", "tool_errors", "agent_s")
    return {**totals, "total_steps": steps, "extra": {name: end[name] for name in kept if name in end}}


def _definition() -> dict[str, Any]:
    function = {"name": BASH.name, "description": BASH.description, "parameters": BASH.parameters}
    return {"type": "function", "function": function}


def _without_none(**figures: int | None) -> dict[str, int]:
    return {name: figure for name, figure in figures.items() if figure is not None}
