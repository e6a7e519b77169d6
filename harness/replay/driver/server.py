"""The project's server as a child of ours: `node server.mjs --control`, spoken to in JSON lines. It ends when we do, because it
ends when its stdin does."""

import asyncio
import contextlib
import json
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path
from typing import Any, Self, cast

from .errors import DriverFailure

SERVER = Path(__file__).with_name("server.mjs")
START_TIMEOUT_S = 120.0  # a first start may have to optimise dependencies
ORDER_TIMEOUT_S = 30.0
LONGEST_LINE = 64 * 1024 * 1024


class ProjectServer:
    def __init__(self, process: Process, port: int, nonce: str, entry: str) -> None:
        self._process = process
        self._turn = asyncio.Lock()
        self.port = port
        self.nonce = nonce
        self.entry = entry

    @classmethod
    async def start(
        cls, root: Path, config: Path | None = None, serve: str | None = None, clock: str = "real"
    ) -> Self:
        arguments = ["--control", "--root", str(root), "--clock", clock]
        if serve is not None:
            arguments += ["--serve", serve]
        if config is not None:
            arguments += ["--config", str(config)]
        try:
            process = await asyncio.create_subprocess_exec(
                "node",
                str(SERVER),
                *arguments,
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                limit=LONGEST_LINE,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise DriverFailure("serving a project needs node, which is not installed here") from None
        try:
            first = await asyncio.wait_for(_read(process), START_TIMEOUT_S)
            if "error" in first:
                raise DriverFailure(f"the project {root} could not be served: {first['error']}")
        except TimeoutError:
            process.kill()
            raise DriverFailure(f"the project {root} was not served within {START_TIMEOUT_S:g} s") from None
        return cls(process, int(first["port"]), str(first["nonce"]), str(first["entry"]))

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    async def order(self, op: str, **fields: str) -> dict[str, Any]:
        """Gives one order and returns the answer."""
        stdin = self._process.stdin
        assert stdin is not None
        async with self._turn:
            try:
                stdin.write(json.dumps({"op": op, **fields}).encode() + b"\n")
                await stdin.drain()
                answer = await asyncio.wait_for(_read(self._process), ORDER_TIMEOUT_S)
            except (TimeoutError, ConnectionError) as error:
                raise DriverFailure(f"the project's server does not answer to {op}") from error
        if not answer.get("ok"):
            raise DriverFailure(str(answer.get("error")))
        return answer

    async def close(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 5)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


async def _read(process: Process) -> dict[str, Any]:
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line:
        raise DriverFailure("the project's server ended early")
    return cast(dict[str, Any], json.loads(line))
