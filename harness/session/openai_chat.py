"""Any OpenAI-compatible Chat Completions endpoint, through the official SDK.

Three things are ours and not the SDK's: every call is streamed (long answers outlive any read timeout and some
servers refuse them otherwise), retries are few and end at the session's cap, and a call can be abandoned at
once: it runs in a thread of its own, and at the deadline we leave it and close its connection.
"""

import json
import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
import openai

from contracts.errors import WrongInput
from harness.session.chat_stream import StreamedReply, failure, mapping
from harness.session.provider import (
    Answered,
    Instruction,
    Message,
    ProviderFailure,
    Reply,
    Tool,
    ToolCall,
)

DEFAULT_BASE_URL = "https://api.openai.com/v1"
TRIES = 6
FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
SILENCE_S = 600.0  # a stream that sends nothing for this long is broken
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class OpenAIChat:
    """One model behind one endpoint."""

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        effort: str | None = None,
        key: str | None = None,
        echo_reasoning: bool = False,
        tries: int = TRIES,
    ) -> None:
        self.model = model
        self.api_calls = 0
        self.on_retry: Callable[[str], None] | None = None
        self._base_url = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL
        self._key = _key_for(self._base_url) if key is None else key
        self._settings: dict[str, Any] = {"reasoning_effort": effort} if effort else {}
        self._echo_reasoning = echo_reasoning
        self._tries = tries
        timeout = openai.Timeout(SILENCE_S, connect=30.0)
        self._client = openai.OpenAI(
            api_key=self._key or "none", base_url=self._base_url, max_retries=0, timeout=timeout
        )

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], deadline_s: float) -> Reply:
        end = time.monotonic() + deadline_s
        wait = FIRST_WAIT_S
        for attempt in range(1, self._tries + 1):
            try:
                return self._ask(messages, tools, end - time.monotonic())
            except ProviderFailure as problem:
                if problem.kind != "transient" or attempt == self._tries:
                    raise
                pause = min(problem.retry_after_s or wait, LONGEST_WAIT_S)
                wait *= 2
                if self.on_retry:
                    self.on_retry(str(problem))
                if time.monotonic() + pause >= end:
                    time.sleep(max(0.0, end - time.monotonic()))
                    raise _time_is_up() from problem
                time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def close(self) -> None:
        self._client.close()

    def _ask(self, messages: Sequence[Message], tools: Sequence[Tool], left_s: float) -> Reply:
        if left_s <= 0:
            raise _time_is_up()
        call = _Call(self._client, self._request(messages, tools))
        answer = call.wait(left_s)
        self.api_calls += call.received
        if answer is None:
            raise _time_is_up()
        if isinstance(answer, Reply):
            return answer
        if isinstance(answer, ProviderFailure):
            raise ProviderFailure(answer.kind, self._without_key(str(answer)), answer.retry_after_s)
        raise answer

    def _request(self, messages: Sequence[Message], tools: Sequence[Tool]) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": [self._render(message) for message in messages],
            "tools": [
                {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
                for t in tools
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
            **self._settings,
        }  # fmt: skip

    def _render(self, message: Message) -> dict[str, Any]:
        if isinstance(message, Instruction):
            return {"role": "user", "content": message.text}
        if not isinstance(message, Answered):
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
        said: dict[str, Any] = {"role": "assistant", "content": message.text}
        if message.tool_calls:
            said["tool_calls"] = [_render_call(call) for call in message.tool_calls]
        if self._echo_reasoning and message.reasoning:
            said["reasoning_content"] = message.reasoning
        return said

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text


class _Call:
    """One request in a thread of its own, so that it can be left behind."""

    def __init__(self, client: openai.OpenAI, request: dict[str, Any]) -> None:
        self.received = 0
        self._client = client
        self._request = request
        self._answers: queue.Queue[Reply | Exception] = queue.Queue()
        self._response: httpx2.Response | None = None
        self._left = False
        threading.Thread(target=self._run, name="model call", daemon=True).start()

    def wait(self, seconds: float) -> Reply | Exception | None:
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            self._left = True
            with suppress(Exception):  # whatever state the connection is in, it is not needed any more
                if self._response is not None:
                    self._response.close()
            return None

    def _run(self) -> None:
        try:
            self._answers.put(self._stream())
        except ProviderFailure as problem:
            self._answers.put(problem)
        except openai.APIStatusError as problem:
            body = mapping(problem.body)
            message = str(body.get("message") or problem.message)
            code, retry_after = str(body.get("code") or ""), _retry_after(problem.response)
            self._answers.put(failure(problem.status_code, code, message, retry_after))
        except (openai.APIError, httpx2.HTTPError, json.JSONDecodeError) as problem:
            reason = str(problem.__cause__ or problem) or type(problem).__name__
            self._answers.put(failure(None, "", reason))
        except Exception as problem:  # a bug of ours or the SDK's must reach the session, not die in a thread
            self._answers.put(problem)

    def _stream(self) -> Reply:
        ask = cast(Callable[..., Any], self._client.chat.completions.with_raw_response.create)
        answer = ask(**self._request)
        response = self._response = cast(httpx2.Response, answer.http_response)
        self.received = 1
        collected = StreamedReply()
        if "json" in response.headers.get("content-type", ""):
            collected.add(mapping(json.loads(response.read() or b"null")))
            return collected.reply()
        with cast(openai.Stream[Any], answer.parse()) as chunks:
            for chunk in chunks:
                if self._left:
                    raise _time_is_up()
                collected.add(chunk.model_dump())
        return collected.reply()


def _render_call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _time_is_up() -> ProviderFailure:
    return ProviderFailure("deadline", "The session's time was up before the model had answered.")


def _retry_after(response: httpx2.Response) -> float | None:
    try:
        return max(0.0, float(response.headers.get("retry-after", "")))
    except ValueError:
        return None


def _key_for(base_url: str) -> str:
    host = urlsplit(base_url).hostname or ""
    variable = "OPENROUTER_API_KEY" if host.endswith("openrouter.ai") else "OPENAI_API_KEY"
    key = os.environ.get(variable, "").strip()
    if host in LOOPBACK:
        return key
    if not key:
        raise WrongInput(f"The environment variable {variable} is not set: set it to your key for {host}.")
    return key
