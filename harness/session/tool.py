"""The agent's one tool: what the model is told of it, how its calls are read, and what a result says.

Models write arguments that are no JSON, name tools that do not exist and repeat ids; some servers then refuse the
whole history for ever. So a bad call is answered with an error result and kept in a repaired form.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from harness.session.provider import Tool, ToolCall
from harness.session.shell import CommandResult

BASH = Tool(
    name="bash",
    description=(
        "Run a command in a persistent bash shell: working directory, variables and background processes are kept "
        "between calls. There is no terminal and stdin is empty. Output is stdout and stderr together; of long output "
        "only head and tail are shown. At timeout_s everything the command started is ended."
    ),
    parameters={
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The bash command or script to run."},
            "timeout_s": {"type": "number", "description": "Seconds after which it is ended (optional)."},
        },
        "required": ["command"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True)
class Command:
    """A call that can be run."""

    text: str
    timeout_s: float | None


@dataclass(frozen=True)
class BadCall:
    """A call that cannot be run, and what to tell the model."""

    reason: str


def read_call(call: ToolCall) -> Command | BadCall:
    """What the model asked for, or why that cannot be done."""
    if call.name != BASH.name:
        return BadCall(f"there is no tool {call.name[:60]!r}; the only one is bash(command, timeout_s?)")
    try:
        value: Any = json.loads(call.arguments, strict=False)
    except ValueError as error:
        return BadCall(f"the arguments are not valid JSON ({error}); send an object with a string 'command'")
    if not isinstance(value, dict):
        return BadCall("the arguments are not a JSON object; send an object with a string 'command'")
    told = cast(dict[str, Any], value)
    text, timeout = told.get("command"), told.get("timeout_s")
    if not isinstance(text, str) or not text.strip():
        return BadCall("'command' is missing or not a non-empty string")
    if "\0" in text:
        return BadCall("'command' contains a NUL character, which bash cannot take")
    if timeout is None:
        return Command(text, None)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        return BadCall("'timeout_s' is not a number greater than 0")
    return Command(text, float(timeout))


def repaired(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls as history keeps them: ids present and all different, names plain, arguments a JSON object."""
    seen: set[str] = set()
    kept: list[ToolCall] = []
    for call in calls:
        call_id = call.id if call.id and call.id not in seen else f"call_{len(seen) + 1}_again"
        while call_id in seen:
            call_id += "_"
        seen.add(call_id)
        kept.append(ToolCall(call_id, _plain_name(call.name), _plain_arguments(call.arguments)))
    return tuple(kept)


def _plain_name(name: str) -> str:
    plain = "".join(c for c in name if c.isascii() and (c.isalnum() or c in "_-"))[:64]
    return plain or BASH.name


def _plain_arguments(arguments: str) -> str:
    try:
        value = json.loads(arguments, strict=False)
    except ValueError:
        return "{}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else "{}"


def result_text(result: CommandResult, left_s: float) -> str:
    """What the model reads: the output, then how it ended, each cap and note, and the time left."""
    if result.timed_out:
        ended = "timed out"
    elif result.exit_code is None:
        ended = "ended by a limit" if result.cap else "not finished"
    else:
        ended = f"exit code {result.exit_code}"
    output = result.shown if not result.shown or result.shown.endswith("\n") else result.shown + "\n"
    notes = "".join(f"[{note}]\n" for note in result.notes)
    return f"{output}{notes}[{ended}; {result.duration_s:.1f} s; {time_left(left_s)}]"


def bad_call_text(bad: BadCall, left_s: float) -> str:
    return f"[error: {bad.reason}; {time_left(left_s)}]"


def time_left(left_s: float) -> str:
    """Whole minutes while there are many, seconds at the end."""
    left = max(0, int(left_s))
    return f"{left // 60} min left" if left >= 600 else f"{left} s left"
