"""What the agent loop needs of a model, whoever serves it: one call, one reply, and failures that have a kind.

Providers differ most in how they fail, so a failure is classified once, here, and one table says how it ends a
session. What nobody reported is None, never 0. Messages are our own plain values; a provider renders them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from contracts.errors import StackFailure

FailureKind = Literal[
    "transient",  # worth another try: overload, a broken connection, an unparsable answer
    "refused",  # the request was understood and declined
    "context_overflow",
    "unauthorised",
    "unknown_model",
    "deadline",  # ours: the session's time is up
]

ENDS: Mapping[FailureKind, tuple[Literal["error", "infra_error", "cut_off"], str]] = {
    "transient": ("error", "provider_unavailable"),
    "refused": ("error", "provider_refused"),
    "context_overflow": ("error", "context_overflow"),
    "unauthorised": ("infra_error", "provider_unauthorised"),
    "unknown_model": ("infra_error", "unknown_model"),
    "deadline": ("cut_off", "time_cap"),
}
"""How a session ends that a provider's failure ends. Keys and model names are the operator's, so not scored."""


@dataclass(frozen=True)
class ToolCall:
    """One call as the model made it; `arguments` is its raw text, valid or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Usage:
    """Tokens as the provider counted them (`counted_by` says how where it is not by its tokenizer)."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    counted_by: str | None = None


@dataclass(frozen=True)
class Reply:
    """One answer of a model."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    reasoning: str | None
    usage: Usage | None
    finish_reason: str | None
    model_served: str | None
    raw: Mapping[str, Any]


@dataclass(frozen=True)
class Instruction:
    """What the model is told: the task."""

    text: str


@dataclass(frozen=True)
class Answered:
    """A reply as it is kept in history: its calls in a form that every server accepts again."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    reasoning: str | None


@dataclass(frozen=True)
class ToolResult:
    """What came of one call."""

    call_id: str
    text: str


Message = Instruction | Answered | ToolResult


@dataclass(frozen=True)
class Tool:
    """A tool the model may call; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class ProviderFailure(StackFailure):
    """The model could not be asked, or gave no usable answer."""

    def __init__(self, kind: FailureKind, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.retry_after_s = retry_after_s


class Provider(Protocol):
    """A model that can be asked. `api_calls` counts answers at receipt, those that could not be used too."""

    model: str
    api_calls: int
    on_retry: Callable[[str], None] | None

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], deadline_s: float) -> Reply:
        """One reply within `deadline_s`, or ProviderFailure; returns at the deadline whatever the server does."""
        ...

    def close(self) -> None: ...
