"""`show`, `list` and `contracts`: what is in the archive and on the shelf. They need no engine."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from contracts.contract import all_contracts
from harness.archive.manifest import is_sealed, problems
from harness.archive.store import read_record
from harness.cli.display import console, plain, print_json, run_details, run_table
from harness.cli.options import Json, Runs, store_at
from harness.cli.pin_command import pin_contract


def list_runs(runs: Runs = None, as_json: Json = False) -> None:
    """List the runs in the store, newest first."""
    store = store_at(runs)
    records, damaged = store.records()
    if as_json:
        print_json(list(records))
    elif records:
        console.print(run_table(records))
    else:
        console.print(f"No runs in {store.root} yet; `playproof demo` makes two.")
    for sentence in damaged:
        typer.echo(f"playproof: {sentence}", err=True)


def show(
    run: Annotated[str, typer.Argument(help="A run id, the beginning of one, or `last`.")],
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Show one run: its ranked time, each replay, and the digests it stands on."""
    folder = store_at(runs).find(run)
    record = read_record(folder)
    if as_json:
        print_json(record)
        return
    run_details(record, str(folder))
    for part in _parts(folder):
        for sentence in problems(part):
            console.print(f"[red]damaged:[/red] {part.relative_to(folder)}:", plain(sentence))


def _parts(folder: Path) -> list[Path]:
    parts = [folder / "session", folder / "artifact", folder / "evidence", *folder.glob("evaluations/*")]
    return [part for part in parts if is_sealed(part)]


contracts_app = typer.Typer(help="The pinned evaluations that can be run.", no_args_is_help=False)


@contracts_app.callback(invoke_without_command=True)
def list_contracts(context: typer.Context, as_json: Json = False) -> None:
    """List the contracts on the shelf."""
    if context.invoked_subcommand is not None:
        return
    contracts = all_contracts()
    rows = [
        {"name": one.name, "kind": one.kind, "version": one.version, "digest": one.digest}
        for one in contracts
    ]
    if as_json:
        print_json(rows)
        return
    table = Table()
    for name in ("contract", "kind", "title", "session", "replays", "clock", "digest"):
        table.add_column(name)
    for one in contracts:
        minutes = f"{one.caps.session_s / 60:g} min"
        table.add_row(
            one.label,
            one.kind,
            one.title,
            minutes,
            str(one.replays.count),
            one.replays.clock,
            one.digest[:16],
        )
    console.print(table)


contracts_app.command("pin")(pin_contract)
