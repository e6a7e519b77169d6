"""`bench`: claims of speed, measured here and now as medians and ratios against what others would use."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from harness.cli.display import console, print_json
from harness.cli.options import Json, Runs
from harness.cli.setup import appliance
from harness.engine.bench import Row, start_ratio
from harness.replay.bench import replay_overhead
from harness.session.bench import bash_latency


def bench(
    runs: Runs = None,
    as_json: Json = False,
    repeats: Annotated[
        int, typer.Option("--repeats", "-n", min=3, max=1000, help="Samples for quick rows.")
    ] = 30,
) -> None:
    """Measure bash latency, container start and replay overhead; prints medians and ratios of one run."""
    ready = appliance(runs)
    agent = ready.ready_image("agent", None).engine_ref
    replay = ready.ready_image("replay", None).engine_ref
    rows: list[Row] = []
    ready.say("measuring the bash tool's latency ...")
    rows += bash_latency(ready.engine, agent, repeats * 10, why=ready.say)
    ready.say("measuring container start ...")
    rows.append(start_ratio(ready.engine, agent, max(5, repeats // 3)))
    ready.say("measuring what a replay costs beside its play time ...")
    with tempfile.TemporaryDirectory() as folder:
        rows += replay_overhead(ready.engine, replay, agent, Path(folder), max(3, repeats // 10))
    if as_json:
        print_json({"rows": [vars(row) for row in rows]})
        return
    table = Table(
        caption="medians of one run on this machine; ratio = ours ÷ reference", caption_justify="left"
    )
    for name in ("what", "ours", "reference", "ratio", "runs"):
        table.add_column(name, justify="left" if name == "what" else "right")
    for row in rows:
        table.add_row(
            row.name,
            f"{row.ours:.2f} {row.unit}",
            f"{row.reference:.2f} {row.unit}",
            f"{row.ratio:.3f}",
            str(row.runs),
        )
    console.print(table)
