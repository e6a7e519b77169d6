"""The time that everything in a replay is scheduled by: the machine's, or frames of a page whose time the host makes. Nothing else in the
driver may ask the machine what time it is, except to bound a hang. Hard part: under the virtual clock whoever sleeps must be
woken in one order, at a place in the frame that is the same on every host."""

import asyncio
import heapq
import time
from typing import Protocol

FRAME_MS = 1000 / 60
EARLY_MS = 0.5
"""A frame wakes what is due within half a millisecond: steps of 16.67 ms are meant to fall on frames of 16.667."""


PAGE_START_MS = 100
"""What the page's own clock says before the first frame: a page that has just loaded is never at 0."""


class Clock(Protocol):
    @property
    def frame(self) -> int: ...

    def now_ms(self) -> float: ...

    async def sleep_until(self, ms: float) -> None: ...

    async def turn(self) -> bool:
        """Waits until input may be dispatched; False when it never may again."""
        ...

    def stop(self) -> None:
        """No more time will pass: whoever sleeps is cancelled."""
        ...


class RealClock:
    """Monotonic milliseconds since the clock was made."""

    frame = 0

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._stopped = False

    def now_ms(self) -> float:
        return (time.monotonic() - self._start) * 1000

    async def sleep_until(self, ms: float) -> None:
        await asyncio.sleep(max(0.0, (ms - self.now_ms()) / 1000))

    async def turn(self) -> bool:
        return not self._stopped

    def stop(self) -> None:
        self._stopped = True


class VirtualClock:
    """Frames of 1000/60 ms, counted by whoever drives the page."""

    def __init__(self) -> None:
        self.frame = 0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = 0
        self._stopped = False

    def now_ms(self) -> float:
        return self.frame * FRAME_MS

    def page_ms(self) -> float:
        """The page's own time, as performance.now() gives it."""
        return PAGE_START_MS + self.now_ms()

    async def sleep_until(self, ms: float) -> None:
        if ms <= self.now_ms():
            return
        if self._stopped:
            raise asyncio.CancelledError
        self._order += 1
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (ms, self._order, woken))
        await woken

    async def turn(self) -> bool:
        if not self._stopped:
            await self.sleep_until(self.now_ms() + EARLY_MS)
        return not self._stopped

    def stop(self) -> None:
        self._stopped = True
        for _, _, woken in self._sleepers:
            woken.cancel()

    def wake_one(self) -> bool:
        """Wakes the sleeper that is due first, if one is."""
        while self._sleepers and self._sleepers[0][0] <= self.now_ms() + EARLY_MS:
            _, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)
                return True
        return False


async def sleep_or_wake(clock: Clock, until_ms: float, wake: asyncio.Event) -> bool:
    """Sleeps to a time of the clock or until woken; True when woken. Cancelled when the clock stops."""
    if wake.is_set() or clock.now_ms() >= until_ms:
        return wake.is_set()
    sleeper = asyncio.ensure_future(clock.sleep_until(until_ms))
    waker = asyncio.ensure_future(wake.wait())
    try:
        await asyncio.wait((sleeper, waker), return_when=asyncio.FIRST_COMPLETED)
    finally:
        waker.cancel()
        if not sleeper.done():
            sleeper.cancel()
    if not wake.is_set():
        sleeper.result()
    return wake.is_set()
