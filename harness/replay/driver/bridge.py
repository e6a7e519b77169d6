"""Between the page client and the host half: a CDP binding carries each call out, an answer carries its end back. Hard part: the page
is not trusted. What arrives is checked as if it came from anywhere: its form, its run, its place in the sequence of the one
client of that run; what does not fit is refused and noted as a bypass, and nothing the page can reach answers a call."""

import asyncio
import contextlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from playwright.async_api import Error as PlaywrightError

from .cdp import Cdp
from .clock import Clock
from .errors import InputRefused
from .input import Argument, Input
from .ownership import NOT_A_RUN, Ownership
from .shim_source import door

MAX_CALL_BYTES = 4096
KEPT_BYPASSES = 1000


@dataclass(frozen=True)
class Call:
    id: int
    run: str
    connection: int
    sequence: int
    method: str
    first: Argument
    second: Argument
    option: Argument


@dataclass(frozen=True)
class Bypass:
    """A call that did not come from the client of an active run."""

    t_ms: float
    reason: str
    payload: str


def parse_call(payload: str) -> Call | None:
    """The call in a binding's payload, or None when the page client cannot have written it."""
    if len(payload) > MAX_CALL_BYTES:
        return None
    try:
        parts: object = json.loads(payload, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parts, list) or len(cast(list[object], parts)) != 8:
        return None
    number, run, connection, sequence, method, *arguments = cast(list[object], parts)
    if not (_is_count(number) and _is_count(connection) and _is_count(sequence)):
        return None
    if not isinstance(run, str) or not isinstance(method, str):
        return None
    if not all(one is None or one is False or _is_plain(one) for one in arguments):
        return None
    counts = (cast(int, number), run, cast(int, connection), cast(int, sequence))
    return Call(*counts, method, *(cast(Argument, one) for one in arguments))


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


class Bridge:
    def __init__(self, cdp: Cdp, input_: Input, clock: Clock, by_frames: bool = False) -> None:
        """With `by_frames` calls wait until the frame loop starts them, and their ends until it takes them along."""
        self._cdp = cdp
        self._by_frames = by_frames
        self._arrived: list[tuple[Call, str]] = []
        self._replies: list[tuple[int, str | None]] = []
        self._input = input_
        self._clock = clock
        self._binding = f"_{secrets.token_hex(16)}"
        self._token = secrets.token_hex(16)
        self.answer_id: str | None = None  # object id of the function in the page that ends a call
        self.hold_id: str | None = None  # and of the one that imports a script and keeps it
        self._connections: dict[str, tuple[int, int]] = {}  # run -> its one connection, last sequence number
        self._calls: set[asyncio.Task[None]] = set()
        self.ownership = Ownership()
        self.bypasses: list[Bypass] = []
        self.on_bypass: Callable[[Bypass], None] | None = None

    async def install(self) -> None:
        """Must run before the page's first document; whoever installs it adds `door_source` to the page's init script."""
        self._cdp.on("Runtime.bindingCalled", self._called)
        self._cdp.on("Runtime.consoleAPICalled", self._take_answer)
        await self._cdp.send("Runtime.addBinding", {"name": self._binding})

    def door_source(self, kit: str = "null") -> str:
        """The page client's door, for the page's init script."""
        return door(self._binding, self._token, kit)

    def is_own_message(self, event: dict[str, Any]) -> bool:
        """True for the console message that is the init script's, not the page's."""
        arguments = cast(list[dict[str, Any]], event.get("args") or [])
        return bool(arguments) and arguments[0].get("value") == self._token

    async def import_script(self, url: str) -> dict[str, Any]:
        """Imports a module in the page and waits for its end, however long that is."""
        question = {
            "objectId": self.hold_id,
            "functionDeclaration": "function (url) { return this(import(url)); }",
            "arguments": [{"value": url}],
            "awaitPromise": True,
            "returnByValue": True,
        }
        return await self._cdp.send("Runtime.callFunctionOn", question)

    def begin(self, run: str) -> None:
        self.ownership.begin(run)

    async def end(self, run: str) -> list[Exception]:
        """Refuses the run's further input and puts everything it held back; returns what failed on the way."""
        if not self.ownership.close(run):
            return []
        try:
            if not await self._clock.turn():
                return []
            return await self._input.end()
        finally:
            self.ownership.release(run)

    def close(self) -> None:
        for task in self._calls:
            task.cancel()

    def _take_answer(self, event: dict[str, Any]) -> None:
        if self.is_own_message(event):
            self.answer_id, self.hold_id = (value.get("objectId") for value in event["args"][1:3])

    def _called(self, event: dict[str, Any]) -> None:
        if event.get("name") != self._binding:
            return
        payload = str(event.get("payload"))
        call = parse_call(payload)
        if call is None:
            self._note("malformed call", payload)
            return
        if self._by_frames:
            self._arrived.append((call, payload))
        else:
            self._start(call, payload)

    def _start(self, call: Call, payload: str) -> None:
        task = asyncio.ensure_future(self._carry_out(call, payload))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    def start_next(self) -> bool:
        """Starts the call that arrived first, if one did."""
        if not self._arrived:
            return False
        self._start(*self._arrived.pop(0))
        return True

    def take_replies(self) -> list[tuple[int, str | None]]:
        """The ends of calls since it was asked last: (call, failure)."""
        replies, self._replies = self._replies, []
        return replies

    def _suspect(self, call: Call) -> str | None:
        """Why this call cannot be one of the run's client, if so. A run that just ended still has one: its calls may be late."""
        if not self._input.knows(call.method):
            return "there is no such call"
        known = self._connections.get(call.run)
        if known is None and not self.ownership.is_active(call.run):
            return "the run is not active"
        connection, sequence = known or (call.connection, 0)
        if call.connection != connection or call.sequence != sequence + 1:
            return "not the client of the run"
        self._connections[call.run] = (connection, call.sequence)
        return None

    async def _carry_out(self, call: Call, payload: str) -> None:
        failure: str | None = None
        reason = self._suspect(call)
        try:
            if reason is not None:
                self._note(reason, payload)
                raise InputRefused(NOT_A_RUN)
            self.ownership.claim(call.run)
            await self._input.call(call.method, call.first, call.second, call.option)
        except InputRefused as refusal:
            failure = str(refusal)
        except PlaywrightError as error:
            failure = error.message
        if self._by_frames:
            self._replies.append((call.id, failure))
        else:
            await self._reply(call.id, failure)

    async def _reply(self, call_id: int, failure: str | None) -> None:
        if self.answer_id is None:
            return
        arguments = [{"value": call_id}, {"value": failure}]
        with contextlib.suppress(PlaywrightError):  # the document that asked may be gone
            await self._cdp.send(
                "Runtime.callFunctionOn",
                {
                    "objectId": self.answer_id,
                    "functionDeclaration": "function (id, failure) { this(id, failure); }",
                    "arguments": arguments,
                    "silent": True,
                    "returnByValue": True,
                },
            )

    def _note(self, reason: str, payload: str) -> None:
        bypass = Bypass(self._clock.now_ms(), reason, payload[:500])
        if len(self.bypasses) < KEPT_BYPASSES:
            self.bypasses.append(bypass)
        if self.on_bypass is not None:
            self.on_bypass(bypass)
