"""Named pages that stay between commands: `open` starts a background process that keeps server and page and listens on a unix socket,
`run` and `close` talk to it. Hard part: the process must outlive the shell that started it without holding its pipes, and a
page that a timeout spoilt is replaced, not used again."""

import asyncio
import contextlib
import dataclasses
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

from .errors import DriverFailure
from .logs import LogEntry
from .options import Options, Place
from .play import Deadline, Print, entry_text, failure_text, open_stage, place_script, play
from .server import ProjectServer
from .stage import Stage

START_TIMEOUT_S = 180.0
CLOSE_TIMEOUT_S = 30.0
LONGEST_LINE = 16 * 1024 * 1024
SPOILT = ("timeout", "page_hung", "page_crashed")


def socket_path(name: str) -> Path:
    folder = Path("/tmp") / f"vitexec-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"{name}.sock"


def is_open(name: str) -> bool:
    """True when the session's process answers; the socket of a dead one is removed."""
    path = socket_path(name)
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            path.unlink(missing_ok=True)
            return False
    return True


def open_session(name: str, place: Place, options: Options) -> None:
    """Starts the session's process and waits until its page is loaded."""
    if is_open(name):
        raise DriverFailure(f"a session {name} is open already: vitexec close {name} ends it")
    told, tell = os.pipe()
    request = json.dumps(
        {"name": name, "root": str(place.root), "page": place.page, "options": dataclasses.asdict(options)}
    )
    subprocess.Popen(
        [sys.executable, "-m", "driver.sessions", str(tell), request],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(tell,),
        start_new_session=True,
    )
    os.close(tell)
    with os.fdopen(told) as answer:
        text = answer.read()
    if text != "ready":
        raise DriverFailure(text or f"the session {name} did not start")


async def ask_session(name: str, request: dict[str, Any], out: Print) -> str | None:
    """Sends one request, prints the log as it comes, and returns what failed."""
    try:
        reader, writer = await asyncio.open_unix_connection(str(socket_path(name)), limit=LONGEST_LINE)
    except OSError:
        raise DriverFailure(f"there is no session {name}: vitexec open {name} opens one") from None
    try:
        writer.write(json.dumps(request).encode() + b"\n")
        await writer.drain()
        while line := await reader.readline():
            message = cast(dict[str, Any], json.loads(line))
            if "log" in message:
                out(str(message["log"]))
            else:
                return cast(str | None, message["failure"])
        raise DriverFailure(f"the session {name} ended in the middle of the request")
    finally:
        writer.close()


class Session:
    """The background process's side: one server, one page, requests over the socket."""

    def __init__(self, server: ProjectServer, place: Place, options: Options) -> None:
        self._server = server
        self._place = place
        self._options = options
        self._stage: Stage | None = None
        self._listeners: set[asyncio.StreamWriter] = set()
        self._unread: list[LogEntry] = []
        self._opening = asyncio.Lock()
        self.closed = asyncio.Event()

    async def stage(self, deadline: Deadline) -> Stage:
        """The page, a new one if the last was spoilt."""
        async with self._opening:
            if self._stage is None:
                stage = await open_stage(self._server, self._place, self._options)
                stage.logs.on_entry = self._spread
                self._stage = stage
                async with deadline.over("loading the page"):
                    await stage.load(max(0.1, deadline.left))
            return self._stage

    def _spread(self, entry: LogEntry) -> None:
        if not self._listeners:
            self._unread.append(entry)
        for writer in self._listeners:
            writer.write(json.dumps({"log": entry_text(entry)}).encode() + b"\n")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = cast(dict[str, Any], json.loads(await reader.readline()))
            failure = None
            if request["op"] == "close":
                self.closed.set()
            else:
                failure = await self._run(request, writer)
        except DriverFailure as error:
            failure = str(error)
        with contextlib.suppress(ConnectionError):
            writer.write(json.dumps({"failure": failure}).encode() + b"\n")
            await writer.drain()
            writer.close()

    async def _run(self, request: dict[str, Any], writer: asyncio.StreamWriter) -> str | None:
        given = cast(dict[str, Any], request["options"])
        options = dataclasses.replace(Options(**given), viewport=self._options.viewport)
        folder, deadline = Path(request["folder"]), Deadline(options.timeout)
        unread, self._unread = self._unread, []
        for entry in unread:
            writer.write(json.dumps({"log": entry_text(entry)}).encode() + b"\n")
        self._listeners.add(writer)
        try:
            url = await place_script(self._server, request["source"], folder, self._place.root)
            stage = await self.stage(deadline)
            result = await play(self._server, stage, url, options, folder, deadline, load=False)
            if result.status in SPOILT:
                await self._discard(stage)
            return failure_text(result)
        finally:
            self._listeners.discard(writer)

    async def _discard(self, stage: Stage) -> None:
        if self._stage is stage:
            self._stage = None
            stage.logs.add("session", "the page was thrown away; the next run opens a fresh one")
            await stage.close()

    async def close(self) -> None:
        if self._stage is not None:
            await self._stage.close()
        await self._server.close()


async def keep(tell: int, request: dict[str, Any]) -> None:
    """The life of a session's process."""
    given = cast(dict[str, Any], request["options"])
    given["viewport"] = tuple(given["viewport"])
    options = Options(**given)
    place, path = Place(Path(request["root"]), request["page"]), socket_path(request["name"])
    session: Session | None = None
    try:
        deadline = Deadline(options.timeout)
        config = Path(options.config) if options.config else None
        server = await ProjectServer.start(place.root, config, clock=options.clock)
        session = Session(server, place, options)
        await session.stage(deadline)
        listener = await asyncio.start_unix_server(session.serve, str(path), limit=LONGEST_LINE)
        os.write(tell, b"ready")
        os.close(tell)
        async with listener:
            await session.closed.wait()
            path.unlink(missing_ok=True)
    except DriverFailure as failure:
        os.write(tell, str(failure).encode())
        os.close(tell)
    finally:
        if session is not None:
            await session.close()


if __name__ == "__main__":
    asyncio.run(keep(int(sys.argv[1]), json.loads(sys.argv[2])))
