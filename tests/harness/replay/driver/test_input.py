"""The host half's timing, on a clock that only moves when everyone waits and a device that writes down what it is told."""

import asyncio
import heapq
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from harness.replay.driver.errors import InputRefused
from harness.replay.driver.input import Input

ACK_MS = 4.0


class SteppedClock:
    def __init__(self) -> None:
        self.now = 0.0
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now_ms(self) -> float:
        return self.now

    async def sleep_until(self, ms: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (max(ms, self.now), next(self._order), future))
        await future

    async def run(self, work: Awaitable[Any]) -> Any:
        """Moves time on, from sleeper to sleeper, until the work is done."""
        task = asyncio.ensure_future(work)
        while not task.done():
            for _ in range(30):
                await asyncio.sleep(0)
            while self._sleepers and not task.done():
                at, _, future = heapq.heappop(self._sleepers)
                if not future.done():
                    self.now = at
                    future.set_result(None)
                    break
        return task.result()

    async def pass_ms(self, ms: float) -> None:
        await self.run(self.sleep_until(self.now + ms))


class WritingDevice:
    """Takes ACK_MS for each event."""

    def __init__(self, clock: SteppedClock) -> None:
        self.clock = clock
        self.events: list[tuple[float, str, Any]] = []
        self.broken: set[str] = set()

    async def _event(self, kind: str, what: Any) -> None:
        if what in self.broken:
            raise InputRefused(f"no {what}")
        self.events.append((self.clock.now, kind, what))
        await self.clock.sleep_until(self.clock.now + ACK_MS)

    async def move(self, x: float, y: float) -> None:
        await self._event("move", (x, y))

    async def button_down(self, button: str) -> None:
        await self._event("down", button)

    async def button_up(self, button: str) -> None:
        await self._event("up", button)

    async def key_down(self, key: str) -> None:
        await self._event("down", key)

    async def key_up(self, key: str) -> None:
        await self._event("up", key)

    def kinds(self) -> list[str]:
        return [f"{kind} {what}" for _, kind, what in self.events]


class Desk:
    def __init__(self) -> None:
        self.clock = SteppedClock()
        self.device = WritingDevice(self.clock)
        self.input = Input(self.device, self.clock)

    def call(
        self, method: str, first: Any = None, second: Any = None, option: Any = None
    ) -> "asyncio.Task[None]":
        return asyncio.ensure_future(self.input.call(method, first, second, option))


def at_a_desk(test: Callable[[Desk], Awaitable[None]]) -> Callable[[], None]:
    def run() -> None:
        asyncio.run(test(Desk()))  # type: ignore[arg-type]

    run.__name__ = test.__name__  # type: ignore[attr-defined]
    return run


@at_a_desk
async def test_settled_steps_are_due_on_an_absolute_clock(desk: Desk) -> None:
    await desk.clock.run(desk.call("mouse.move", 600, 0))
    times = [at for at, _, _ in desk.device.events]
    assert times == pytest.approx([750 * k / 45 for k in range(1, 46)])
    assert desk.device.events[-1][2] == (600, 0)


@at_a_desk
async def test_late_steps_are_sent_all_the_same(desk: Desk) -> None:
    move = desk.call("mouse.move", 100, 0)
    desk.device._event = slow(desk.device)  # type: ignore[method-assign]
    await desk.clock.run(move)
    assert len(desk.device.events) == 8
    assert desk.clock.now == pytest.approx(125 / 8 + 8 * 50)


def slow(device: WritingDevice) -> Callable[[str, Any], Awaitable[None]]:
    async def event(kind: str, what: Any) -> None:
        device.events.append((device.clock.now, kind, what))
        await device.clock.sleep_until(device.clock.now + 50)

    return event


@at_a_desk
async def test_one_motion_at_a_time_and_the_check_comes_first(desk: Desk) -> None:
    moving = desk.call("mouse.move", 300, 0)
    for method, x in (("mouse.moveTo", "x"), ("mouse.moveLatest", "x"), ("mouse.move", 0)):
        with pytest.raises(InputRefused, match=r"^Vitexec mouse is already moving\.$"):
            await desk.clock.run(desk.call(method, x, 0, -1))
    await desk.clock.run(moving)


@at_a_desk
async def test_stop_waits_for_the_last_event_and_the_cancelled_move_resolves(desk: Desk) -> None:
    moving = desk.call("mouse.move", 600, 0)
    await desk.clock.pass_ms(750 / 45 * 3 + 1)
    await desk.clock.run(desk.call("mouse.stop"))
    assert len(desk.device.events) == 3
    assert desk.clock.now == pytest.approx(750 / 45 * 3 + ACK_MS)
    await moving
    x = desk.device.events[-1][2][0]
    await desk.clock.run(desk.call("mouse.move", 100, 0))
    assert desk.device.events[-1][2][0] == pytest.approx(x + 100)


@at_a_desk
async def test_a_latest_move_resolves_after_its_first_step_and_goes_on_for_its_lease(desk: Desk) -> None:
    await desk.clock.run(desk.call("mouse.moveToLatest", 1000, 0))
    assert [what for _, _, what in desk.device.events] == [(20, 0)]
    with pytest.raises(InputRefused, match="already moving"):
        await desk.clock.run(desk.call("mouse.move", 1, 1))
    await desk.clock.pass_ms(1000)
    times = [at for at, _, _ in desk.device.events]
    assert times == pytest.approx([k * (ACK_MS + 16.67) for k in range(20)])
    assert times[-1] < 400
    await desk.clock.run(desk.call("mouse.move", 1, 1))


