"""Runs one script to its end in a page: done, thrown, out of time, or the page hung, crashed or left. Hard part: telling these apart
from outside, when the only sign of a blocked page is that nothing answers, and of a lost one that a promise never settles."""

import asyncio
import json
import secrets
import time
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from playwright.async_api import Error as PlaywrightError

from .errors import DriverFailure, PageThrew
from .thrown import read_thrown

if TYPE_CHECKING:
    from .stage import Stage

DEFAULT_TIMEOUT_S = 600.0
HANG_AFTER_S = 30.0  # no answer for so long is a hang; slow frames on a busy machine are not
LOOK_EVERY_S = 2.0
CLEAN_UP_TIMEOUT_S = 5.0
COMPILE_TIMEOUT_S = 60.0
EVENT_GRACE_S = 1.0  # for the event that explains a failed command to arrive

Status = Literal["done", "error", "timeout", "page_hung", "page_crashed", "navigated_away"]
Ending = tuple[Status, str, str]  # status, message, stack


@dataclass(frozen=True)
class ScriptResult:
    status: Status
    message: str
    stack: str
    duration_ms: float
    errors: tuple[str, ...] = ()  # all messages, when there was more than one error


async def run_script(
    stage: "Stage", url: str, timeout_s: float = DEFAULT_TIMEOUT_S, hang_after_s: float = HANG_AFTER_S
) -> ScriptResult:
    """Runs the script at a URL path of the page's server; its input works until this returns."""
    run = secrets.token_hex(16)
    started = stage.clock.now_ms()
    script = f"{url}{'&' if '?' in url else '?'}vitexec={run}"
    stage.navigated.clear()
    stage.begun.clear()
    stage.bridge.begin(run)
    try:
        status, message, stack = await _play(
            stage, script, started + timeout_s * 1000, timeout_s, hang_after_s
        )
    finally:
        stage.begun.set()
        failures = await _clean_up(stage, run)
    status, message, stack, messages = combine(
        (status, message, stack), [str(failure) for failure in failures]
    )
    if status == "timeout" and not await stage.answers(min(LOOK_EVERY_S, hang_after_s)):
        status, message = (
            "page_hung",
            f"The page's main thread is blocked; the script was cut off after {timeout_s:g}s.",
        )
    if status == "page_hung":
        stage.hung.set()
        await stage.terminate()
    return ScriptResult(status, message, stack, stage.clock.now_ms() - started, messages)


def combine(ended: Ending, failures: list[str]) -> tuple[Status, str, str, tuple[str, ...]]:
    """The script's own error and those of what it left behind: one is rethrown, several become an AggregateError."""
    status, message, stack = ended
    messages = ([message] if status == "error" else []) + failures
    if status not in ("done", "error") or not messages:
        return status, message, stack, ()
    if len(messages) == 1:
        return "error", messages[0], stack or messages[0], ()
    text = f"AggregateError: {len(messages)} errors: {'; '.join(messages)}"
    return "error", text, stack or text, tuple(messages)


async def _play(
    stage: "Stage", script: str, deadline_ms: float, timeout_s: float, hang_after_s: float
) -> Ending:
    try:
        problem = await asyncio.to_thread(_check, stage.absolute(script), stage.absolute("/@vitexec/check"))
        if problem is not None:
            return "error", problem, problem
        evaluation = asyncio.ensure_future(_evaluate(stage, script))
        return await _watch(stage, evaluation, deadline_ms, timeout_s, hang_after_s)
    except DriverFailure as failure:
        return "error", str(failure), str(failure)


def _check(script: str, check: str) -> str | None:
    """Has the server compile the script, and returns what is wrong with it: the browser would only say that it did not load."""
    question = f"{check}?url={urllib.parse.quote(urllib.parse.urlsplit(script)._replace(scheme='', netloc='').geturl(), safe='')}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(question, timeout=COMPILE_TIMEOUT_S) as answer:
            found = cast(dict[str, Any], json.load(answer))
    except (OSError, ValueError) as error:
        raise DriverFailure(f"the project's server does not answer: {error}") from error
    return None if found.get("ok") else str(found.get("message"))


async def _evaluate(stage: "Stage", script: str) -> PageThrew | None:
    if stage.frames is None:
        stage.begun.set()
        ended = await stage.bridge.import_script(script)
    else:
        assert stage.bridge.hold_id is not None
        await stage.frames.begin_script(stage.bridge.hold_id, script)
        ending = asyncio.ensure_future(stage.frames.script_end())
        stage.begun.set()
        ended = await ending
    return await read_thrown(stage.cdp, ended["exceptionDetails"]) if "exceptionDetails" in ended else None


async def _watch(
    stage: "Stage",
    evaluation: "asyncio.Task[PageThrew | None]",
    deadline_ms: float,
    timeout_s: float,
    hang_after_s: float,
) -> Ending:
    """Waits for whatever comes first. The frames of a virtual clock find a hanging page themselves."""
    events = {asyncio.ensure_future(event.wait()) for event in (stage.crashed, stage.navigated, stage.hung)}
    late = asyncio.ensure_future(stage.clock.sleep_until(deadline_ms))
    heard = time.monotonic()
    ping: asyncio.Future[bool] | None = None
    try:
        while True:
            waiting: set[asyncio.Future[Any]] = {evaluation, late, *events}
            slice_s = min(LOOK_EVERY_S, hang_after_s / 2)
            await asyncio.wait(waiting, timeout=slice_s, return_when=asyncio.FIRST_COMPLETED)
            now = time.monotonic()
            if lost := _lost(stage):
                return lost
            if evaluation.done():
                return await _ended(stage, evaluation)
            if ping is not None and ping.done():
                heard = now if ping.result() else heard
                ping = None
            if stage.hung.is_set() or (stage.frames is None and now - heard >= hang_after_s):
                return "page_hung", f"The page's main thread is blocked: no answer for {hang_after_s:g}s.", ""
            if late.done():
                return "timeout", f"Vitexec script timed out after {timeout_s:g}s.", ""
            if stage.frames is None:
                ping = ping or asyncio.ensure_future(stage.answers(hang_after_s))
    finally:
        for task in (evaluation, ping, late, *events):
            if task is not None:
                task.cancel()


def _lost(stage: "Stage") -> Ending | None:
    if stage.crashed.is_set():
        return "page_crashed", "The page crashed.", ""
    if stage.navigated.is_set():
        return "navigated_away", "The page navigated away while the script ran.", ""
    return None


async def _ended(stage: "Stage", evaluation: "asyncio.Task[PageThrew | None]") -> Ending:
    try:
        thrown = evaluation.result()
    except PlaywrightError as error:
        await asyncio.sleep(EVENT_GRACE_S)
        reason = error.message.splitlines()[0]
        return _lost(stage) or ("page_crashed", f"The page was lost: {reason}", "")
    if thrown is None:
        return "done", "", ""
    return "error", thrown.message, thrown.stack


async def _clean_up(stage: "Stage", run: str) -> list[Exception]:
    if stage.is_lost:
        stage.clock.stop()
    if stage.crashed.is_set():
        stage.bridge.ownership.close(run)
        return []
    try:
        return await asyncio.wait_for(stage.bridge.end(run), CLEAN_UP_TIMEOUT_S)
    except TimeoutError:
        return []
