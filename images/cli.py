"""`playproof images`: build, list, verify, save and load, for people and (`--json`) for programs."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import docker
import typer
from docker.errors import DockerException
from rich.console import Console
from rich.table import Table

from contracts.errors import ExitCode, InfraFailure, PlayproofError
from images.games import game_names
from images.recipe import recipe_names
from images.store import ImageStore

images_app = typer.Typer(
    no_args_is_help=True, help="Build, list, check and carry the pinned container images."
)
errors = Console(stderr=True)
output = Console()

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Names = Annotated[list[str] | None, typer.Argument(help="Image names; all when none is given.")]


ENGINE_TIMEOUT_S = 900
"""Loading a whole image takes a minute on a slow disk; no single call should take longer than this."""


def say(message: str) -> None:
    errors.print(message, highlight=False, markup=False)


@images_app.command()
def build(
    names: Names = None,
    accept_drift: Annotated[
        bool,
        typer.Option(
            "--accept-drift", help="Take what the Debian mirror has where locked versions are gone."
        ),
    ] = False,
    games: Annotated[bool, typer.Option(help="Build every game's layer too (needs the engine).")] = True,
    load_into_engine: Annotated[
        bool, typer.Option("--load/--no-load", help="Load the result into the engine.")
    ] = True,
) -> None:
    """Build images from the lock, the pool and, where the pool lacks something, the package sources."""
    with one_sentence():
        store = ImageStore()
        refs = store.build(names or recipe_names(), accept_drift=accept_drift, progress=say)
        if not load_into_engine:
            return
        client = engine_client()
        for ref in refs:
            store.ensure(ref, client, say)
        for game in game_names() if games and not names else []:
            for ref in refs:
                found = store.ready(ref.name, game, client, say)
                say(f"{ref.name} with {game}: {found.digest}")


@images_app.command("list")
def list_images(as_json: Json = False) -> None:
    """List the images, what they are now and whether this home has them."""
    with one_sentence():
        rows = ImageStore().list()
        if as_json:
            print(json.dumps([asdict(row) for row in rows], indent=1))
            return
        table = Table("image", "game", "digest", "size", "state")
        for row in rows:
            size = f"{row.size_bytes >> 20} MB" if row.size_bytes else ""
            table.add_row(row.name, row.game or "", row.digest.removeprefix("sha256:")[:16], size, row.state)
        output.print(table)


@images_app.command()
def verify(as_json: Json = False) -> None:
    """Recompute the digest of every layer, configuration and package file."""
    with one_sentence():
        problems = ImageStore().verify()
        if as_json:
            print(json.dumps({"ok": not problems, "problems": [asdict(one) for one in problems]}, indent=1))
        else:
            for problem in problems:
                say(f"{problem.kind}: {problem.file}: {problem.message}")
            say(
                "every file is what its name or the lock says"
                if not problems
                else f"{len(problems)} problems"
            )
        if problems:
            raise typer.Exit(ExitCode.JUDGED_FAILED)


@images_app.command()
def save(
    path: Annotated[Path, typer.Argument(help="The file to write, for example images.tar.zst.")],
    names: Annotated[
        list[str] | None, typer.Argument(help="Images, a game after a colon: agent:breakout.")
    ] = None,
) -> None:
    """Save images into one file for another machine."""
    with one_sentence():
        ImageStore().save(names or recipe_names(), path, say)
        say(f"{path}: {path.stat().st_size >> 20} MB")


@images_app.command()
def load(
    path: Annotated[Path, typer.Argument(help="A file that `images save` wrote.")],
    into_engine: Annotated[
        bool, typer.Option("--engine/--no-engine", help="Load them into the engine too.")
    ] = True,
) -> None:
    """Check a saved file and take its images, by digest only."""
    with one_sentence():
        for digest in ImageStore().load(path, engine_client() if into_engine else None, say):
            say(f"loaded {digest}")


@contextmanager
def one_sentence() -> Generator[None]:
    """A failure as its sentence and its exit code."""
    try:
        yield
    except PlayproofError as error:
        say(str(error))
        raise typer.Exit(error.exit_code) from error


def engine_client() -> docker.DockerClient:
    try:
        return docker.from_env(timeout=ENGINE_TIMEOUT_S)
    except DockerException as error:
        raise InfraFailure(
            f"No container engine answers ({error}); start it, or build with --no-load."
        ) from error
