"""`bench`: claims of speed, measured here and now as medians and ratios against what others would use."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from contracts.contract import contract_of_game
from contracts.errors import WrongInput
from harness.cli.display import console, print_json
from harness.cli.options import Json, Runs
from harness.cli.setup import appliance
from harness.engine.bench import Row, start_ratio
from harness.pipeline.appliance import Appliance, pinned_images
from harness.replay.bench import driver_rows, replay_overhead
from harness.session.bench import bash_latency

PARTS = ("session", "replay")


def bench(
    part: Annotated[
        str | None, typer.Argument(help="session or replay; without it, both.", show_default=False)
    ] = None,
    game: Annotated[str, typer.Option("--game", help="The contract's game that is replayed.")] = "arena",
    runs: Runs = None,
    as_json: Json = False,
    repeats: Annotated[
        int, typer.Option("--repeats", "-n", min=3, max=1000, help="Samples for quick rows.")
    ] = 30,
) -> None:
    """Measure latency, overhead, frames and recording; prints medians and ratios of one run."""
    if part is not None and part not in PARTS:
        raise WrongInput(f"bench measures {' or '.join(PARTS)}, not {part!r}.")
    ready = appliance(runs)
    rows: list[Row] = []
    if part != "replay":
        rows += _session(ready, repeats)
    if part != "session":
        rows += _replay(ready, game, max(3, repeats // 10))
    if as_json:
        print_json({"rows": [vars(row) for row in rows]})
    else:
        console.print(_table(rows))


def _session(ready: Appliance, repeats: int) -> list[Row]:
    agent = ready.ready_image("agent", None).engine_ref
    ready.say("measuring the bash tool's latency ...")
    rows = bash_latency(ready.engine, agent, repeats * 10, why=ready.say)
    ready.say("measuring container start ...")
    return [*rows, start_ratio(ready.engine, agent, max(5, repeats // 3))]


def _replay(ready: Appliance, game: str, repeats: int) -> list[Row]:
    contract = contract_of_game(game)
    images = pinned_images(ready, contract)
    ready.say(f"measuring what a replay of {game} costs beside its play time ...")
    with tempfile.TemporaryDirectory() as folder:
        rows = replay_overhead(
            ready.engine,
            contract,
            images.project(),
            images.browser.engine_ref,
            images.agent.engine_ref,
            Path(folder),
            repeats,
        )
    ready.say("measuring frames, input and recording ...")
    return [*rows, *driver_rows(ready.engine, images.game.engine_ref, max(1, repeats // 2))]


def _table(rows: list[Row]) -> Table:
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
    return table
