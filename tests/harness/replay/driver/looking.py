"""Runs in a container, as a program: serves a folder of plain files, opens a page of it under either clock, lets frames pass and evaluates
expressions in it; JSON lines in, JSON lines out. A path under /slow/ is answered after as many ms as it says, /never never, and
/echo/N at once."""

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from driver.stage import Stage  # pyright: ignore[reportMissingImports]

EVALUATE_TIMEOUT_S = 60


class Answers(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    extensions_map: ClassVar[dict[str, str]] = {
        "": "application/octet-stream",
        ".html": "text/html",
        ".js": "text/javascript",
        ".svg": "image/svg+xml",
        ".json": "application/json",
    }
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        words = self.path.split("?")[0].split("/")
        if words[1] == "never":
            time.sleep(60)
        elif words[1] == "slow":
            time.sleep(float(words[2]) / 1000)
            self.path = "/" + "/".join(words[3:])
        if words[1] == "echo":
            self._say(words[2].encode())
        else:
            super().do_GET()

    def _say(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Looking:
    def __init__(self, folder: str) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Answers, directory=folder))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.stage: Any = None
        self.busy: list[subprocess.Popen[bytes]] = []

    async def open(self, page: str, seed: int | None = None, busy: int = 0) -> dict[str, Any]:
        await self.close()
        self.busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(busy)]
        url = f"http://127.0.0.1:{self.server.server_address[1]}/{page}"
        self.stage = await Stage.open(url, None, (640, 360), seed=seed)
        return {}

    async def close(self) -> None:
        for hog in self.busy:
            hog.kill()
            hog.wait()
        self.busy = []
        if self.stage is not None:
            await self.stage.close()
        self.stage = None

    async def frames(self, count: int) -> dict[str, Any]:
        for _ in range(count):
            await self.stage.step()
        return {}

    async def call(self, expression: str, frames: int = 0) -> dict[str, Any]:
        """Evaluates; with `frames` the page's time goes on until the value is there, for so many frames at most."""
        question = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        asked = asyncio.ensure_future(self.stage.cdp.send("Runtime.evaluate", question))
        for _ in range(frames):
            await asyncio.sleep(0)
            if asked.done():
                break
            await self.stage.step()
        answer = await asyncio.wait_for(asked, EVALUATE_TIMEOUT_S)
        if "exceptionDetails" in answer:
            return {"failure": json.dumps(answer["exceptionDetails"])[:2000]}
        return {"value": answer["result"].get("value")}

    async def click(self, x: float, y: float) -> dict[str, Any]:
        await self.stage.page.mouse.click(x, y)
        return {}

    async def seen(self) -> dict[str, Any]:
        """What the host noted: what it did not wait for, what it found, what was logged."""
        stage = self.stage
        findings = [[one.kind, one.detail] for one in (*stage.witness.before, *stage.witness.findings)]
        late = [] if stage.frames is None else stage.frames.late
        return {"late": late, "findings": findings, "logs": [entry.line for entry in stage.logs.entries]}


async def main() -> None:
    looking = Looking(sys.argv[1])
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        order = json.loads(line)
        try:
            answer = await getattr(looking, order.pop("op"))(**order)
        except Exception as error:
            answer = {"failure": repr(error)}
        print(json.dumps(answer), flush=True)
    with contextlib.suppress(Exception):
        await looking.close()


asyncio.run(main())
