"""The one page a script plays in, and everything that is done to it: open, load, call, look, record, close. Hard part: the page may
block, crash or leave at any moment, and none of that may hold or mislead us; so each call has a deadline, goes over raw
CDP by object handle, and hanging, crashing and navigating are events that whoever waits can see."""

import asyncio
import base64
import contextlib
import json
import math
import secrets
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from playwright.async_api import Dialog, Download, Page, Response
from playwright.async_api import Error as PlaywrightError

from .bridge import Bridge
from .browser import Browser, within
from .cdp import Cdp
from .clock import RealClock, VirtualClock
from .console import Console
from .device import OnDispatch, PageDevice
from .errors import DriverFailure, PageTimeout
from .frame_recorder import FrameRecorder, Mode
from .frames import Frames
from .input import Input
from .loads import Loads
from .logs import LogBook
from .recorder import DEFAULT_FPS, Recorder
from .runner import ScriptResult, run_script
from .shim_source import virtual_shim
from .thrown import read_thrown
from .witness import Witness

DEFAULT_VIEWPORT = (1280, 720)
LOAD_TIMEOUT_S = 60.0
SCREENSHOT_TIMEOUT_S = 20.0
COMMAND_TIMEOUT_S = 10.0
PING_TIMEOUT_S = 2.0
EVENT_WAIT_MS = 1000.0
"""For the event that explains why a page does not answer to arrive."""

NONCE_HEADER = "x-playproof-nonce"

CALL_METHOD = "function (name, first, second) { 'use strict'; return this[name](first, second); }"  # no spread: the page can replace iterators


T = TypeVar("T")


@dataclass(frozen=True)
class Handle:
    """An object in the page, held by id: no name the page can replace leads to it."""

    object_id: str


