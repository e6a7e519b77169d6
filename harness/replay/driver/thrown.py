"""What a page threw, read from CDP's description of it: its own message and stack. Own data properties only: reading them
runs no code of the page."""

from typing import Any, cast

from playwright.async_api import Error as PlaywrightError

from .browser import within
from .cdp import Cdp
from .errors import DriverFailure, PageThrew
from .logs import error_text, plain_text

READ_TIMEOUT_S = 3.0


async def read_thrown(cdp: Cdp, details: dict[str, Any]) -> PageThrew:
    """The exception behind `exceptionDetails`."""
    exception = cast(dict[str, Any], details.get("exception") or {})
    stack = error_text(details)
    message = stack.split("\n    at ")[0]
    if exception.get("subtype") == "error" and exception.get("objectId"):
        own = await _own_strings(cdp, str(exception["objectId"]))
        message = own.get("message", message.removeprefix("Error: "))
    elif exception.get("type") != "object":
        message = plain_text(exception) or stack
    return PageThrew(message, stack)


async def _own_strings(cdp: Cdp, object_id: str) -> dict[str, str]:
    question = {"objectId": object_id, "ownProperties": True}
    try:
        answer = await within(READ_TIMEOUT_S, cdp.send("Runtime.getProperties", question), "reading an error")
    except (PlaywrightError, DriverFailure):
        return {}
    found: dict[str, str] = {}
    for one in cast(list[dict[str, Any]], answer.get("result") or []):
        value = cast(dict[str, Any], one.get("value") or {})
        if value.get("type") == "string":
            found[str(one["name"])] = str(value.get("value"))
    return found
