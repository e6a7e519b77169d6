"""One Chat Completions answer put together, streamed or not, whatever the server made of the protocol.

Servers that call themselves compatible leave out indexes, ids, choices and usage, name reasoning differently, and
answer an error with status 200. What is usable becomes a Reply; the rest is a typed failure.
"""

from collections.abc import Mapping
from typing import Any, cast

from harness.session.provider import ProviderFailure, Reply, ToolCall, Usage

OVERFLOW_WORDS = ("context length", "context_length", "context window", "maximum context", "too many tokens")


class StreamedReply:
    """Collects the chunks of one answer."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[dict[str, str]] = []
        self._place: dict[int, int] = {}
        self._usage: Mapping[str, Any] | None = None
        self._finish: str | None = None
        self._model: str | None = None

    def add(self, chunk: Mapping[str, Any]) -> None:
        refuse_error_body(chunk)
        self._model = chunk.get("model") or self._model
        self._usage = chunk.get("usage") or self._usage
        for choice in mappings(chunk.get("choices"))[:1]:
            self._finish = choice.get("finish_reason") or self._finish
            part = mapping(choice.get("delta") or choice.get("message"))
            self._text.append(_text(part.get("content")))
            self._reasoning.append(_text(part.get("reasoning_content") or part.get("reasoning")))
            for at, call in enumerate(mappings(part.get("tool_calls"))):
                self._add_call(at, call)

    def _add_call(self, at: int, piece: Mapping[str, Any]) -> None:
        index = piece.get("index")
        index = index if isinstance(index, int) else at
        call_id = _text(piece.get("id"))
        place = self._place.get(index)
        if place is None or (call_id and self._calls[place]["id"] not in ("", call_id)):
            self._calls.append({"id": "", "name": "", "arguments": ""})
            place = self._place[index] = len(self._calls) - 1
        call, function = self._calls[place], mapping(piece.get("function"))
        call["id"] = call["id"] or call_id
        call["name"] += _text(function.get("name"))
        call["arguments"] += _text(function.get("arguments"))

    def reply(self) -> Reply:
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        if not text and not self._calls and not reasoning and self._finish is None:
            raise ProviderFailure("transient", "The model's server answered without any choice or content.")
        calls = tuple(
            ToolCall(c["id"], c["name"], c["arguments"]) for c in self._calls if c["name"] or c["arguments"]
        )
        raw = {
            "model": self._model,
            "finish_reason": self._finish,
            "usage": self._usage,
            "tool_calls": list(self._calls),
        }
        return Reply(text, calls, reasoning or None, _usage(self._usage), self._finish, self._model, raw)


def refuse_error_body(body: Mapping[str, Any]) -> None:
    """An `error` in a body that came with status 200 is an error all the same."""
    error = body.get("error")
    if not error:
        return
    told = mapping(error)
    message = _text(told.get("message")) or str(error)
    code = str(told.get("code") or told.get("status") or "")
    raise failure(int(code) if code.isdigit() else None, code, message)


def failure(
    status: int | None, code: str, message: str, retry_after_s: float | None = None
) -> ProviderFailure:
    """What a server's error means: by status and code, and by its words only where those do not say."""
    said = f"The model's server answered{f' {status}' if status else ''}: {message[:400].strip()}"
    low = f"{code} {message}".lower()
    if status in (401, 403):
        return ProviderFailure("unauthorised", f"{said} (check the key variable of this provider).")
    if any(words in low for words in OVERFLOW_WORDS):
        return ProviderFailure("context_overflow", said)
    if status == 404 or "model_not_found" in low:
        return ProviderFailure("unknown_model", f"{said} (check --model and --base-url).")
    if status is None or status in (408, 409, 425, 429) or status >= 500:
        return ProviderFailure("transient", said, retry_after_s)
    return ProviderFailure("refused", said)


def mapping(value: Any) -> Mapping[str, Any]:
    """What should be an object; an empty one where it is something else."""
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """The objects of what should be a list of objects."""
    if not isinstance(value, list):
        return []
    found = cast(list[Any], value)
    return [cast(Mapping[str, Any], one) for one in found if isinstance(one, Mapping)]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "".join(_text(part.get("text")) for part in mappings(value))


def _usage(told: Mapping[str, Any] | None) -> Usage | None:
    if not told:
        return None
    details = mapping(told.get("prompt_tokens_details"))
    cached = details.get("cached_tokens", told.get("prompt_cache_hit_tokens"))
    counted_by = told.get("counted_by")
    return Usage(
        _count(told.get("prompt_tokens")),
        _count(told.get("completion_tokens")),
        _count(cached),
        counted_by if isinstance(counted_by, str) else None,
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
