"""Starts the browser: Debian's Chromium, its own sandbox on, no way out but loopback, WebGL in software. Hard part: it may hang or be
killed at any moment, so the process is known by its id and ends with us whatever state it is in."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable
from typing import Self, TypeVar

from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright

from .cdp import Cdp
from .errors import DriverFailure, PageTimeout

EXECUTABLE = "/usr/lib/chromium/chromium"
LAUNCH_TIMEOUT_S = 60.0
CLOSE_TIMEOUT_S = 5.0

LOOPBACK_ONLY = (
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1",
    "--no-proxy-server",
    "--disable-sync",
    "--disable-quic",
    "--disable-extensions",
)
BY_FRAMES = ("--disable-frame-rate-limit",)
"""Under the virtual clock: draw when asked, not at 60 Hz."""

WITHOUT_GPU = ("--disable-gpu-compositing",)
"""Layers are put together on the processor (2 to 4 times the frames, and pictures of them come cheap); WebGL stays what it was."""

GRAPHICS = ("--use-gl=angle", "--use-angle=gl-egl", "--ignore-gpu-blocklist")

T = TypeVar("T")


async def within(seconds: float, work: Awaitable[T], what: str) -> T:
    """A deadline around a browser call: a page that never answers must not hold us."""
    try:
        return await asyncio.wait_for(work, seconds)
    except TimeoutError:
        raise PageTimeout(f"{what} took longer than {seconds:g} s") from None


class Browser:
    def __init__(self, playwright: Playwright, browser: PlaywrightBrowser, pid: int) -> None:
        self._playwright = playwright
        self.inner = browser
        self.pid = pid

    @classmethod
    async def launch(cls, gpu: bool = False, by_frames: bool = False) -> Self:
        environment: dict[str, str | float | bool] = dict(os.environ)
        if not gpu:
            environment["LIBGL_ALWAYS_SOFTWARE"] = "1"
        playwright = await async_playwright().start()
        try:
            browser = await playwright.chromium.launch(
                executable_path=EXECUTABLE,
                chromium_sandbox=True,
                args=[
                    *LOOPBACK_ONLY,
                    *GRAPHICS,
                    *(BY_FRAMES if by_frames else ()),
                    *(() if gpu else WITHOUT_GPU),
                ],
                env=environment,
                timeout=LAUNCH_TIMEOUT_S * 1000,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
            return cls(playwright, browser, await _process_id(browser))
        except PlaywrightError as error:
            await playwright.stop()
            first = error.message.strip().splitlines()[0]
            raise DriverFailure(f"the browser {EXECUTABLE} did not start: {first}") from error

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    async def close(self) -> None:
        try:
            await asyncio.wait_for(self.inner.close(), CLOSE_TIMEOUT_S)
        except (TimeoutError, PlaywrightError):
            self.kill()
        with contextlib.suppress(TimeoutError, PlaywrightError):
            await asyncio.wait_for(self._playwright.stop(), CLOSE_TIMEOUT_S)


async def _process_id(browser: PlaywrightBrowser) -> int:
    session = await Cdp.of_browser(browser)
    answer = await session.send("SystemInfo.getProcessInfo")
    await session.detach()
    return next(int(process["id"]) for process in answer["processInfo"] if process["type"] == "browser")
