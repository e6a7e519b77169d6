"""The time that input is scheduled by. An interface, because a virtual clock takes the real one's place in replays whose
contract asks for it; nothing else in the driver may ask the machine what time it is."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> float: ...

    async def sleep_until(self, ms: float) -> None: ...


class RealClock:
    """Monotonic milliseconds since the clock was made."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def now_ms(self) -> float:
        return (time.monotonic() - self._start) * 1000

    async def sleep_until(self, ms: float) -> None:
        await asyncio.sleep(max(0.0, (ms - self.now_ms()) / 1000))


async def sleep_or_wake(clock: Clock, until_ms: float, wake: asyncio.Event) -> bool:
    """Sleeps to a time of the clock or until woken; True when woken."""
    if wake.is_set() or clock.now_ms() >= until_ms:
        return wake.is_set()
    sleeper = asyncio.ensure_future(clock.sleep_until(until_ms))
    waker = asyncio.ensure_future(wake.wait())
    try:
        await asyncio.wait((sleeper, waker), return_when=asyncio.FIRST_COMPLETED)
    finally:
        sleeper.cancel()
        waker.cancel()
    return wake.is_set()