@at_a_desk
async def test_a_newer_latest_move_drops_the_rest_of_the_older(desk: Desk) -> None:
    first = desk.call("mouse.moveToLatest", 500, 0)
    second = desk.call("mouse.moveToLatest", 0, 50)
    await desk.clock.run(asyncio.gather(first, second))
    await desk.clock.pass_ms(400)
    points = [what for _, _, what in desk.device.events]
    assert points[0] == (20, 0)
    assert points[-1] == (0, 50)
    assert max(x for x, _ in points) == 20


@at_a_desk
async def test_a_latest_move_arrives_exactly(desk: Desk) -> None:
    await desk.clock.run(desk.call("mouse.moveLatest", 50.4, 0.3))
    await desk.clock.pass_ms(200)
    assert desk.device.events[-1][2] == (50, 1)


@at_a_desk
async def test_motion_and_holds_do_not_wait_for_each_other(desk: Desk) -> None:
    moving = desk.call("mouse.move", 600, 0)
    await desk.clock.run(desk.call("keyboard.press", "KeyW"))
    assert not moving.done()
    assert [at for at, _, what in desk.device.events if what == "KeyW"] == pytest.approx([0, ACK_MS + 80])
    await desk.clock.run(moving)


@at_a_desk
async def test_a_hold_is_released_after_its_time_and_a_renewal_moves_it(desk: Desk) -> None:
    await desk.clock.run(desk.call("keyboard.down", "KeyW", None, 100))
    await desk.clock.pass_ms(50)
    await desk.clock.run(desk.call("keyboard.down", "KeyW", None, 200))
    await desk.clock.pass_ms(500)
    assert desk.device.kinds() == ["down KeyW", "up KeyW"]
    assert desk.device.events[1][0] == pytest.approx(ACK_MS + 50 + 200)


@at_a_desk
async def test_a_second_down_without_a_time_clears_the_first_ones(desk: Desk) -> None:
    await desk.clock.run(desk.call("mouse.down", "left", None, 100))
    await desk.clock.run(desk.call("mouse.down", "left"))
    await desk.clock.pass_ms(1000)
    assert desk.device.kinds() == ["down left"]


@at_a_desk
async def test_a_down_waits_for_a_release_in_flight_and_presses_anew(desk: Desk) -> None:
    await desk.clock.run(desk.call("keyboard.down", "KeyW"))
    up, down = desk.call("keyboard.up", "KeyW"), desk.call("keyboard.down", "KeyW")
    await desk.clock.run(asyncio.gather(up, down))
    assert desk.device.kinds() == ["down KeyW", "up KeyW", "down KeyW"]
    assert desk.device.events[2][0] == desk.device.events[1][0] + ACK_MS


@at_a_desk
async def test_a_press_that_fails_is_not_held(desk: Desk) -> None:
    desk.device.broken.add("Foo")
    with pytest.raises(InputRefused, match="no Foo"):
        await desk.clock.run(desk.call("keyboard.down", "Foo"))
    desk.device.broken.clear()
    await desk.clock.run(desk.call("keyboard.press", "Foo"))
    assert desk.device.kinds() == ["down Foo", "up Foo"]


@pytest.mark.parametrize("method", ["mouse.down", "mouse.click", "keyboard.down", "keyboard.press"])
@pytest.mark.parametrize("duration", [0, -1, False, "80"])
def test_a_bad_duration_sends_nothing(method: str, duration: Any) -> None:
    async def run() -> None:
        desk = Desk()
        with pytest.raises(
            InputRefused, match=r"^Vitexec input duration must be a finite number greater than zero\.$"
        ):
            await desk.clock.run(desk.call(method, "left", None, duration))
        assert desk.device.events == []

    asyncio.run(run())


@at_a_desk
async def test_a_failure_in_the_background_is_thrown_by_the_next_command(desk: Desk) -> None:
    await desk.clock.run(desk.call("mouse.moveToLatest", 60, 0))
    desk.device.broken.add((40.0, 0.0))
    await desk.clock.pass_ms(100)
    with pytest.raises(InputRefused, match="no "):
        await desk.clock.run(desk.call("keyboard.down", "KeyW"))
    await desk.clock.run(desk.call("keyboard.down", "KeyW"))
    assert desk.device.kinds()[-1] == "down KeyW"


@at_a_desk
async def test_the_end_releases_everything_and_stops_all_motion(desk: Desk) -> None:
    for method, name in (("mouse.down", "left"), ("keyboard.down", "KeyW")):
        await desk.clock.run(desk.call(method, name, None, 300))
    moving = desk.call("mouse.move", 600, 0)
    await desk.clock.pass_ms(40)
    assert await desk.clock.run(desk.input.end()) == []
    count = len(desk.device.events)
    assert {"up left", "up KeyW"} <= set(desk.device.kinds())
    await moving
    await desk.clock.pass_ms(2000)
    assert len(desk.device.events) == count


@at_a_desk
async def test_a_down_that_waits_at_the_end_presses_nothing(desk: Desk) -> None:
    await desk.clock.run(desk.call("keyboard.down", "KeyW"))
    desk.call("keyboard.up", "KeyW")
    waiting = desk.call("keyboard.down", "KeyW")
    await asyncio.sleep(0)
    await desk.clock.run(desk.input.end())
    with pytest.raises(InputRefused, match="active Vitexec script"):
        await desk.clock.run(waiting)
    assert desk.device.kinds() == ["down KeyW", "up KeyW"]


@at_a_desk
async def test_the_end_reports_every_release_that_failed(desk: Desk) -> None:
    for key in ("KeyA", "KeyB"):
        await desk.clock.run(desk.call("keyboard.down", key))
    desk.device.broken |= {"KeyA", "KeyB"}
    failures = await desk.clock.run(desk.input.end())
    assert [str(failure) for failure in failures] == ["no KeyB", "no KeyA"]
