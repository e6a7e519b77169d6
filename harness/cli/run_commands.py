"""`demo` and `run`: sessions, their replays, and a table of what came out."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from contracts.contract import find_contract
from contracts.errors import ExitCode, WrongInput
from contracts.plan import Cell, Stack, load_plan
from contracts.record import RunRecord
from harness.archive.store import Store, read_record
from harness.cli.display import console, plain, print_json, replay_table, run_table
from harness.cli.log import speaker
from harness.cli.options import Json, Runs
from harness.cli.setup import appliance
from harness.fleet.plan_runner import run_plan
from harness.pipeline.appliance import Appliance
from harness.pipeline.run import Order, begin, contract_of, finish

DEMO = Path(__file__).resolve().parent.parent / "demo"
DEMO_GAMES = ("arena", "2048")
"""Our own game, and one that nobody here wrote; each has a scripted model of its name beside it."""

AtOnce = Annotated[
    int, typer.Option("-n", "--at-once", min=1, max=64, help="How many runs of a plan at once.")
]


def demo(runs: Runs = None, as_json: Json = False) -> None:
    """The whole way in minutes: a scripted model plays two games, is replayed 3 times each, judged, and ranked."""
    ready = appliance(runs)
    records: list[RunRecord] = []
    for name in DEMO_GAMES:
        order = Order(find_contract(name), Stack(model=f"scripted:{DEMO / name}.yaml"))
        records.append(_one(ready, order))
    _report(records, ready.store, as_json)


def run(
    plan: Annotated[Path | None, typer.Argument(help="A plan (YAML): contracts × stacks × repeats.")] = None,
    contract: Annotated[
        str | None, typer.Option("--contract", help="A contract: name, name@version or a file.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="The model's name, or scripted:FILE.yaml.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="An OpenAI-compatible endpoint, up to and with /v1.")
    ] = None,
    effort: Annotated[
        str | None, typer.Option("--effort", help="Reasoning effort, as the provider names it.")
    ] = None,
    resume: Annotated[
        str | None, typer.Option("--resume", help="Continue this run where it was stopped.")
    ] = None,
    at_once: AtOnce = 1,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Run one contract with one model, or a plan, or continue a run that was stopped."""
    given = [plan is not None, resume is not None, contract is not None or model is not None]
    if sum(given) != 1:
        raise WrongInput("Give one of: a plan file, --contract with --model, or --resume RUN.")
    if plan is not None:
        cells = load_plan(plan)
        ready = appliance(runs)
        records = run_plan(
            cells, ready.store, at_once, lambda cell, run_id: _cell(ready, cell, run_id), _tell
        )
    elif resume is not None:
        ready = appliance(runs)
        records = [_resumed(ready, resume)]
    else:
        if contract is None or model is None:
            raise WrongInput(
                f"{'--contract' if contract is None else '--model'} is missing; `run` needs both."
            )
        order = Order(find_contract(contract), _stack(model, base_url, effort))
        ready = appliance(runs)
        records = [_one(ready, order)]
    _report(records, ready.store, as_json)


def _stack(model: str, base_url: str | None, effort: str | None) -> Stack:
    if model.startswith("scripted:"):
        file = Path(model.removeprefix("scripted:")).absolute()
        if not file.is_file():
            raise WrongInput(
                f"The scripted model's file {file} does not exist; check the path after scripted:."
            )
        model = f"scripted:{file}"
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise WrongInput(f"--base-url {base_url!r} is no address; it starts with http:// or https://.")
    return Stack(model=model, base_url=base_url, effort=effort)


def _one(ready: Appliance, order: Order) -> RunRecord:
    folder, record = begin(ready, order)
    bound = replace(ready, say=speaker(run=record.run_id))
    bound.say(f"{order.contract.title}: {order.stack.model}")
    return finish(bound, order, folder, record)


def _cell(ready: Appliance, cell: Cell, run_id: str | None) -> RunRecord:
    if run_id is not None:
        return _resumed(ready, run_id)
    return _one(ready, Order(cell.contract, cell.stack, cell.name))


def _resumed(ready: Appliance, name: str) -> RunRecord:
    folder = ready.store.find(name)
    record = read_record(folder)
    contract = contract_of(folder, record)
    used = record.stack
    stack = Stack(model=used.model, base_url=used.base_url, effort=used.effort)
    bound = replace(ready, say=speaker(run=record.run_id))
    bound.say(f"continuing at stage {record.stage}")
    return finish(bound, Order(contract, stack, record.cell), folder, record)


def _tell(cell: Cell, what: str) -> None:
    speaker(cell=cell.name)(f"{cell.contract.label} × {cell.stack.model} #{cell.repeat} {what}")


def _report(records: list[RunRecord], store: Store, as_json: bool) -> None:
    """Print what came out; leaves with exit 1 when some run has no ranked time."""
    if as_json:
        print_json(list(records))
    else:
        console.print(run_table(records))
        for record in records:
            console.print(f"\n{record.contract} in {store.root / record.run_id}", highlight=False)
            if record.exit_reason is not None:
                console.print(plain(f"{record.exit}: {record.exit_reason}", 500))
            if record.replays:
                console.print(replay_table(record.replays))
    if any(record.exit == "infra_error" for record in records):
        raise typer.Exit(int(ExitCode.INFRASTRUCTURE))
    if any(record.ranked_time_ms is None for record in records):
        raise typer.Exit(int(ExitCode.JUDGED_FAILED))
