"""`python3 -m driver.probe`: one JSON line that says whether a browser works here as replays need it: renderer, pointer lock, trusted
input, sandbox, version. For `playproof doctor`, so it brings its own page and needs no project."""

import asyncio
import json
import sys
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .browser import within
from .errors import DriverFailure
from .stage import Stage

PAGE = b"""<!doctype html><title>probe</title><canvas width=400 height=300></canvas><script>
const canvas = document.querySelector("canvas");
globalThis.probe = { trusted: null, locked: null };
canvas.addEventListener("mousedown", (event) => { probe.trusted = event.isTrusted; canvas.requestPointerLock(); });
document.addEventListener("pointerlockchange", () => { probe.locked = document.pointerLockElement === canvas; });
document.addEventListener("pointerlockerror", () => { probe.locked = false; });
</script>"""
LOCK_TIMEOUT_S = 3.0


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *args: object) -> None:
        return


async def _click_and_look(stage: Stage) -> dict[str, Any]:
    await stage.page.mouse.move(100, 100)
    await stage.page.mouse.down()
    await stage.page.mouse.up()
    found: dict[str, Any] = {}
    for _ in range(int(LOCK_TIMEOUT_S * 20)):
        question = {"expression": "({...probe})", "returnByValue": True}
        found = (await stage.command("Runtime.evaluate", question))["result"]["value"]
        if found["locked"] is not None:
            break
        await asyncio.sleep(0.05)
    return found


async def _sandboxed(stage: Stage) -> bool:
    page = await stage.browser.inner.new_page()
    await page.goto("chrome://sandbox", timeout=5000)
    return "You are adequately sandboxed" in await page.inner_text("body", timeout=5000)


async def probe() -> dict[str, Any]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Page))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stage = await Stage.open(f"http://127.0.0.1:{server.server_port}/", None, (640, 360))
    try:
        found = await within(10, _click_and_look(stage), "trying the pointer lock")
        return {
            "renderer": await stage.renderer(),
            "pointer_lock": found["locked"] is True,
            "trusted": found["trusted"] is True,
            "sandbox": await _sandboxed(stage),
            "version": stage.browser.inner.version,
        }
    finally:
        await stage.close()
        server.shutdown()


def main() -> int:
    try:
        print(json.dumps(asyncio.run(probe())))
    except DriverFailure as failure:
        print(json.dumps({"error": str(failure)}))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
