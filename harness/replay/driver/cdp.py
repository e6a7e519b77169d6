"""A CDP session with types: the one place where Playwright's untyped answers become `dict[str, Any]`."""

from collections.abc import Callable, Mapping
from typing import Any, Self, cast

from playwright.async_api import Browser, CDPSession, Page

Event = dict[str, Any]


class Cdp:
    def __init__(self, session: CDPSession) -> None:
        self._session: Any = session

    @classmethod
    async def of_page(cls, page: Page) -> Self:
        return cls(await page.context.new_cdp_session(page))

    @classmethod
    async def of_browser(cls, browser: Browser) -> Self:
        return cls(await browser.new_browser_cdp_session())

    def on(self, event: str, handler: Callable[[Event], None]) -> None:
        self._session.on(event, handler)

    async def send(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return cast(dict[str, Any], await self._session.send(method, dict(params or {})))

    async def detach(self) -> None:
        await self._session.detach()
