import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.replay.driver.clock import FRAME_MS, VirtualClock, sleep_or_wake


async def rest() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def woken_at(clock: VirtualClock, frames: int) -> list[list[int]]:
    """Which of the sleepers (numbered by asking) woke in each of the next frames."""
    found: list[list[int]] = []
    for _ in range(frames):
        clock.frame += 1
        found.append([])
        while clock.wake_one():
            await rest()
    return found


@given(st.lists(st.floats(0.1, 200), max_size=12))
def test_sleepers_wake_in_the_order_in_which_they_are_due_and_none_before_its_frame(
    dues: list[float],
) -> None:
    async def play() -> None:
        clock = VirtualClock()
        order: list[tuple[int, float]] = []

        async def sleep(number: int, due: float) -> None:
            await clock.sleep_until(due)
            order.append((number, clock.now_ms() - due))

        tasks = [asyncio.ensure_future(sleep(number, due)) for number, due in enumerate(dues)]
        await rest()
        await woken_at(clock, 14)
        assert [number for number, _ in order] == sorted(range(len(dues)), key=lambda k: (dues[k], k))
        assert all(-0.5 <= late <= FRAME_MS for _, late in order)
        await asyncio.gather(*tasks)

    asyncio.run(play())


def test_a_turn_comes_in_the_next_frame_and_never_after_the_end() -> None:
    async def play() -> None:
        clock = VirtualClock()
        turn = asyncio.ensure_future(clock.turn())
        await rest()
        assert not turn.done()
        clock.frame += 1
        clock.wake_one()
        assert await turn
        clock.stop()
        assert not await clock.turn()

    asyncio.run(play())


def test_a_stopped_clock_cancels_whoever_sleeps_and_nothing_goes_on_as_if_time_had_passed() -> None:
    async def play() -> None:
        clock = VirtualClock()
        went_on: list[bool] = []

        async def move() -> None:
            for step in range(1, 50):
                await sleep_or_wake(clock, step * 100, asyncio.Event())
                went_on.append(True)

        moving = asyncio.ensure_future(move())
        await rest()
        clock.stop()
        with pytest.raises(asyncio.CancelledError):
            await moving
        assert went_on == []

    asyncio.run(play())


def test_whoever_is_woken_early_is_told_so() -> None:
    async def play() -> None:
        clock, wake = VirtualClock(), asyncio.Event()
        waiting = asyncio.ensure_future(sleep_or_wake(clock, 1000, wake))
        await rest()
        wake.set()
        assert await waiting

    asyncio.run(play())
