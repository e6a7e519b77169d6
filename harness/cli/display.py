"""What a person sees: tables of records, a run in detail, checks. Text that came from outside is shown as text.

Rich would read `[red]` in a model's name as a style and a terminal would obey an escape sequence in it, so
everything that is not ours goes through `plain`.
"""

import json
import re
import sys
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from contracts.record import ReplayRecord, RunRecord

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

PLAIN_WIDTH = 150
"""Columns where the output is no terminal: a table in a log should not be folded to 80."""

console = Console(highlight=False, width=None if sys.stdout.isatty() else PLAIN_WIDTH)


def plain(value: object, limit: int = 200) -> Text:
    """`value` as inert text: no markup, no control characters, not longer than `limit`."""
    text = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(value))
    return Text(text if len(text) <= limit else text[: limit - 1] + "…")


def print_json(value: BaseModel | list[Any] | dict[str, Any]) -> None:
    """Print a document, or a list of them, as JSON on stdout."""
    json.dump(_dump(value), sys.stdout, indent=2, ensure_ascii=True, allow_nan=False)
    sys.stdout.write("\n")


def _dump(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list):
        return [_dump(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def seconds(ms: float | None) -> str:
    """A time in ms as seconds, or a dash where there is none."""
    return "—" if ms is None else f"{ms / 1000:.3f} s"


def run_table(records: list[RunRecord], title: str | None = None) -> Table:
    """Runs, one a row: what ranked, what each replay did, what it took."""
    table = Table(title=title, title_justify="left")
    for name in ("run", "contract", "model", "exit", "ranked", "replays", "agent", "total", "api", "bash"):
        table.add_column(name, no_wrap=name != "model", overflow="fold")
    for record in records:
        table.add_row(
            plain(record.run_id),
            plain(record.contract),
            plain(_model(record)),
            plain(_exit(record)),
            Text(seconds(record.ranked_time_ms), style="bold green" if record.ranked_time_ms else "dim"),
            _marks(record.replays),
            f"{record.wall.agent_s:.1f} s",
            f"{record.wall.total_s:.1f} s",
            str(record.api_calls),
            f"{record.tool_calls}" + (f" ({record.tool_errors} failed)" if record.tool_errors else ""),
        )
    return table


def _model(record: RunRecord) -> str:
    model = record.stack.model
    name = model.rpartition("/")[2] if model.startswith("scripted:") else model
    return f"{name} {record.stack.effort}" if record.stack.effort else name


def _exit(record: RunRecord) -> str:
    if record.exit is None:
        return f"unfinished ({record.stage})"
    return record.exit.replace("_", " ")


def _marks(replays: list[ReplayRecord]) -> Text:
    text = Text()
    for replay in replays:
        text.append("✓" if replay.cleared else "✗", style="green" if replay.cleared else "red")
    return text or Text("—")


def replay_table(replays: list[ReplayRecord]) -> Table:
    """Replays, one a row, with what the evaluator read."""
    table = Table()
    for name in ("replay", "outcome", "level time", "wall", "inputs", "what the evaluator read"):
        table.add_column(name, overflow="fold", no_wrap=name in ("level time", "wall"))
    for replay in replays:
        evidence = json.dumps(replay.evidence, ensure_ascii=False) if replay.evidence is not None else "—"
        detail = f"{replay.outcome.replace('_', ' ')}" + (f": {replay.detail}" if replay.detail else "")
        table.add_row(
            str(replay.index),
            plain(detail),
            seconds(replay.level_time_ms),
            seconds(replay.wall_ms),
            str(replay.input_events),
            plain(evidence, 400),
        )
    return table


def run_details(record: RunRecord, folder: str) -> None:
    """Print one run whole."""
    console.print(run_table([record]))
    console.print(replay_table(record.replays))
    rows = {
        "folder": folder,
        "exit": _exit(record) + (f" ({record.exit_reason})" if record.exit_reason else ""),
        "prompt": record.prompt_sha256 or "none",
        "artifact": record.artifact_sha256 or "none",
        "evaluator": record.evaluator_sha256 or "none",
        "tokens": f"{_known(record.tokens.input)} in, {_known(record.tokens.output)} out, {_known(record.tokens.cached)} cached",
        "rig": ", ".join(str(value) for value in record.stack.rig.values()),
    }
    for name, digest in record.images.items():
        rows[f"image {name}"] = digest + (f" ({record.locks[name].state})" if name in record.locks else "")
    details = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        details.add_row(Text(name, style="dim"), plain(value))
    console.print(details)


def _known(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"
