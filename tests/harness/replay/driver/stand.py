"""Runs in a container, as a program: keeps a project's server and a page open and plays one script after another in it, as JSON
lines on stdin ask; each answer says how it ended, what was logged, which events were sent and which calls were refused."""

import asyncio
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from driver.device import Dispatch  # pyright: ignore[reportMissingImports]
from driver.server import ProjectServer  # pyright: ignore[reportMissingImports]
from driver.stage import Stage  # pyright: ignore[reportMissingImports]


class Stand:
    def __init__(self) -> None:
        self.server: Any = None
        self.stage: Any = None
        self.dispatched: list[Any] = []
        self.scripts = 0

    async def open(self, serve: str = "vite", page: str = "/", root: str = "/workspace") -> None:
        await self.close()
        self.server = await ProjectServer.start(Path(root), serve=serve)
        url = self.server.url(page)
        self.stage = await Stage.open(url, self.server.nonce, (640, 360), on_dispatch=self.note)

    async def close(self) -> None:
        if self.stage is not None:
            await self.stage.close()
            await self.server.close()

    def note(self, dispatch: "Dispatch") -> None:
        self.dispatched.append([dispatch.t_ms, dispatch.kind, *dispatch.args])

    async def crash(self, after_s: float) -> None:
        """Crashes the page's process while a script runs."""
        await asyncio.sleep(after_s)
        await self.stage.cdp.send("Page.crash")

    async def play(
        self, scripts: list[str], crash_after_s: float | None = None, **limits: float
    ) -> dict[str, Any]:
        """Starts all the scripts at once and waits for all."""
        logs, bypasses = len(self.stage.logs.entries), len(self.stage.bridge.bypasses)
        self.dispatched.clear()
        tasks: list[Any] = []
        for text in scripts:
            self.scripts += 1
            url = (await self.server.order("inline", name=f"s{self.scripts}.ts", text=text))["url"]
            tasks.append(self.stage.start_script(url, **limits))
        if crash_after_s is not None:
            tasks.append(
                asyncio.ensure_future(
                    asyncio.wait([asyncio.ensure_future(self.crash(crash_after_s))], timeout=10)
                )
            )
        results = (await asyncio.gather(*tasks))[: len(scripts)]
        await self.stage.logs.settle(20)
        return {
            "results": [dataclasses.asdict(result) for result in results],
            "logs": [entry.line for entry in self.stage.logs.entries[logs:]],
            "dispatched": self.dispatched,
            "bypasses": [bypass.reason for bypass in self.stage.bridge.bypasses[bypasses:]],
        }


async def main() -> None:
    stand = Stand()
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        order = json.loads(line)
        try:
            if order["op"] == "open":
                await stand.open(**order["with"])
                answer: dict[str, Any] = {"ok": True}
            else:
                answer = await stand.play(order["scripts"], **order["limits"])
        except Exception as error:
            answer = {"failure": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
    await stand.close()


asyncio.run(main())
