"""Where input becomes events: the page's mouse and keyboard through Playwright, and a record of each dispatch for the tape. Hard part:
Chromium acknowledges an event only when the page has handled it, so a blocked page holds every call here; and a key pressed
under two names must not repeat."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal, Protocol, cast

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from .clock import Clock
from .errors import InputRefused
from .keys import physical_key

DispatchKind = Literal["mouse.move", "mouse.down", "mouse.up", "key.down", "key.up"]
Button = Literal["left", "middle", "right"]


@dataclass(frozen=True)
class Dispatch:
    """One input event that was sent to the browser: when, what, with which arguments."""

    t_ms: float
    kind: DispatchKind
    args: tuple[float | str, ...]
    frame: int = 0


OnDispatch = Callable[[Dispatch], None]


class Device(Protocol):
    """What the input driver plays on; each call returns when the page has handled the event."""

    async def move(self, x: float, y: float) -> None: ...

    async def button_down(self, button: str) -> None: ...

    async def button_up(self, button: str) -> None: ...

    async def key_down(self, key: str) -> None: ...

    async def key_up(self, key: str) -> None: ...


class PageDevice:
    def __init__(
        self,
        page: Page,
        clock: Clock,
        on_dispatch: OnDispatch | None = None,
        dispatching: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`dispatching` stands around each event on its way, for whoever must wait for it."""
        self._page = page
        self._clock = clock
        self._on_dispatch = on_dispatch
        self._dispatching = dispatching
        self._names: Counter[str] = Counter()  # physical key -> names that hold it

    def _note(self, kind: DispatchKind, *args: float | str) -> None:
        if self._on_dispatch is not None:
            self._on_dispatch(Dispatch(self._clock.now_ms(), kind, args, self._clock.frame))

    async def move(self, x: float, y: float) -> None:
        self._note("mouse.move", x, y)
        with self._dispatching():
            await self._page.mouse.move(x, y)

    async def button_down(self, button: str) -> None:
        try:
            self._note("mouse.down", button)
            with self._dispatching():
                await self._page.mouse.down(button=cast(Button, button))
        except PlaywrightError as error:
            raise own_words("mouse.down", error) from error

    async def button_up(self, button: str) -> None:
        self._note("mouse.up", button)
        with self._dispatching():
            await self._page.mouse.up(button=cast(Button, button))

    async def key_down(self, key: str) -> None:
        code = physical_key(key)
        self._names[code] += 1
        if self._names[code] > 1:
            return
        try:
            self._note("key.down", key)
            with self._dispatching():
                await self._page.keyboard.down(key)
        except PlaywrightError as error:
            self._names[code] -= 1
            raise own_words("keyboard.down", error) from error

    async def key_up(self, key: str) -> None:
        code = physical_key(key)
        self._names[code] -= 1
        if self._names[code] > 0:
            return
        self._note("key.up", key)
        with self._dispatching():
            await self._page.keyboard.up(key)


def own_words(method: str, error: PlaywrightError) -> InputRefused:
    """Playwright's own message as its JavaScript library words it, which is what scripts know."""
    message = error.message
    known = f"{method[0].upper()}{method[1:]}: "
    return InputRefused(message if message.startswith(method) else f"{method}: {message.removeprefix(known)}")
