"""`doctor`: what of this machine works, what does not, and what to do about it."""

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from contracts.errors import ExitCode, InfraFailure
from harness.cli.display import console, plain, print_json
from harness.cli.options import Json
from harness.engine import Engine
from harness.engine.doctor import checks
from images import ImageStore


def doctor(
    as_json: Json = False,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out the browser in a container.")] = False,
) -> None:
    """Check engine, kernel, disk, memory, clock, and the browser in its container; each failure has a remedy."""
    try:
        engine: Engine | InfraFailure = Engine.connect()
    except InfraFailure as failure:
        engine = failure
    images = ImageStore()
    found = checks(engine, {} if quick else _replay_image(engine, images))
    ok = all(check.ok for check in found)
    if as_json:
        rows = [{"name": c.name, "ok": c.ok, "detail": c.detail, "remedy": c.remedy} for c in found]
        print_json({"ok": ok, "checks": rows})
    else:
        table = Table()
        for name in ("check", "", "found", "remedy"):
            table.add_column(name, overflow="fold")
        for check in found:
            mark = Text("ok", style="green") if check.ok else Text("NO", style="bold red")
            table.add_row(check.name, mark, plain(check.detail), plain("" if check.ok else check.remedy))
        console.print(table)
    if not ok:
        raise typer.Exit(int(ExitCode.INFRASTRUCTURE))


def _replay_image(engine: Engine | InfraFailure, images: ImageStore) -> dict[str, str]:
    """The replay image where it is built already."""
    if isinstance(engine, InfraFailure) or not images.is_built("replay"):
        return {}
    return {"replay": images.ready("replay", None, engine.docker_client()).engine_ref}
