"""`images`: build, list, verify, save and load the pinned container images."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import docker
import typer
from rich.table import Table

from contracts.errors import ExitCode
from harness.cli.display import console, print_json
from harness.cli.log import speaker
from harness.cli.options import Json
from harness.engine import Engine
from images import ImageStore
from images.games import game_names
from images.recipe import recipe_names

images_app = typer.Typer(
    no_args_is_help=True, help="Build, list, check and carry the pinned container images."
)

Names = Annotated[list[str] | None, typer.Argument(help="Image names; all when none is given.")]


def say(message: str) -> None:
    """One line of progress."""
    speaker()(message)


def engine_client() -> docker.DockerClient:
    """The engine of this environment, as every other command finds it."""
    return Engine.connect().docker_client()


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
    rows = ImageStore().list()
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    table = Table("image", "game", "digest", "size", "state")
    for row in rows:
        size = f"{row.size_bytes >> 20} MB" if row.size_bytes else ""
        table.add_row(row.name, row.game or "", row.digest.removeprefix("sha256:")[:16], size, row.state)
    console.print(table)


@images_app.command()
def verify(as_json: Json = False) -> None:
    """Recompute the digest of every layer, configuration and package file."""
    problems = ImageStore().verify()
    if as_json:
        print_json({"ok": not problems, "problems": [asdict(one) for one in problems]})
    else:
        for problem in problems:
            say(f"{problem.kind}: {problem.file}: {problem.message}")
        say("every file is what its name or the lock says" if not problems else f"{len(problems)} problems")
    if problems:
        raise typer.Exit(int(ExitCode.JUDGED_FAILED))


@images_app.command()
def save(
    path: Annotated[Path, typer.Argument(help="The file to write, for example images.tar.zst.")],
    names: Annotated[
        list[str] | None, typer.Argument(help="Images, a game after a colon: agent:breakout.")
    ] = None,
) -> None:
    """Save images into one file for another machine."""
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
    for digest in ImageStore().load(path, engine_client() if into_engine else None, say):
        say(f"loaded {digest}")
