"""The page's requests under the virtual clock: how many are on their way, frames that load, images one at a time, modules after the frame's own
tasks. Hard part: nothing of the network's own order may reach the page, and nothing that stays open for ever (a stream, a media
file) may hold the clock."""

import asyncio
from collections.abc import Callable
from typing import Any

from playwright.async_api import Error as PlaywrightError

from .cdp import Cdp

ENDLESS = ("EventSource", "WebSocket", "Media", "Ping")
PAUSED = ("Image", "Script")
OWN_TIME = ("blob:", "data:")
"""Modules of such addresses are no requests that could be paused: they run when they will."""


class Loads:
    def __init__(self, cdp: Cdp) -> None:
        self._cdp = cdp
        self.on_late: Callable[[str], None] | None = None
        """Hears of what comes in its own time."""
        self._holding = False
        self._held: list[str] = []  # fetch ids of scripts asked for in the frame's own tasks
        self._open: set[str] = set()
        self._stirred = False  # something came or went since it was last waited for
        self._line: list[tuple[str, str]] = []  # (fetch id, network id) of what waits for its turn
        self._let_through: str | None = None
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def pending(self) -> bool:
        """True when something is on its way, or has just come: the page is yet to make of it what it will."""
        return bool(self._open) or self._stirred

    async def install(self) -> None:
        self._cdp.on("Network.requestWillBeSent", self._sent)
        self._cdp.on("Network.loadingFinished", self._ended)
        self._cdp.on("Network.loadingFailed", self._ended)
        self._cdp.on("Page.frameStartedLoading", lambda event: self._begin(_frame(event)))
        self._cdp.on("Page.frameStoppedLoading", lambda event: self._close(_frame(event)))
        self._cdp.on("Page.frameDetached", lambda event: self._close(_frame(event)))
        self._cdp.on("Fetch.requestPaused", self._paused)
        await self._cdp.send(
            "Fetch.enable", {"patterns": [{"urlPattern": "*", "resourceType": kind} for kind in PAUSED]}
        )

    def hold(self) -> None:
        """Scripts wait from now on: one that came between two tasks of a frame would come elsewhere on another host."""
        self._holding = True

    def release(self) -> None:
        self._holding = False
        held, self._held = self._held, []
        for fetch in held:
            self._go_on(fetch)

    async def idle(self, patience_s: float) -> bool:
        """Waits until nothing is on its way; False when that took too long."""
        try:
            async with asyncio.timeout(patience_s):
                while self._open:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            self._open.clear()
            return False
        finally:
            self._stirred = False
        return True

    def _sent(self, event: dict[str, Any]) -> None:
        request, kind = str(event["requestId"]), event.get("type")
        if kind == "Script" and "." not in request:
            return  # a worker's own script, whose end the page's session is not told
        if kind == "Script" and self._holding and str(event["request"]["url"]).startswith(OWN_TIME):
            self._late("a module of a blob: or data: address runs in its own time")
        # What is no request of the network has ended before the page's tick has, but a module of it is yet to run.
        if kind not in ENDLESS and (kind == "Script" or str(event["request"]["url"]).startswith("http")):
            self._begin(request)

    def _ended(self, event: dict[str, Any]) -> None:
        request = str(event["requestId"])
        self._close(request)
        if request == self._let_through:
            self._let_through = None
            self._next()

    def _late(self, what: str) -> None:
        if self.on_late is not None:
            self.on_late(what)

    def _begin(self, name: str) -> None:
        self._open.add(name)
        self._stirred = True

    def _close(self, name: str) -> None:
        self._open.discard(name)
        self._stirred = True
        self._changed.set()

    def _paused(self, event: dict[str, Any]) -> None:
        fetch, network = str(event["requestId"]), str(event.get("networkId") or event["requestId"])
        if event.get("resourceType") == "Script":
            if self._holding:
                self._held.append(fetch)
            else:
                self._go_on(fetch)
        elif network == self._let_through:  # one request may be paused again on its way
            self._go_on(fetch, network)
        else:
            self._line.append((fetch, network))
            self._next()

    def _next(self) -> None:
        if self._let_through is not None or not self._line:
            return
        fetch, network = self._line.pop(0)
        self._let_through = network
        self._go_on(fetch, network)

    def _go_on(self, fetch: str, turn: str | None = None) -> None:
        task = asyncio.ensure_future(self._continue(fetch, turn))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _continue(self, fetch: str, turn: str | None) -> None:
        try:
            await self._cdp.send("Fetch.continueRequest", {"requestId": fetch})
        except PlaywrightError:  # the document that asked is gone
            if turn is not None and turn == self._let_through:
                self._let_through = None
                self._next()


def _frame(event: dict[str, Any]) -> str:
    """A frame is on its way from its navigation to its load event."""
    return f"frame {event['frameId']}"
