"""What only a container can show: that a freeze holds, and what Chromium can do in there.

The checks need the replay image; where it is missing they say so instead of passing. On a busy machine the browser
may not come up in time, which is told apart from one that cannot.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from contracts.errors import PlayproofError
from harness.engine.channel import Channel, ChannelTimeout
from harness.engine.container import Container
from harness.engine.engine import Engine
from harness.engine.spec import ContainerSpec, Limits

GIB = 1 << 30
PROBE_TIMEOUT_S = 60.0
FREEZE_TIMEOUT_S = 3.0
FREEZE_SILENCE_S = 0.3
PROBE_LIMITS = Limits(memory_bytes=2 * GIB, pids=512, cpus=2.0)
BUILD = "Build the images with `playproof images build`."
APPARMOR = "Should the browser check fail, run `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0` and ask again."


@dataclass(frozen=True)
class Check:
    """One thing looked at. `remedy` is empty when there is nothing to mend."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


def container_checks(engine: Engine, images: Mapping[str, str]) -> list[Check]:
    """What only a container can show: that a freeze holds, and what Chromium can do in there."""
    names = ("freeze", "sandbox", "webgl", "pointer lock", "trusted input")
    image = images.get("replay")
    if image is None or not engine.has_image(image):
        return [
            Check(name, False, "not tried: the replay image is not in the engine", BUILD) for name in names
        ]
    run_id = f"doctor-{engine.owner.pid}-{time.time_ns() // 1_000_000}"
    try:
        container = engine.create(
            ContainerSpec(
                image=image, role="browser", run_id=run_id, command=("sleep", "120"), limits=PROBE_LIMITS
            )
        )
        container.start()
        return [_tried("freeze", lambda: freeze_check(container)), *_browser_checks(container)]
    except PlayproofError as error:
        return [Check(name, False, str(error), "See the engine's log.") for name in names]
    finally:
        engine.remove_run(run_id)


def freeze_check(container: Container) -> Check:
    """A command under way when the container is frozen must make no headway until it is thawed."""
    with container.open_exec(["sh", "-c", "while :; do echo x; sleep 0.01; done"]) as channel:
        channel.recv(FREEZE_TIMEOUT_S)
        container.freeze()
        try:
            held = _falls_silent(channel)
        finally:
            container.thaw()
        lives = held and channel.recv(FREEZE_TIMEOUT_S) is not None
    if not lives:
        return Check(
            "freeze",
            False,
            "a frozen container went on or did not come back",
            "See whether `docker pause` works here.",
        )
    return Check("freeze", True, "a frozen container stands still, and goes on when thawed")


def _falls_silent(channel: Channel) -> bool:
    """Whether nothing comes for a while, once what was already under way has arrived."""
    deadline = time.monotonic() + FREEZE_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            channel.recv(FREEZE_SILENCE_S)
        except ChannelTimeout:
            return True
    return False


def browser_checks(answer: Mapping[str, Any]) -> list[Check]:
    """The four findings of the driver's probe."""
    renderer = str(answer.get("renderer") or "")
    version = str(answer.get("version") or "Chromium")
    restart = "Rebuild the replay image with `playproof images build` and ask again."
    sandbox = "Allow user namespaces (see above); " + APPARMOR
    return [
        _fact("sandbox", answer.get("sandbox") is True, f"{version}: its own sandbox", sandbox),
        _fact("webgl", bool(renderer), f"renderer {renderer or 'none'}", restart),
        _fact("pointer lock", answer.get("pointer_lock") is True, "granted after a click", restart),
        _fact("trusted input", answer.get("trusted") is True, "input events are trusted", restart),
    ]


def _browser_checks(container: Container) -> list[Check]:
    done = container.exec(["python3", "-m", "driver.probe"], timeout_s=PROBE_TIMEOUT_S)
    answer = _last_json(done.stdout)
    if done.code == 0 and answer is not None:
        return browser_checks(answer)
    said = str((answer or {}).get("error") or " ".join(done.stderr.decode("utf-8", "replace").split())[-300:])
    ended = "ran out of time" if done.timed_out else f"ended with {done.code}"
    remedy = BUILD if answer is None and not done.timed_out else "Ask again when the machine is less busy."
    names = ("sandbox", "webgl", "pointer lock", "trusted input")
    return [Check(name, False, f"the probe {ended}: {said or 'it said nothing'}", remedy) for name in names]


def _last_json(output: bytes) -> dict[str, Any] | None:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    try:
        answer: object = json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
    return cast(dict[str, Any], answer) if isinstance(answer, dict) else None


def _tried(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except PlayproofError as error:
        return Check(name, False, str(error), "See the engine's log.")


def _fact(name: str, ok: bool, what: str, remedy: str) -> Check:
    return Check(name, ok, what if ok else f"not so: {what}", "" if ok else remedy)
