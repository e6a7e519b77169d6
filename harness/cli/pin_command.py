"""`contracts pin`: fill in the digests of a draft contract."""

from pathlib import Path
from typing import Annotated

import typer

from harness.pipeline.pin import pin
from images import ImageStore


def pin_contract(files: Annotated[list[Path], typer.Argument(help="Draft contracts (YAML).")]) -> None:
    """Fill in the digests of draft contracts: prompt, evaluator, game and images."""
    store = ImageStore()
    for file in files:
        contract = pin(file, store)
        typer.echo(f"{contract.label} {contract.digest}")
