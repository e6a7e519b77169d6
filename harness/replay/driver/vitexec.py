"""The `vitexec` command: runs a script in the page of a Vite project, alone or in a named page that stays. Output is for an agent that
reads it in a shell: `logs:` and the page's lines on stdout as they come, one line of failure on stderr, exit code 0 or 1."""

import asyncio
import contextlib
import dataclasses
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from .errors import DriverFailure
from .options import Command, Options, find_place, help_text, parse_command
from .play import Deadline, entry_text, failure_text, open_stage, place_script, play
from .server import ProjectServer
from .sessions import ask_session, open_session


def out(line: str) -> None:
    print(line, flush=True)


async def run_once(source: str, options: Options, folder: Path) -> str | None:
    """Serves the project, opens a page, runs the script and closes all of it; returns what failed."""
    deadline = Deadline(options.timeout)
    place = find_place(options.path, folder)
    async with contextlib.AsyncExitStack() as cleanup:
        async with deadline.over("serving the project"):
            config = Path(options.config) if options.config else None
            server = await ProjectServer.start(place.root, config, clock=options.clock)
        cleanup.push_async_callback(server.close)
        url = await place_script(server, source, folder, place.root)
        async with deadline.over("starting the browser"):
            stage = await open_stage(server, place, options)
        cleanup.push_async_callback(stage.close)
        stage.logs.on_entry = lambda entry: out(entry_text(entry))
        result = await play(server, stage, url, options, folder, deadline, load=True)
        return failure_text(result)


async def _until_signal(work: Coroutine[Any, Any, str | None]) -> str | None:
    """Lets a signal end the work in order, so that browser and server end with it."""
    task = asyncio.ensure_future(work)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return "it was interrupted"


def carry_out(command: Command, folder: Path) -> str | None:
    options = command.options
    if command.source == "-":
        command = dataclasses.replace(command, source=sys.stdin.read())
    match command.form:
        case "open":
            assert command.session is not None
            place = find_place(options.path, folder)
            open_session(command.session, place, absolute_config(options, folder))
            out(f"session {command.session} is open")
            return None
        case "close":
            assert command.session is not None
            failure = asyncio.run(_until_signal(ask_session(command.session, {"op": "close"}, out)))
            out(f"session {command.session} is closed")
            return failure
        case "run":
            assert command.session is not None
            request = {
                "op": "run",
                "source": command.source,
                "folder": str(folder),
                "options": dataclasses.asdict(options),
            }
            out("logs:")
            return asyncio.run(_until_signal(ask_session(command.session, request, out)))
        case "once":
            assert command.source is not None
            out("logs:")
            return asyncio.run(
                _until_signal(run_once(command.source, absolute_config(options, folder), folder))
            )


def absolute_config(options: Options, folder: Path) -> Options:
    return (
        options
        if options.config is None
        else dataclasses.replace(options, config=str(folder / options.config))
    )


def main(arguments: list[str]) -> int:
    if any(word in ("-h", "--help") for word in arguments):
        print(help_text())
        return 0
    try:
        failure = carry_out(parse_command(arguments, os.environ), Path.cwd())
    except DriverFailure as error:
        failure = str(error)
    if failure is None:
        return 0
    sys.stdout.flush()
    print(f"vitexec failed: {failure}", file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
