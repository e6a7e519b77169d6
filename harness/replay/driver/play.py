"""One script played in a page, from the command's options to its outcome: page, log, recording, traces, screenshot. Shared by the
single command and by sessions. Hard part: whatever goes wrong, what was asked for is still written, and the time limit holds
over all of it."""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

from .errors import DriverFailure
from .logs import LogEntry
from .options import Options, Place, find_script
from .runner import ScriptResult
from .server import ProjectServer
from .stage import Stage
from .traces import Traces

SETTLE_TIMEOUT_S = 10.0
DEFAULT_SEED = 1
TRACE_KINDS = ("cpu_profile", "network_trace", "performance_trace", "heap_snapshot")
_RUN_ID = re.compile(r"[?&]vitexec=[0-9a-f]{32}")

Print = Callable[[str], None]


def tidy(text: str) -> str:
    """Text of the page without the ids of runs, which mean nothing to a reader."""
    return _RUN_ID.sub("", text)


class Deadline:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return self._ends - time.monotonic()

    @contextlib.asynccontextmanager
    async def over(self, what: str) -> AsyncGenerator[None]:
        try:
            async with asyncio.timeout(max(0.0, self.left)):
                yield
        except TimeoutError:
            raise DriverFailure(f"Vitexec timed out after {self.seconds:g}s while {what}.") from None


async def open_stage(server: ProjectServer, place: Place, options: Options) -> Stage:
    """A page that is prepared and not yet loaded, so that recording and traces can begin before it."""
    url = server.url(place.page or server.entry)
    return await Stage.open(
        url, server.nonce, options.viewport, seed=page_seed(options), gpu=options.gpu, load=False
    )


def page_seed(options: Options) -> int | None:
    """The seed of a virtual clock's page; None under the real clock."""
    if options.clock == "real":
        return None
    return DEFAULT_SEED if options.seed is None else options.seed


async def place_script(server: ProjectServer, source: str, folder: Path, root: Path) -> str:
    """Puts the script where the server serves it and returns its URL path."""
    file = find_script(source, folder, root)
    if file is not None:
        return str((await server.order("script_url", file=str(file)))["url"])
    name = f"code{time.monotonic_ns()}.ts"
    return str((await server.order("inline", name=name, text=source))["url"])


async def play(
    server: ProjectServer,
    stage: Stage,
    url: str,
    options: Options,
    folder: Path,
    deadline: Deadline,
    load: bool,
) -> ScriptResult:
    """Loads the page if asked, runs the script, and writes what the options ask for."""
    traces = Traces(
        stage, {kind: folder / name for kind in TRACE_KINDS if (name := getattr(options, kind)) is not None}
    )
    if options.record is not None:
        await stage.start_recording(folder / options.record, options.viewport, options.record_fps)
    try:
        async with deadline.over("preparing the page"):
            await traces.start()
            if load:
                await stage.load(max(0.1, deadline.left))
                if stage.frames is not None:
                    await stage.frames.preload((await server.order("imports", url=url))["urls"])
        result = await stage.play_out(stage.start_script(url, max(0.1, deadline.left)))
    finally:
        if options.screenshot is not None and not stage.crashed.is_set():
            await _try_screenshot(stage, folder / options.screenshot)
        await stage.stop_recording()
    if not stage.crashed.is_set():
        await traces.write()
    await stage.logs.settle(SETTLE_TIMEOUT_S)
    stage.logs.close_run()
    return await _mapped(server, result)


async def _try_screenshot(stage: Stage, path: Path) -> None:
    try:
        await stage.screenshot(path)
    except (DriverFailure, OSError) as error:
        stage.logs.add("error", f"the screenshot {path} was not taken: {error}")


async def _mapped(server: ProjectServer, result: ScriptResult) -> ScriptResult:
    """The result with the stack in the lines of the source file."""
    if not result.stack:
        return result
    with contextlib.suppress(DriverFailure, json.JSONDecodeError):
        stack = str((await server.order("map_stack", text=result.stack))["text"])
        return ScriptResult(result.status, result.message, stack, result.duration_ms, result.errors)
    return result


def failure_text(result: ScriptResult) -> str | None:
    """What follows `vitexec failed: `, or None for a script that was done."""
    if result.status == "done":
        return None
    frames = [line for line in result.stack.splitlines() if line.startswith("    at ")]
    return tidy("\n".join([result.message or result.status, *frames]))


def entry_text(entry: LogEntry) -> str:
    return tidy(entry.line)
