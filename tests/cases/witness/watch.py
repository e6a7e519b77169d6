"""Runs in a container, as a program: opens one page after another, acts on it with the driver's device and with page code, and
answers each order with what the page saw, what the witness saw and what tape and witness do not explain to each other."""

import asyncio
import dataclasses
import functools
import http.server
import json
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from driver.browser import Browser  # pyright: ignore[reportMissingImports]
from driver.cdp import Cdp  # pyright: ignore[reportMissingImports]
from driver.clock import RealClock  # pyright: ignore[reportMissingImports]
from driver.device import PageDevice  # pyright: ignore[reportMissingImports]
from driver.input import Input  # pyright: ignore[reportMissingImports]
from driver.reconcile import reconcile  # pyright: ignore[reportMissingImports]
from driver.witness import Witness  # pyright: ignore[reportMissingImports]

PAGES = Path(__file__).parent / "pages"
VIEWPORT = (640, 360)


class QuietServer(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        return


class Page:
    """One page in a context of its own, with a witness and a tape."""

    def __init__(self, page: Any, cdp: Any, browser: Any) -> None:
        self.page = page
        self.cdp = cdp
        self.tape: list[Any] = []
        clock = RealClock()
        self.witness = Witness(cdp, clock, browser)
        self.device = PageDevice(page, clock, self.tape.append)
        self.input = Input(self.device, clock)

    async def do(self, act: list[Any]) -> None:
        name, *words = act
        if name == "page":
            await self.page.evaluate(words[0])
        elif name == "wait":
            await asyncio.sleep(words[0])
        elif name == "together":
            await asyncio.gather(*(self.do(one) for one in words))
        elif name == "forget":  # an event that no tape has, as if from elsewhere
            dispatched = list(self.tape)
            await self.do(words[0])
            self.tape[:] = dispatched
        elif name in ("move", "button_down", "button_up", "key_down", "key_up"):
            await getattr(self.device, name)(*words)
        else:
            await self.input.call(name, *(words + [None] * 3)[:3])

    async def report(self) -> dict[str, Any]:
        await self.witness.settle()
        left = reconcile(self.tape, self.witness.events, VIEWPORT)
        events = [dataclasses.asdict(event) for event in self.witness.events]
        kinds = Counter(f"{event['type']} {event['trusted']}" for event in events)
        return {
            "seen": await self.page.evaluate("globalThis.seen ?? []"),
            "events": events[:400],
            "kinds": kinds,
            "findings": [dataclasses.asdict(one) for one in self.witness.findings],
            "before": [dataclasses.asdict(one) for one in self.witness.before],
            "left": [dataclasses.asdict(one) for one in left],
        }


async def visit(
    browser: Any, port: int, name: str, acts: list[list[Any]], start_late: bool
) -> dict[str, Any]:
    size = {"width": VIEWPORT[0], "height": VIEWPORT[1]}
    context = await browser.inner.new_context(viewport=size, accept_downloads=False)
    try:
        page = await context.new_page()
        cdp = await Cdp.of_page(page)
        for domain in ("Page", "Runtime"):
            await cdp.send(f"{domain}.enable")
        watched = Page(page, cdp, await Cdp.of_browser(browser.inner))
        await watched.witness.install()
        await page.goto(f"http://127.0.0.1:{port}/{name}", wait_until="load")
        if not start_late:
            watched.witness.begin()
        for act in acts:
            await watched.do(act)
        return await watched.report()
    finally:
        await context.close()


async def main() -> None:
    handler = functools.partial(QuietServer, directory=str(PAGES))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = await Browser.launch()
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        order = json.loads(line)
        try:
            answer = await visit(
                browser, server.server_port, order["page"], order["acts"], order["start_late"]
            )
        except Exception as error:
            answer = {"failure": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
    await browser.close()
    server.shutdown()


asyncio.run(main())
