"""The provider through the real SDK against the real scripted server: good answers and every kind of bad one."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from contracts.errors import WrongInput
from harness.session import openai_chat
from harness.session.openai_chat import OpenAIChat
from harness.session.provider import Answered, Instruction, ProviderFailure, ToolCall, ToolResult
from harness.session.scripted import COUNTED_BY, ScriptedServer, Turn
from harness.session.tool import BASH

TASK = [Instruction("do it")]
Serve = Callable[..., tuple[OpenAIChat, ScriptedServer]]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    monkeypatch.setattr(openai_chat, "FIRST_WAIT_S", 0.01)
    servers: list[ScriptedServer] = []

    def start(*turns: dict[str, Any], **settings: Any) -> tuple[OpenAIChat, ScriptedServer]:
        server = ScriptedServer([Turn(**turn) for turn in turns], "scripted:test")
        servers.append(server)
        return OpenAIChat("scripted:test", server.base_url, key="sk-secret", **settings), server

    yield start
    for server in servers:
        server.close()


def whole(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "raw": {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **more}
    }


def test_a_streamed_reply_comes_whole_with_its_calls_and_usage(serve: Serve) -> None:
    long = "echo " + "x" * 5000
    provider, _ = serve({"say": "thinking", "bash": [long, "ls"], "timeout_s": 4})
    reply = provider.complete(TASK, [BASH], 20)
    assert reply.text == "thinking" and reply.finish_reason == "tool_calls"
    assert [json.loads(c.arguments) for c in reply.tool_calls] == [
        {"command": long, "timeout_s": 4}, {"command": "ls", "timeout_s": 4}]  # fmt: skip
    assert len({c.id for c in reply.tool_calls}) == 2
    assert reply.usage is not None and reply.usage.counted_by == COUNTED_BY
    assert reply.usage.cached_tokens is None and reply.usage.input_tokens
    assert provider.api_calls == 1 and reply.model_served == "scripted:test"


def test_history_is_sent_as_the_protocol_wants_it(serve: Serve) -> None:
    provider, server = serve({"say": "ok"}, effort="high", echo_reasoning=True)
    said = Answered("so", (ToolCall("c1", "bash", "{}"),), "because")
    provider.complete([*TASK, said, ToolResult("c1", "out")], [BASH], 20)
    body = server.asked[0].body
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "tool"]
    assert body["messages"][1]["tool_calls"][0]["function"] == {"name": "bash", "arguments": "{}"}
    assert body["messages"][1]["reasoning_content"] == "because" and body["reasoning_effort"] == "high"
    assert body["messages"][2] == {"role": "tool", "tool_call_id": "c1", "content": "out"}
    assert body["tools"][0]["function"]["name"] == "bash" and body["stream"] is True


def test_a_server_that_does_not_stream_is_understood_too(serve: Serve) -> None:
    provider, _ = serve(whole({"content": "hi", "reasoning_content": "why"}))
    reply = provider.complete(TASK, [], 20)
    assert (reply.text, reply.reasoning, reply.usage) == ("hi", "why", None)


@pytest.mark.parametrize(
    "turn",
    [
        {"status": 500}, {"status": 503}, {"status": 429}, {"raw": {"error": {"message": "overloaded"}}},
        {"raw": {"error": {"message": "busy", "code": 503}}}, {"raw": {"choices": []}}, {"raw": {"choices": None}},
        {"raw": {}}, {"raw": "not json"}, {"raw": "null"}, {"raw": "[]"}, {"raw": "<html>bad gateway</html>", "status": 502},
    ],
)  # fmt: skip
def test_a_passing_fault_is_tried_again(serve: Serve, turn: dict[str, Any]) -> None:
    provider, server = serve(turn, {"say": "fine"})
    retried: list[str] = []
    provider.on_retry = retried.append
    assert provider.complete(TASK, [], 20).text == "fine"
    assert len(server.asked) == 2 and len(retried) == 1


def test_answers_that_cannot_be_used_are_counted_at_receipt(serve: Serve) -> None:
    provider, _ = serve({"raw": {"choices": []}}, {"status": 500}, {"say": "fine"})
    provider.complete(TASK, [], 20)
    assert provider.api_calls == 2


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        ({"status": 401, "say": "bad key sk-secret"}, "unauthorised"), ({"status": 404, "say": "no such model"}, "unknown_model"),
        ({"status": 400, "say": "This model's maximum context length is 8192 tokens"}, "context_overflow"),
        ({"raw": {"error": {"message": "x", "code": "context_length_exceeded"}}}, "context_overflow"),
        ({"status": 400, "say": "no"}, "refused"), ({"status": 422, "say": "no"}, "refused"),
    ],
)  # fmt: skip
def test_a_lasting_fault_has_its_kind_and_is_not_tried_again(
    serve: Serve, turn: dict[str, Any], kind: str
) -> None:
    provider, server = serve(turn, {"say": "never asked"})
    with pytest.raises(ProviderFailure) as told:
        provider.complete(TASK, [], 20)
    assert told.value.kind == kind and len(server.asked) == 1 and "sk-secret" not in str(told.value)


def test_retries_come_to_an_end(serve: Serve) -> None:
    provider, server = serve(*[{"status": 500}] * 9, tries=3)
    with pytest.raises(ProviderFailure) as told:
        provider.complete(TASK, [], 20)
    assert told.value.kind == "transient" and len(server.asked) == 3


def test_a_call_is_left_at_the_deadline_whatever_the_server_does(serve: Serve) -> None:
    provider, _ = serve({"say": "late", "delay_s": 30})
    begun = time.monotonic()
    with pytest.raises(ProviderFailure) as told:
        provider.complete(TASK, [], 0.5)
    assert told.value.kind == "deadline" and time.monotonic() - begun < 3


def test_waiting_for_a_retry_ends_at_the_deadline(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_chat, "FIRST_WAIT_S", 60)
    provider, _ = serve({"status": 500})
    begun = time.monotonic()
    with pytest.raises(ProviderFailure) as told:
        provider.complete(TASK, [], 0.5)
    assert told.value.kind == "deadline" and time.monotonic() - begun < 3


def test_nobody_listening_is_a_passing_fault() -> None:
    provider = OpenAIChat("m", "http://127.0.0.1:9/v1", key="k", tries=1)
    with pytest.raises(ProviderFailure) as told:
        provider.complete(TASK, [], 10)
    assert told.value.kind == "transient"


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    with pytest.raises(WrongInput, match="OPENAI_API_KEY"):
        OpenAIChat("m", "https://models.example/v1")
    with pytest.raises(WrongInput, match="OPENROUTER_API_KEY"):
        OpenAIChat("m", "https://openrouter.ai/api/v1")
