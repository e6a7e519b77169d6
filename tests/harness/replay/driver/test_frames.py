"""The host's loop of frames, with a page that is not there: what happens in a frame, in which order, and what is noted."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest
from playwright.async_api import Error as PlaywrightError

from harness.replay.driver import frames as module
from harness.replay.driver.bridge import Bridge
from harness.replay.driver.cdp import Cdp
from harness.replay.driver.clock import VirtualClock
from harness.replay.driver.errors import DriverFailure
from harness.replay.driver.frames import Frames
from harness.replay.driver.loads import Loads

TOKEN = "token"


class Page:
    """Stands for the session and the page behind it: each call into a driver object is kept, and answered by `answers`."""

    def __init__(self) -> None:
        self.handlers: dict[str, list[Callable[[dict[str, Any]], None]]] = {}
        self.calls: list[str] = []
        self.answers: dict[str, Callable[[], Any]] = {}

    def on(self, event: str, handler: Callable[[dict[str, Any]], None]) -> None:
        self.handlers.setdefault(event, []).append(handler)

    def tell(self, event: str, **fields: Any) -> None:
        for handler in self.handlers.get(event, []):
            handler(fields)

    def say(self, value: Any, kind: str, context: int = 1) -> None:
        said = {"type": kind, "objectId": value} if kind == "object" else {"type": kind, "value": value}
        self.tell("Runtime.consoleAPICalled", args=[{"value": TOKEN}, said], executionContextId=context)

    async def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        if method != "Runtime.callFunctionOn" or params is None:
            return {}
        call = str(params["functionDeclaration"]).partition("this.")[2].partition("(")[0]
        self.calls.append(f"{params['objectId']} {call}")
        answer = self.answers.get(call, lambda: None)()
        if asyncio.iscoroutine(answer):
            answer = await answer
        return {"result": {"value": answer}}


class Calls:
    """Stands for the bridge: scripts' calls that wait for a frame, and their ends."""

    answer_id = "answer"

    def __init__(self, log: list[str]) -> None:
        self.log = log
        self.waiting = 0
        self.replies: list[tuple[int, str | None]] = []

    def start_next(self) -> bool:
        if self.waiting == 0:
            return False
        self.waiting -= 1
        self.log.append("input")
        return True

    def take_replies(self) -> list[tuple[int, str | None]]:
        taken, self.replies = self.replies, []
        return taken


async def made(page: Page) -> tuple[Frames, Calls]:
    cdp = cast(Cdp, page)
    loads = Loads(cdp)
    await loads.install()
    calls = Calls(page.calls)
    frames = Frames(cdp, VirtualClock(), cast(Bridge, calls), TOKEN, loads)
    frames.listen()
    page.say("top", "object")
    return frames, calls


def test_a_frame_is_input_then_the_pages_tasks_then_the_picture_then_answers() -> None:
    async def play() -> None:
        page = Page()
        frames, calls = await made(page)

        async def capture(frame: int, painted: int | None) -> None:
            page.calls.append(f"picture {frame}, {painted} drawn")

        frames.capture = capture
        calls.waiting, calls.replies = 2, [(1, None)]
        page.answers["tick"] = lambda: [7, "abc"]
        await frames.step()
        assert page.calls == ["input", "input", "top tick", "picture 1, 7 drawn", "top answer"]
        assert frames.fingerprints == ["abc"]

    asyncio.run(play())


def test_a_tape_takes_the_place_of_scripts_calls() -> None:
    async def play() -> None:
        page = Page()
        frames, calls = await made(page)
        calls.waiting = 1

        async def tape(frame: int) -> None:
            page.calls.append(f"tape {frame}")

        frames.play_tape = tape
        await frames.step()
        assert page.calls == ["tape 1", "top tick"]

    asyncio.run(play())


def test_a_frame_of_another_origin_ticks_after_the_page_and_goes_when_it_is_gone() -> None:
    async def play() -> None:
        page = Page()
        frames, _ = await made(page)
        page.say("other", "object", context=2)
        await frames.step()
        assert page.calls == ["top tick", "other tick"]
        page.tell("Runtime.executionContextDestroyed", executionContextId=2)
        page.calls.clear()
        await frames.step()
        assert page.calls == ["top tick"]

    asyncio.run(play())


def test_a_frame_that_goes_while_it_ticks_is_no_failure_and_a_lost_page_is_one() -> None:
    async def play() -> None:
        page = Page()
        frames, _ = await made(page)

        def gone() -> None:
            page.tell("Runtime.executionContextDestroyed", executionContextId=1)
            raise PlaywrightError("Execution context was destroyed.")

        page.answers["tick"] = gone
        await frames.step()
        with pytest.raises(DriverFailure, match="its document is gone"):
            await frames.settle_load()

    asyncio.run(play())


def test_what_the_page_says_is_not_driven_is_noted_once_with_its_frame() -> None:
    async def play() -> None:
        page = Page()
        frames, _ = await made(page)
        await frames.step()
        page.say("a worker runs w.js: its time is not driven", "string")
        page.say("a worker runs w.js: its time is not driven", "string")
        assert frames.late == [(1, "a worker runs w.js: its time is not driven")]

    asyncio.run(play())


def test_what_a_frame_waits_for_too_long_is_let_go_and_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.02)

    async def play() -> None:
        page = Page()
        frames, _ = await made(page)
        let_go = asyncio.Event()

        async def late() -> list[Any]:
            await let_go.wait()
            return [1, None]

        page.answers["tick"] = late
        page.answers["awaited"] = lambda: ["fetch", "image"]
        page.answers["giveUp"] = let_go.set
        await frames.step()
        assert frames.late == [(1, "fetch"), (1, "image")]
        assert page.calls == ["top tick", "top awaited", "top giveUp"]

    asyncio.run(play())


def test_modules_asked_for_in_a_frame_come_when_its_tasks_are_done() -> None:
    async def play() -> None:
        page = Page()
        frames, _ = await made(page)
        order: list[str] = []

        async def tick() -> None:
            page.tell(
                "Network.requestWillBeSent",
                requestId="1.1",
                type="Script",
                request={"url": "http://127.0.0.1/m.js"},
            )
            page.tell("Fetch.requestPaused", requestId="f", networkId="1.1", resourceType="Script")
            await asyncio.sleep(0.01)
            order.append("tasks done")

        send = page.send

        async def sent(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
            if method == "Fetch.continueRequest":
                order.append("module")
                page.tell("Network.loadingFinished", requestId="1.1")
            return await send(method, params)

        page.send = sent  # type: ignore[method-assign]
        page.answers["tick"] = tick
        page.answers["settle"] = lambda: order.append("settled")
        await frames.step()
        assert order == ["tasks done", "module", "settled"]

    asyncio.run(play())