class Stage:
    def __init__(
        self, browser: Browser, page: Page, cdp: Cdp, url: str, nonce: str | None, seed: int | None
    ) -> None:
        self.browser = browser
        self.page = page
        self.cdp = cdp
        self.url = url
        self.clock = RealClock() if seed is None else VirtualClock()
        self.frames: Frames | None = None
        self.begun = asyncio.Event()
        """Set when a script's own code has begun to run."""
        self.hung = asyncio.Event()
        self.crashed = asyncio.Event()
        self.navigated = asyncio.Event()
        self.logs = LogBook(self.clock)
        self._nonce = nonce
        self._loaded = False
        self.storage: dict[str, int] = {}
        """What the browser kept before the page was loaded: cookies, and bytes of storage."""
        self._recorder: Recorder | FrameRecorder | None = None
        self._filmed_from = 0.0

    @classmethod
    async def open(
        cls,
        url: str,
        nonce: str | None,
        viewport: tuple[int, int] = DEFAULT_VIEWPORT,
        record: Path | None = None,
        *,
        record_fps: int = DEFAULT_FPS,
        seed: int | None = None,
        journal: bool = False,
        gpu: bool = False,
        on_dispatch: OnDispatch | None = None,
        load: bool = True,
    ) -> Self:
        """A fresh browser with one fresh page, which is loaded unless asked otherwise. With a seed, the page's clock is virtual."""
        browser = await Browser.launch(gpu=gpu, by_frames=seed is not None)
        try:
            size = {"width": viewport[0], "height": viewport[1]}
            context = await browser.inner.new_context(viewport=size, accept_downloads=False)  # pyright: ignore[reportArgumentType]
            page = await context.new_page()
            stage = cls(browser, page, await Cdp.of_page(page), url, nonce, seed)
            await within(LOAD_TIMEOUT_S, stage._prepare(on_dispatch, seed, journal), "preparing the page")
            if record is not None:
                await stage.start_recording(record, viewport, record_fps)
            if load:
                await stage.load()
        except PlaywrightError as error:
            await browser.close()
            raise DriverFailure(f"the browser failed: {error.message.splitlines()[0]}") from error
        except BaseException:
            await browser.close()
            raise
        return stage

    async def _prepare(self, on_dispatch: OnDispatch | None, seed: int | None, journal: bool) -> None:
        self.device = PageDevice(self.page, self.clock, on_dispatch, self._dispatching)
        self.bridge = Bridge(self.cdp, Input(self.device, self.clock), self.clock, by_frames=seed is not None)
        self._console = Console(self.cdp, self.logs, self._is_own_message)
        for domain in ("Page", "Runtime", "Network", "Inspector"):
            await self.cdp.send(f"{domain}.enable")
        await self.bridge.install()
        self.witness = Witness(self.cdp, self.clock, await Cdp.of_browser(self.browser.inner))
        await self.witness.install()
        source = self.bridge.door_source() if seed is None else await self._install_clock(seed, journal)
        await self.cdp.send("Page.addScriptToEvaluateOnNewDocument", {"source": source})
        self._console.listen()
        self.cdp.on("Page.frameNavigated", self._frame_navigated)
        self.cdp.on("Page.navigatedWithinDocument", self._moved_within)
        self.cdp.on(
            "Page.windowOpen", lambda event: self.logs.add("popup", f"{event.get('url')} was not opened")
        )
        self.page.on("crash", lambda _: self._note_crash())
        self.page.on("dialog", self._dismiss)
        self.page.on("download", self._refuse_download)
        self.page.context.on("page", self._close_popup)

    async def _install_clock(self, seed: int, journal: bool) -> str:
        """Prepares the virtual clock and returns the page's init script."""
        assert isinstance(self.clock, VirtualClock)
        token = secrets.token_hex(16)
        loads = Loads(self.cdp)
        await loads.install()
        self.frames = Frames(self.cdp, self.clock, self.bridge, token, loads)
        self.frames.listen()
        await self.cdp.send("Animation.enable")
        await self.cdp.send("Animation.setPlaybackRate", {"playbackRate": 0})
        return virtual_shim(seed, token, self.bridge.door_source("kit"), journal)

    def _dispatching(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if self.frames is None else self.frames.dispatching()

    def _is_own_message(self, event: dict[str, Any]) -> bool:
        return self.bridge.is_own_message(event) or (
            self.frames is not None and self.frames.is_own_message(event)
        )

    # Time

    async def pass_time(self, until_ms: float, *ends: "asyncio.Future[Any]") -> None:
        """Lets the page's time go on until then, or until one of `ends` is done or the page is lost."""
        if self.frames is None:
            await self._wait(until_ms, ends)
            return
        while self.clock.now_ms() < until_ms and not any(end.done() for end in ends) and not self.is_lost:
            await self.step()

    async def step(self) -> None:
        """One frame of the virtual clock; a page that does not come back is noted as hung or gone."""
        assert self.frames is not None
        try:
            await self.frames.step()
        except PageTimeout:
            self.hung.set()
            await self.terminate()
        except (DriverFailure, PlaywrightError):
            await self._wait(self.clock.now_ms() + EVENT_WAIT_MS, ())
            if not self.is_lost:
                raise

    async def play_out(self, script: "asyncio.Task[ScriptResult]") -> ScriptResult:
        """Lets time go on until the script has ended."""
        if self.frames is not None:
            await asyncio.wait(
                {script, asyncio.ensure_future(self.begun.wait())}, return_when=asyncio.FIRST_COMPLETED
            )
            await self.pass_time(math.inf, script)
        return await script

    @property
    def is_lost(self) -> bool:
        return self.hung.is_set() or self.crashed.is_set() or self.navigated.is_set()

    async def _wait(self, until_ms: float, ends: "tuple[asyncio.Future[Any], ...]") -> None:
        events = [self.hung, self.crashed, self.navigated]
        waits = [asyncio.ensure_future(event.wait()) for event in events]
        seconds = max(0.0, until_ms - self.clock.now_ms()) / 1000
        await asyncio.wait({*waits, *ends}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    async def within_frames(self, work: Coroutine[Any, Any, T]) -> T:
        """Awaits a call into the page while its time goes on."""
        task = asyncio.ensure_future(work)
        while self.frames is not None and not task.done() and not self.is_lost:
            await self.step()
        return await task

    # Events

    def _frame_navigated(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        if self._loaded and "parentId" not in frame:
            self.logs.add("navigation", f"navigated {frame['url']}{frame.get('urlFragment', '')}")
            self.navigated.set()

    def _moved_within(self, event: dict[str, Any]) -> None:
        if self._loaded:
            self.logs.add("navigation", f"navigated {event['url']}")

    def _note_crash(self) -> None:
        self.logs.add("page error", "the page crashed")
        self.crashed.set()

    async def _dismiss(self, dialog: Dialog) -> None:
        self.logs.add("dialog", f"{dialog.type} dismissed: {dialog.message}")
        with contextlib.suppress(PlaywrightError):
            await (dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss())

    async def _refuse_download(self, download: Download) -> None:
        self.logs.add("download", f"{download.url} was refused")
        with contextlib.suppress(PlaywrightError):
            await download.cancel()

    async def _close_popup(self, page: Page) -> None:
        self.logs.add("popup", f"{page.url} was closed")
        with contextlib.suppress(PlaywrightError):
            await page.close()
            await self.page.bring_to_front()

    # Loading

    async def load(self, timeout_s: float = LOAD_TIMEOUT_S) -> None:
        """Loads the page: an OK response of our own server, and its load event."""
        self.storage = await self._stored()
        try:
            response = await within(
                timeout_s, self.page.goto(self.url, wait_until="load", timeout=0), f"loading {self.url}"
            )
        except PageTimeout as failure:
            if not await self.answers(PING_TIMEOUT_S):
                self.hung.set()
                await self.terminate()
                raise PageTimeout(f"{failure}: the page's main thread is blocked") from None
            raise
        except PlaywrightError as error:
            reason = error.message.strip().splitlines()[0].removeprefix("Page.goto: ")
            raise DriverFailure(f"the page {self.url} did not load: {reason}") from error
        await self._check_response(response)
        await within(LOAD_TIMEOUT_S, self.page.bring_to_front(), "bringing the page to the front")
        if self.frames is not None:
            await self.frames.settle_load()
        self._loaded = True

    async def _stored(self) -> dict[str, int]:
        origin = urlsplit(self.url)._replace(path="", query="", fragment="").geturl()
        cookies = await self.cdp.send("Storage.getCookies")
        kept = await self.cdp.send("Storage.getUsageAndQuota", {"origin": origin})
        return {"cookies": len(cookies["cookies"]), "bytes": int(kept["usage"])}

    async def _check_response(self, response: Response | None) -> None:
        if response is None or not response.ok:
            status = "nothing" if response is None else str(response.status)
            raise DriverFailure(f"the page {self.url} did not load: the server answered {status}")
        if self._nonce is not None and await response.header_value(NONCE_HEADER) != self._nonce:
            raise DriverFailure(f"the page {self.url} is not ours: another program answers at that port")

    # Calls

    async def command(
        self, method: str, params: Mapping[str, Any], timeout_s: float = COMMAND_TIMEOUT_S
    ) -> dict[str, Any]:
        """One CDP command with a deadline; an exception in the page is raised as `PageThrew`."""
        answer: dict[str, Any] = await within(timeout_s, self.cdp.send(method, params), method)
        if "exceptionDetails" in answer:
            raise await read_thrown(self.cdp, answer["exceptionDetails"])
        return answer

    async def load_handle(self, source: str, timeout_s: float = LOAD_TIMEOUT_S) -> Handle:
        """The object that a trusted function makes in the page. `source` is the text of an (async) function, called with
        an import function; the text itself is served under no URL and reachable from no global."""
        expression = f"(() => {{ 'use strict'; return ({source})((specifier) => import(specifier)); }})()"
        answer = await self.command(
            "Runtime.evaluate", {"expression": expression, "awaitPromise": True}, timeout_s
        )
        object_id = answer["result"].get("objectId")
        if object_id is None:
            raise DriverFailure("a function that was to make an object in the page made none")
        return Handle(str(object_id))

    async def call(
        self,
        handle: Handle,
        method: str,
        timeout_s: float = COMMAND_TIMEOUT_S,
        by_value: bool = True,
        args: tuple[Any, ...] = (),
    ) -> Any:
        """Calls a method of a held object and awaits it; the result comes by value, or as a handle."""
        arguments = [{"value": method}, *({"value": one} for one in args)]
        question = {
            "objectId": handle.object_id,
            "functionDeclaration": CALL_METHOD,
            "arguments": arguments,
            "awaitPromise": True,
            "returnByValue": by_value,
        }
        answer = (await self.command("Runtime.callFunctionOn", question, timeout_s))["result"]
        if not by_value and "objectId" in answer:
            return Handle(str(answer["objectId"]))
        return answer.get("value")

    async def answers(self, timeout_s: float) -> bool:
        """True when the page's main thread runs."""
        try:
            await within(
                timeout_s,
                self.cdp.send("Runtime.evaluate", {"expression": "1", "returnByValue": True}),
                "a ping",
            )
        except (DriverFailure, PlaywrightError):
            return False
        return True

    async def terminate(self) -> None:
        """Frees a blocked main thread, if it can be freed."""
        with contextlib.suppress(DriverFailure, PlaywrightError):
            await within(PING_TIMEOUT_S, self.cdp.send("Runtime.terminateExecution"), "terminating the page")

    def start_script(
        self, url: str, timeout_s: float = 600.0, **options: Any
    ) -> "asyncio.Task[ScriptResult]":
        """Starts a script of the page's server and returns the task that ends with it."""
        return asyncio.ensure_future(run_script(self, url, timeout_s, **options))

    def absolute(self, path: str) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{path}" if path.startswith("/") else path

    # Looking

    async def screenshot(self, path: Path | None = None, timeout_s: float = SCREENSHOT_TIMEOUT_S) -> bytes:
        """A PNG of the viewport, as it is now."""
        answer = await self.command("Page.captureScreenshot", {"format": "png"}, timeout_s)
        image = base64.b64decode(answer["data"])
        if path is not None:
            path.write_bytes(image)
        return image

    async def start_recording(
        self, path: Path, viewport: tuple[int, int], fps: int = DEFAULT_FPS, mode: Mode = "full"
    ) -> None:
        """Records from now on; under the virtual clock each frame, whatever `fps` says."""
        cdp = await Cdp.of_page(self.page)
        self._filmed_from = self.clock.now_ms()
        if self.frames is None:
            self._recorder = await Recorder.start(cdp, path, viewport, fps if mode == "full" else 1)
        else:
            self._recorder = await FrameRecorder.start(cdp, path, mode, self.frames.hear)
            self.frames.capture = self._recorder.capture

    async def pacing(self) -> dict[str, Any] | None:
        """How evenly frames came so far, where a recorder of the real clock counts them."""
        return await self._recorder.pacing() if isinstance(self._recorder, Recorder) else None

    async def stop_recording(self) -> dict[str, Any] | None:
        """Ends the video; returns what is in it, if there is one."""
        recorder, self._recorder = self._recorder, None
        if self.frames is not None:
            self.frames.capture = None
        return None if recorder is None else {**await recorder.stop(), "started_ms": self._filmed_from}

    async def renderer(self) -> str:
        """The GL renderer's name, asked in the page."""
        return str(
            (await self.command("Runtime.evaluate", {"expression": RENDERER, "returnByValue": True}))[
                "result"
            ].get("value")
        )

    async def close(self) -> None:
        await self.stop_recording()
        self.bridge.close()
        self._console.close()
        await self.browser.close()


RENDERER = f"""(() => {{
  const gl = document.createElement("canvas").getContext("webgl");
  const info = gl && gl.getExtension("WEBGL_debug_renderer_info");
  return info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : {json.dumps("none")};
}})()"""
