"""The host's loop of the virtual clock: one frame of the page at a time. In each frame the order is fixed: input due, the page's tick
(timers, animation frame, settle), capture, the ends of the script's calls. Hard part: what the script asked, what the driver's own tasks
send and what the browser acknowledges arrive as events; each step waits until all of it has come to rest before the next begins."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Generator
from typing import Any, cast

from playwright.async_api import Error as PlaywrightError

from .bridge import Bridge
from .browser import within
from .cdp import Cdp
from .clock import VirtualClock
from .errors import DriverFailure, PageTimeout
from .loads import Loads

CALM_TURNS = 24
"""Turns of the event loop without any dispatch after which the driver's tasks are taken to be at rest: the longest chain of
futures in it (a woken motion that ends and lets another begin) takes about ten."""

TICK_TIMEOUT_S = 30.0
SOUND_TIMEOUT_S = 2.0
PATIENCE_S = 5.0
"""Real seconds that one frame may wait for what the page loads; then time goes on and it is noted."""

OnFrame = Callable[[int], Awaitable[None]]
OnPicture = Callable[[int, int | None], Awaitable[None]]
"""Gets the frame's number and how many frames the page itself has drawn, where it says so."""


class Frames:
    def __init__(self, cdp: Cdp, clock: VirtualClock, bridge: Bridge, token: str, loads: Loads) -> None:
        self._cdp = cdp
        self._clock = clock
        self._bridge = bridge
        self._token = token
        self._loads = loads
        loads.on_late = self.note
        self._drivers: dict[
            int, str
        ] = {}  # execution context -> its driver object; the first is the page's own
        self._in_flight = 0
        self.capture: OnPicture | None = None
        self.play_tape: OnFrame | None = None
        self.fingerprints: list[str] = []
        """Of the judge's snapshot after each frame, since they were last taken."""
        self.late: list[tuple[int, str]] = []
        """What the clock did not wait for or does not drive: (frame, what)."""
        self._noted: set[str] = set()

    def listen(self) -> None:
        """Must be called before the page's first document."""
        self._cdp.on("Runtime.consoleAPICalled", self._take_driver)
        self._cdp.on("Runtime.executionContextDestroyed", self._drop_driver)
        self._cdp.on("Runtime.executionContextsCleared", lambda _: self._drivers.clear())

    def is_own_message(self, event: dict[str, Any]) -> bool:
        arguments = cast(list[dict[str, Any]], event.get("args") or [])
        return bool(arguments) and arguments[0].get("value") == self._token

    def _take_driver(self, event: dict[str, Any]) -> None:
        if not self.is_own_message(event):
            return
        said = event["args"][1]
        if said["type"] == "boolean":  # the frame's own tasks are done, and what it waits for may come
            self._loads.release()
        elif said["type"] == "string":
            self.note(str(said["value"]))
        else:
            self._drivers[int(event["executionContextId"])] = str(said["objectId"])

    def note(self, what: str) -> None:
        """Something that the clock does not drive, once."""
        if what not in self._noted:
            self._noted.add(what)
            self.late.append((self._clock.frame, what))

    def _drop_driver(self, event: dict[str, Any]) -> None:
        self._drivers.pop(int(event["executionContextId"]), None)

    @contextlib.contextmanager
    def dispatching(self) -> Generator[None]:
        """Around each event that is sent to the browser: the frame waits for it."""
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1

    # Calls into the page

    async def _ask(
        self, driver: str, call: str, *arguments: dict[str, Any], timeout_s: float = TICK_TIMEOUT_S
    ) -> Any:
        names = ", ".join(f"a{index}" for index in range(len(arguments)))
        question = {
            "objectId": driver,
            "functionDeclaration": f"function ({names}) {{ return this.{call}({names}); }}",
            "arguments": list(arguments),
            "awaitPromise": True,
            "returnByValue": True,
        }
        answer = await within(
            timeout_s, self._cdp.send("Runtime.callFunctionOn", question), f"the page's {call}"
        )
        return answer.get("result", {}).get("value")

    def _page(self) -> str:
        if not self._drivers:
            raise DriverFailure("the page has no clock: its document is gone")
        return next(iter(self._drivers.values()))

    async def settle_load(self) -> None:
        """After the page's load: waits for what it still loads, before the first frame."""
        await self._patiently(self._ask(self._page(), "settle"))
        while self._loads.pending:
            await self._loads.idle(PATIENCE_S)
            await self._patiently(self._ask(self._page(), "settle"))

    async def watch(self, judge: str) -> None:
        """Has each frame answer with a fingerprint of the judge's snapshot."""
        await self._ask(self._page(), "watch", {"objectId": judge})

    async def preload(self, urls: list[str]) -> None:
        """Imports modules of the game before the first frame."""
        await self._patiently(self._ask(self._page(), "preload", {"value": urls}))

    async def begin_script(self, hold: str, url: str) -> None:
        """Imports the script; returns when its own code has begun to run."""
        with contextlib.suppress(PageTimeout):
            await self._ask(self._page(), "begin", {"objectId": hold}, {"value": url}, timeout_s=PATIENCE_S)

    async def hear(self, call: str, *arguments: int) -> dict[str, Any] | None:
        """Asks the page for its sound."""
        return await self._ask(
            self._page(), call, *({"value": one} for one in arguments), timeout_s=SOUND_TIMEOUT_S
        )

    async def take_calls(self) -> list[dict[str, Any]]:
        """What the page asked of the clock since it was asked last, frame by frame, if a journal is kept."""
        return list(await self._ask(self._page(), "takeCalls"))

    async def script_end(self) -> dict[str, Any]:
        """Waits for the end of the script that was begun last, however long that is; the answer may carry `exceptionDetails`."""
        question = {
            "objectId": self._page(),
            "functionDeclaration": "function () { return this.ended(); }",
            "awaitPromise": True,
            "returnByValue": True,
        }
        return await self._cdp.send("Runtime.callFunctionOn", question)

    # One frame

    async def step(self) -> None:
        """Plays one frame; raises PageTimeout when the page does not come back, PlaywrightError when it is lost."""
        self._clock.frame += 1
        painted: int | None = None
        await self._input()
        for index, driver in enumerate(list(self._drivers.values())):
            told = await self._tick(driver)
            if index == 0 and told is not None:
                painted, fingerprint = told
                if fingerprint is not None:
                    self.fingerprints.append(str(fingerprint))
        if self.capture is not None:
            await self.capture(self._clock.frame, painted)
        await self._answer()
        await self._rest()

    async def _input(self) -> None:
        if self.play_tape is not None:
            await self.play_tape(self._clock.frame)
            return
        while self._clock.wake_one():
            await self._rest()
        while self._bridge.start_next():
            await self._rest()

    async def _rest(self) -> None:
        """Until the driver's tasks wait for the next frame."""
        calm = 0
        while calm < CALM_TURNS:
            if self._in_flight:
                await asyncio.sleep(0.0002)
                calm = 0
            else:
                await asyncio.sleep(0)
                calm += 1

    async def _tick(self, driver: str) -> Any:
        """[native frames that the page drew so far, the fingerprint]; None when its document went."""
        frame = self._clock.frame
        ticking = self._ask(driver, "tick", {"value": frame}, {"value": self._clock.page_ms()})
        self._loads.hold()
        try:
            told = await self._patiently(ticking)
            self._loads.release()
            while self._loads.pending:  # what has come may ask for more
                await self._loads.idle(PATIENCE_S)
                await self._patiently(self._ask(driver, "settle"))
            return told
        except PlaywrightError:
            if driver in self._drivers.values():
                raise
        finally:
            self._loads.release()

    async def _answer(self) -> None:
        replies = self._bridge.take_replies()
        if replies and self._bridge.answer_id is not None:
            flat = [part for reply in replies for part in reply]
            await self._patiently(
                self._ask(self._page(), "answer", {"objectId": self._bridge.answer_id}, {"value": flat})
            )

    async def _patiently(self, work: Awaitable[Any]) -> Any:
        """Waits for the page; what it loads too slowly is noted, and time goes on without it."""
        asked = asyncio.ensure_future(work)
        began = time.monotonic()
        while True:
            done, _ = await asyncio.wait({asked}, timeout=PATIENCE_S)
            if done or time.monotonic() - began >= TICK_TIMEOUT_S:
                return await asked
            for driver in list(self._drivers.values()):
                left = TICK_TIMEOUT_S - (time.monotonic() - began)
                words = await within(left, self._ask(driver, "awaited"), "asking what the page waits for")
                if words:
                    self.late += [(self._clock.frame, str(word)) for word in words]
                    await self._ask(driver, "giveUp")
