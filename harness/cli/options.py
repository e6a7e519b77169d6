"""The options that several commands share, and what they open."""

import os
from pathlib import Path
from typing import Annotated

import typer

from harness.archive.store import Store

Json = Annotated[bool, typer.Option("--json", help="Print records as JSON.")]
Runs = Annotated[
    Path | None,
    typer.Option("--runs", help="The folder runs are kept in (default: $PLAYPROOF_RUNS or ./runs)."),
]


def store_at(runs: Path | None) -> Store:
    """The store that `--runs`, $PLAYPROOF_RUNS or the working folder names."""
    return Store(runs or Path(os.environ.get("PLAYPROOF_RUNS", "runs")).absolute())
