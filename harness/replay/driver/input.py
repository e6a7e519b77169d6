"""The host half of the driver: it decides and schedules every movement and hold of a script, whatever the page's client says. Hard
part: everything is concurrent. A motion runs while keys are pressed, a newer motion replaces it between two events, timers
release holds, and a script can end at any moment; each step looks again at what still holds after it waited."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from .clock import Clock, sleep_or_wake
from .device import Device
from .errors import InputRefused
from .holds import Holds, Step
from .motion import (
    ALREADY_MOVING,
    DEFAULT_HOLD_MS,
    LATEST_LEASE_MS,
    STEP_MS,
    Number,
    Point,
    checked_duration,
    finite_point,
    latest_step,
    latest_target,
    plan_settled,
    relative_target,
)
from .ownership import NOT_A_RUN

Argument = Number


@dataclass
class Motion:
    settled: bool
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Input:
    """One page's pointer, buttons and keys."""

    def __init__(self, device: Device, clock: Clock) -> None:
        self._device = device
        self._clock = clock
        self._position = Point(0.0, 0.0)
        self._motion: Motion | None = None
        self._holds = Holds()
        self._changed = asyncio.Event()
        self._scripts_ended = 0
        self._background: set[asyncio.Task[None]] = set()
        self._errors: list[Exception] = []
        self._methods: dict[str, Callable[[Argument, Argument, Argument], Awaitable[None]]] = {
            "mouse.move": lambda x, y, ms: self._settled(x, y, ms, relative=True),
            "mouse.moveTo": lambda x, y, ms: self._settled(x, y, ms, relative=False),
            "mouse.moveLatest": lambda x, y, _: self._latest(x, y, relative=True),
            "mouse.moveToLatest": lambda x, y, _: self._latest(x, y, relative=False),
            "mouse.stop": lambda _x, _y, _ms: self._stop(),
            "mouse.down": lambda button, _, ms: self._down("mouse", button, ms),
            "mouse.up": lambda button, _, _ms: self._up("mouse", button),
            "mouse.click": lambda button, _, ms: self._tap("mouse", button, ms),
            "keyboard.down": lambda key, _, ms: self._down("key", key, ms),
            "keyboard.up": lambda key, _, _ms: self._up("key", key),
            "keyboard.press": lambda key, _, ms: self._tap("key", key, ms),
        }

    def knows(self, method: str) -> bool:
        return method in self._methods

    async def call(self, method: str, first: Argument, second: Argument, option: Argument) -> None:
        """Carries out one call of a script; what went wrong in the background is thrown first."""
        if self._errors:
            raise self._errors.pop(0)
        await self._methods[method](first, second, option)

    async def end(self) -> list[Exception]:
        """The end of a script: no timers, no motion, nothing held; returns what failed and was not thrown yet."""
        self._scripts_ended += 1
        self._holds.clear_deadlines()
        await self._stop()
        for control in reversed(self._holds.ids()):
            try:
                await self._release(control, None)
            except Exception as error:
                self._errors.append(error)
        for task in list(self._background):
            task.cancel()
        errors, self._errors = self._errors, []
        return errors

    # Motion

    async def _settled(self, x: Argument, y: Argument, duration: Argument, relative: bool) -> None:
        if self._motion is not None:
            raise InputRefused(ALREADY_MOVING)
        origin = self._position
        target = relative_target(origin, x, y) if relative else finite_point(x, y)
        plan = plan_settled(origin, target, duration)
        if plan is None:
            return
        motion = self._motion = Motion(settled=True)
        start = self._clock.now_ms()
        try:
            for due, point in plan.steps:
                if await sleep_or_wake(self._clock, start + due, motion.cancelled):
                    return
                await self._move(point)
        finally:
            self._finish(motion)

    async def _latest(self, x: Argument, y: Argument, relative: bool) -> None:
        previous = self._motion
        if previous is not None and previous.settled:
            raise InputRefused(ALREADY_MOVING)
        finite_point(x, y)
        motion = self._motion = Motion(settled=False)
        try:
            if previous is not None:
                previous.cancelled.set()
                await previous.done.wait()
            if motion.cancelled.is_set():
                self._finish(motion)
                return
            asked = relative_target(self._position, x, y) if relative else finite_point(x, y)
            target = latest_target(self._position, asked)
            first_at = self._clock.now_ms()
            await self._move(latest_step(self._position, target))
        except BaseException:
            self._finish(motion)
            raise
        self._in_background(self._follow(motion, target, first_at + LATEST_LEASE_MS))

    async def _follow(self, motion: Motion, target: Point, lease_ends: float) -> None:
        try:
            while self._position != target:
                if await sleep_or_wake(self._clock, self._clock.now_ms() + STEP_MS, motion.cancelled):
                    return
                if self._clock.now_ms() >= lease_ends:
                    return
                await self._move(latest_step(self._position, target))
        except Exception as error:
            self._errors.append(error)
        finally:
            self._finish(motion)

    async def _stop(self) -> None:
        motion = self._motion
        if motion is not None:
            motion.cancelled.set()
            await motion.done.wait()

    async def _move(self, point: Point) -> None:
        await self._device.move(point.x, point.y)
        self._position = point

    def _finish(self, motion: Motion) -> None:
        motion.done.set()
        if self._motion is motion:
            self._motion = None

    # Holds

    async def _down(self, device: str, name: Argument, release_after: Argument) -> None:
        control = control_id(device, name)
        after = None if release_after is None else checked_duration(release_after)
        while True:
            deadline = None if after is None else self._clock.now_ms() + after
            step = self._holds.down(control, deadline)
            if step is not Step.WAIT:
                break
            await self._wait_within_script()
        if step is Step.PRESS:
            await self._press(control)
        hold = self._holds.get(control)
        if hold is not None and after is not None:
            self._in_background(self._release_when_due(control, hold.token))

    async def _up(self, device: str, name: Argument) -> None:
        await self._release(control_id(device, name), None)

    async def _tap(self, device: str, name: Argument, duration: Argument) -> None:
        control = control_id(device, name)
        held_for = DEFAULT_HOLD_MS if duration is None else checked_duration(duration)
        while self._holds.tap(control) is Step.WAIT:
            await self._wait_within_script()
        token = await self._press(control)
        await self._clock.sleep_until(self._clock.now_ms() + held_for)
        await self._release(control, token)

    async def _press(self, control: str) -> int:
        """Sends the press that was claimed; returns its token."""
        hold = self._holds.get(control)
        assert hold is not None
        device, _, name = control.partition(":")
        try:
            await (self._device.button_down(name) if device == "mouse" else self._device.key_down(name))
        except BaseException:
            self._holds.gone(control)
            self._tell_change()
            raise
        self._holds.pressed(control)
        self._tell_change()
        return hold.token

    async def _release(self, control: str, token: int | None) -> None:
        while (step := self._holds.up(control, token)) is Step.WAIT:
            await self._wait_for_change()
        if step is Step.RELEASE:
            await self._send_release(control)

    async def _send_release(self, control: str) -> None:
        device, _, name = control.partition(":")
        try:
            await (self._device.button_up(name) if device == "mouse" else self._device.key_up(name))
        finally:
            self._holds.gone(control)
            self._tell_change()

    async def _release_when_due(self, control: str, token: int) -> None:
        while True:
            hold = self._holds.get(control)
            if hold is None or hold.token != token or hold.deadline_ms is None:
                return
            if self._holds.expire(control, token, self._clock.now_ms()) is Step.RELEASE:
                break
            await self._clock.sleep_until(hold.deadline_ms)
        try:
            await self._send_release(control)
        except Exception as error:
            self._errors.append(error)

    async def _wait_for_change(self) -> None:
        await self._changed.wait()

    async def _wait_within_script(self) -> None:
        """Waits for an event in flight; a script that ended meanwhile presses nothing any more."""
        ended = self._scripts_ended
        await self._wait_for_change()
        if self._scripts_ended != ended:
            raise InputRefused(NOT_A_RUN)

    def _tell_change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _in_background(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def control_id(device: str, name: Argument) -> str:
    """The id of a control as the interface words it; a name that is no text gets Playwright's own error."""
    if not isinstance(name, str):
        method, what = ("mouse.down", "button") if device == "mouse" else ("keyboard.down", "key")
        shown = "undefined" if name is None else "boolean" if isinstance(name, bool) else "number"
        raise InputRefused(f"{method}: {what}: expected string, got {shown}")
    return f"{device}:{name}"
