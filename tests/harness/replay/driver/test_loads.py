"""The page's requests, told by a browser that is not there: what is waited for, what is let through, in which order."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st
from playwright.async_api import Error as PlaywrightError

from harness.replay.driver.cdp import Cdp
from harness.replay.driver.loads import Loads


class Wire:
    """Stands for the session: tells events, and keeps what was sent."""

    def __init__(self) -> None:
        self.handlers: dict[str, list[Callable[[dict[str, Any]], None]]] = {}
        self.continued: list[str] = []
        self.refusing: set[str] = set()

    def on(self, event: str, handler: Callable[[dict[str, Any]], None]) -> None:
        self.handlers.setdefault(event, []).append(handler)

    async def send(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "Fetch.continueRequest":
            if params["requestId"] in self.refusing:
                raise PlaywrightError("Invalid InterceptionId.")
            self.continued.append(params["requestId"])
        return {}

    def tell(self, event: str, **fields: Any) -> None:
        for handler in self.handlers.get(event, []):
            handler(fields)

    def ask(self, request: str, kind: str = "Fetch", url: str = "http://127.0.0.1/x") -> None:
        self.tell("Network.requestWillBeSent", requestId=request, type=kind, request={"url": url})

    def pause(self, request: str, kind: str = "Image") -> None:
        self.tell("Fetch.requestPaused", requestId=f"fetch {request}", networkId=request, resourceType=kind)

    def end(self, request: str) -> None:
        self.tell("Network.loadingFinished", requestId=request)


def run(play: Callable[[Wire, Loads], Coroutine[Any, Any, None]]) -> None:
    async def all_of_it() -> None:
        wire = Wire()
        loads = Loads(cast(Cdp, wire))
        await loads.install()
        await play(wire, loads)

    asyncio.run(all_of_it())


async def turn() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


def test_a_request_is_waited_for_until_it_ends() -> None:
    async def play(wire: Wire, loads: Loads) -> None:
        assert not loads.pending
        wire.ask("1.1")
        assert loads.pending
        waiting = asyncio.ensure_future(loads.idle(5))
        await turn()
        assert not waiting.done()
        wire.end("1.1")
        assert await waiting
        assert not loads.pending

    run(play)


def test_what_came_between_two_looks_is_still_news() -> None:
    async def play(wire: Wire, loads: Loads) -> None:
        wire.ask("1.1")
        wire.end("1.1")
        assert loads.pending, "a module that has come is yet to run"
        assert await loads.idle(5)
        assert not loads.pending

    run(play)


def test_streams_and_workers_hold_nothing() -> None:
    async def play(wire: Wire, loads: Loads) -> None:
        for kind in ("EventSource", "WebSocket", "Media", "Ping"):
            wire.ask(f"1.{kind}", kind)
        wire.ask("0123456789ABCDEF0123456789ABCDEF", "Script")
        wire.ask("1.2", "Image", "data:image/png;base64,")
        assert not loads.pending

    run(play)


def test_patience_ends_and_what_was_awaited_is_forgotten() -> None:
    async def play(wire: Wire, loads: Loads) -> None:
        wire.ask("1.1")
        assert not await loads.idle(0.01)
        assert not loads.pending

    run(play)


def test_a_frame_is_waited_for_until_it_has_loaded_or_is_gone() -> None:
    async def play(wire: Wire, loads: Loads) -> None:
        for end in ("Page.frameStoppedLoading", "Page.frameDetached"):
            wire.tell("Page.frameStartedLoading", frameId="A")
            waiting = asyncio.ensure_future(loads.idle(5))
            await turn()
            assert not waiting.done()
            wire.tell(end, frameId="A")
            assert await waiting

    run(play)


def test_scripts_asked_for_in_a_frames_tasks_come_after_them() -> None:
    async def play(wire: Wire, loads: Loads) -> None:
        loads.hold()
        wire.pause("1.1", "Script")
        wire.pause("1.2", "Script")
        await turn()
        assert wire.continued == []
        loads.release()
        await turn()
        assert wire.continued == ["fetch 1.1", "fetch 1.2"]
        wire.pause("1.3", "Script")
        await turn()
        assert wire.continued[2:] == ["fetch 1.3"]

    run(play)


def test_a_module_that_cannot_be_paused_is_named() -> None:
    async def play(wire: Wire, loads: Loads) -> None:
        heard: list[str] = []
        loads.on_late = heard.append
        wire.ask("1.1", "Script", "blob:http://127.0.0.1/x")
        assert heard == [], "at boot nothing is lost by it"
        loads.hold()
        wire.ask("1.2", "Script", "blob:http://127.0.0.1/x")
        assert heard == ["a module of a blob: or data: address runs in its own time"]

    run(play)


def test_a_request_that_cannot_go_on_lets_the_next_one_through() -> None:
    async def play(wire: Wire, loads: Loads) -> None:
        wire.refusing.add("fetch 1.1")
        wire.pause("1.1")
        wire.pause("1.2")
        await turn()
        assert wire.continued == ["fetch 1.2"]
        wire.refusing.add("fetch 1.3")
        wire.pause("1.3", "Script")
        wire.pause("1.4")
        await turn()
        assert wire.continued == ["fetch 1.2"], "a script's failure is no image's end"

    run(play)


@given(st.permutations(range(6)), st.lists(st.booleans(), min_size=6, max_size=6))
def test_images_go_one_at_a_time_in_the_order_of_asking(ends: list[int], early: list[bool]) -> None:
    """Whatever ends in whichever order, at most one image is on its way, and they go in order."""

    async def play(wire: Wire, loads: Loads) -> None:
        for number in range(6):
            wire.ask(f"1.{number}", "Image")
            wire.pause(f"1.{number}")
            if early[number]:
                wire.pause(f"1.{number}") if number == 0 else None  # one may be paused again
        await turn()
        for step, odd in enumerate(ends):
            images = list(dict.fromkeys(wire.continued))
            assert images == [f"fetch 1.{number}" for number in range(step + 1)]
            wire.end(f"2.{odd}")  # another request's end changes nothing
            await turn()
            assert list(dict.fromkeys(wire.continued)) == images
            wire.end(f"1.{step}")
            await turn()
        assert not await loads.idle(0.01) or not loads.pending

    run(play)
