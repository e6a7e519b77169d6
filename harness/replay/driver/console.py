"""Listens to a page over CDP and writes its log: console calls, uncaught errors, failed requests, navigations, and what the driver
refused it (dialogs, popups, downloads)."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from playwright.async_api import Error as PlaywrightError

from .cdp import Cdp
from .logs import LogBook, Slot, console_kind, error_text, plain_text, to_json

VALUE_TIMEOUT_S = 10.0  # for one logged object to come over
KEPT_REQUESTS = 5000


class Console:
    def __init__(self, cdp: Cdp, book: LogBook, is_own: Callable[[dict[str, Any]], bool]) -> None:
        self._cdp = cdp
        self._book = book
        self._is_own = is_own
        self._urls: dict[str, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def listen(self) -> None:
        self._cdp.on("Runtime.consoleAPICalled", self._console)
        self._cdp.on("Runtime.exceptionThrown", self._exception)
        self._cdp.on("Network.requestWillBeSent", self._request)
        self._cdp.on("Network.responseReceived", self._response)
        self._cdp.on("Network.loadingFailed", self._failed)

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()

    def _console(self, event: dict[str, Any]) -> None:
        if self._is_own(event):
            return
        kind = console_kind(str(event.get("type")))
        values = cast(list[dict[str, Any]], event.get("args") or [])
        texts = [plain_text(value) for value in values]
        if self._book.is_full:
            texts = [text or str(value.get("description")) for text, value in zip(texts, values, strict=True)]
        slot = self._book.reserve(kind)
        if all(text is not None for text in texts):
            self._book.fill(slot, " ".join(text or "" for text in texts))
            return
        task = asyncio.ensure_future(self._fetch(slot, values))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _fetch(self, slot: Slot, values: list[dict[str, Any]]) -> None:
        texts = await asyncio.gather(*(self._text(value) for value in values))
        if slot.text is None:
            self._book.fill(slot, " ".join(texts))

    async def _text(self, value: dict[str, Any]) -> str:
        text = plain_text(value)
        if text is not None:
            return text
        arguments = {
            "objectId": value["objectId"],
            "functionDeclaration": "function () { return this; }",
            "returnByValue": True,
        }
        try:
            answer = await asyncio.wait_for(
                self._cdp.send("Runtime.callFunctionOn", arguments), VALUE_TIMEOUT_S
            )
            return to_json(answer["result"].get("value"))
        except (PlaywrightError, TimeoutError, KeyError):
            return str(value.get("description") or value.get("type"))

    def _exception(self, event: dict[str, Any]) -> None:
        self._book.add("page error", error_text(event["exceptionDetails"]))

    def _request(self, event: dict[str, Any]) -> None:
        if len(self._urls) >= KEPT_REQUESTS:
            self._urls.pop(next(iter(self._urls)))
        self._urls[event["requestId"]] = event["request"]["url"]

    def _response(self, event: dict[str, Any]) -> None:
        response = event["response"]
        if response["status"] >= 400:
            self._book.add(f"http {response['status']}", response["url"])

    def _failed(self, event: dict[str, Any]) -> None:
        url = self._urls.pop(event["requestId"], "")
        reason = event.get("blockedReason") or event.get("errorText") or "failed"
        self._book.add("request failed", f"{url} {reason}")
