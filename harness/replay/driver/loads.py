"""The page's requests under the virtual clock: how many are on their way, and images one at a time. Hard part: nothing of the network's
own order may reach the page, and nothing that stays open for ever (a stream, a media file) may hold the clock."""

import asyncio
from typing import Any

from playwright.async_api import Error as PlaywrightError

from .cdp import Cdp

ENDLESS = ("EventSource", "WebSocket", "Media", "Ping")
ONE_BY_ONE = ("Image",)


class Loads:
    def __init__(self, cdp: Cdp) -> None:
        self._cdp = cdp
        self._open: set[str] = set()
        self._line: list[tuple[str, str]] = []  # (fetch id, network id) of what waits for its turn
        self._let_through: str | None = None
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def pending(self) -> bool:
        return bool(self._open)

    async def install(self) -> None:
        self._cdp.on("Network.requestWillBeSent", self._sent)
        self._cdp.on("Network.loadingFinished", self._ended)
        self._cdp.on("Network.loadingFailed", self._ended)
        self._cdp.on("Fetch.requestPaused", self._paused)
        await self._cdp.send(
            "Fetch.enable", {"patterns": [{"urlPattern": "*", "resourceType": kind} for kind in ONE_BY_ONE]}
        )

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
        return True

    def _sent(self, event: dict[str, Any]) -> None:
        url = str(event["request"]["url"])
        if event.get("type") not in ENDLESS and url.startswith("http"):
            self._open.add(str(event["requestId"]))

    def _ended(self, event: dict[str, Any]) -> None:
        request = str(event["requestId"])
        self._open.discard(request)
        self._changed.set()
        if request == self._let_through:
            self._let_through = None
            self._next()

    def _paused(self, event: dict[str, Any]) -> None:
        fetch, network = str(event["requestId"]), str(event.get("networkId") or event["requestId"])
        if network == self._let_through:  # one request may be paused again on its way
            self._go_on(fetch)
        else:
            self._line.append((fetch, network))
            self._next()

    def _next(self) -> None:
        if self._let_through is not None or not self._line:
            return
        fetch, self._let_through = self._line.pop(0)
        self._go_on(fetch)

    def _go_on(self, fetch: str) -> None:
        task = asyncio.ensure_future(self._continue(fetch))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _continue(self, fetch: str) -> None:
        try:
            await self._cdp.send("Fetch.continueRequest", {"requestId": fetch})
        except PlaywrightError:  # the document that asked is gone
            self._let_through = None
            self._next()
