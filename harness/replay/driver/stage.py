"""The one page a script plays in, and everything that is done to it: open, load, call, look, record, close. Hard part: the page may
block, crash or leave at any moment, and none of that may hold or mislead us; so each call has a deadline, goes over raw
CDP by object handle, and hanging, crashing and navigating are events that whoever waits can see."""

import asyncio
import base64
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from playwright.async_api import Dialog, Download, Page, Response
from playwright.async_api import Error as PlaywrightError

from .bridge import Bridge
from .browser import Browser, within
from .cdp import Cdp
from .clock import Clock, RealClock
from .console import Console
from .device import OnDispatch, PageDevice
from .errors import DriverFailure, PageTimeout
from .input import Input
from .logs import LogBook
from .recorder import DEFAULT_FPS, Recorder
from .runner import ScriptResult, run_script
from .thrown import read_thrown

DEFAULT_VIEWPORT = (1280, 720)
LOAD_TIMEOUT_S = 60.0
SCREENSHOT_TIMEOUT_S = 20.0
COMMAND_TIMEOUT_S = 10.0
PING_TIMEOUT_S = 2.0
NONCE_HEADER = "x-playproof-nonce"

CALL_METHOD = "function (name, first, second) { 'use strict'; return this[name](first, second); }"  # no spread: the page can replace iterators


@dataclass(frozen=True)
class Handle:
    """An object in the page, held by id: no name the page can replace leads to it."""

    object_id: str


class Stage:
    def __init__(
        self, browser: Browser, page: Page, cdp: Cdp, url: str, nonce: str | None, clock: Clock
    ) -> None:
        self.browser = browser
        self.page = page
        self.cdp = cdp
        self.url = url
        self.clock = clock
        self.hung = asyncio.Event()
        self.crashed = asyncio.Event()
        self.navigated = asyncio.Event()
        self.logs = LogBook(clock)
        self._nonce = nonce
        self._loaded = False
        self._recorder: Recorder | None = None

    @classmethod
    async def open(
        cls,
        url: str,
        nonce: str | None,
        viewport: tuple[int, int] = DEFAULT_VIEWPORT,
        record: Path | None = None,
        *,
        record_fps: int = DEFAULT_FPS,
        clock: Clock | None = None,
        gpu: bool = False,
        on_dispatch: OnDispatch | None = None,
        load: bool = True,
    ) -> Self:
        """A fresh browser with one fresh page, which is loaded unless asked otherwise."""
        browser = await Browser.launch(gpu=gpu)
        try:
            size = {"width": viewport[0], "height": viewport[1]}
            context = await browser.inner.new_context(viewport=size, accept_downloads=False)  # pyright: ignore[reportArgumentType]
            page = await context.new_page()
            stage = cls(browser, page, await Cdp.of_page(page), url, nonce, clock or RealClock())
            await within(LOAD_TIMEOUT_S, stage._prepare(on_dispatch), "preparing the page")
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

    async def _prepare(self, on_dispatch: OnDispatch | None) -> None:
        device = PageDevice(self.page, self.clock, on_dispatch)
        self.bridge = Bridge(self.cdp, Input(device, self.clock), self.clock)
        self._console = Console(self.cdp, self.logs, self.bridge.is_own_message)
        for domain in ("Page", "Runtime", "Network", "Inspector"):
            await self.cdp.send(f"{domain}.enable")
        await self.bridge.install()
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
        self._loaded = True

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

    async def start_recording(self, path: Path, viewport: tuple[int, int], fps: int = DEFAULT_FPS) -> None:
        cdp = await Cdp.of_page(self.page)
        self._recorder = await Recorder.start(cdp, path, viewport, fps)

    async def stop_recording(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            await recorder.stop()

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
