"""The command line: one typer app, one place where failures become a sentence and an exit code."""

import sys

import typer

from contracts.errors import ExitCode, PlayproofError
from harness import __version__
from harness.archive.secrets import Secrets
from harness.cli import (
    bench_command,
    doctor_command,
    evaluate_commands,
    log,
    replay_command,
    run_commands,
    store_commands,
)
from harness.cli.images_commands import images_app

app = typer.Typer(
    name="playproof",
    help="Evaluate AI agents that play browser games: sealed sessions, clean replays, trusted judges.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("demo")(run_commands.demo)
app.command("run")(run_commands.run)
app.command("replay")(replay_command.replay)
app.command("evaluate")(evaluate_commands.evaluate_runs)
app.command("show")(store_commands.show)
app.command("list")(store_commands.list_runs)
app.command("doctor")(doctor_command.doctor)
app.command("bench")(bench_command.bench)
app.add_typer(images_app, name="images")
app.add_typer(store_commands.contracts_app, name="contracts")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"playproof {__version__}")
        raise typer.Exit()


@app.callback()
def _root(  # pyright: ignore[reportUnusedFunction]
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    log.configure()


def main() -> None:
    """Run the command line and exit with the code of the table in README.md."""
    try:
        app(prog_name="playproof")
    except PlayproofError as error:
        sentence = Secrets.from_environment().clean_text(" ".join(str(error).split()))
        print(f"playproof: {sentence}", file=sys.stderr)
        raise SystemExit(int(error.exit_code)) from None
    except KeyboardInterrupt:
        print(
            "playproof: interrupted; `playproof run --resume RUN` goes on with what was complete.",
            file=sys.stderr,
        )
        raise SystemExit(130) from None
    raise SystemExit(int(ExitCode.DONE))
