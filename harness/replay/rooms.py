"""The two containers of a replay, made for it and removed after it: the game's, without any network, and the browser's, which shares it."""

import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from contracts.contract import Limits
from harness.engine import Container, ContainerSpec, Engine
from harness.engine import Limits as EngineLimits
from harness.replay.job import ReplayJob
from harness.replay.lines import LineChannel

OUT_BYTES = 512 << 20


@dataclass
class Rooms:
    """The two containers of a replay and the lines to them."""

    game: Container
    browser: Container
    game_line: LineChannel
    browser_line: LineChannel
    phases: dict[str, float] = field(default_factory=dict[str, float])


@contextmanager
def open_rooms(engine: Engine, job: ReplayJob, phases: dict[str, float]) -> Generator[Rooms]:
    """Both containers, running; removed whatever happens."""
    began = time.monotonic()
    made: list[Container] = []
    label = f"{job.run_id}-{job.index}-{secrets.token_hex(2)}"
    out = engine.tmpfs_volume(job.run_id, f"{label}-out", OUT_BYTES)
    workspace = engine.tmpfs_volume(job.run_id, f"{label}-game", job.limits.game.workspace_mib << 20)
    try:
        game = engine.create(_game_spec(job, workspace))
        made.append(game)
        browser = engine.create(_browser_spec(job, game, out))
        made.append(browser)
        rooms = Rooms(game, browser, LineChannel(game.attach(), "game server"), _judge_line(browser))
        game.start()
        browser.start()
        phases["create"] = round((time.monotonic() - began) * 1000, 1)
        yield rooms
        rooms.game_line.close()
        rooms.browser_line.close()
    finally:
        for container in reversed(made):
            container.remove()
        engine.remove_volume(out)
        engine.remove_volume(workspace)


def _judge_line(browser: Container) -> LineChannel:
    return LineChannel(browser.attach(), "judge in the browser's container")


def _limits(limits: Limits) -> EngineLimits:
    return EngineLimits(limits.memory_mib << 20, limits.pids, limits.cpus, limits.file_mib << 20)


def _game_spec(job: ReplayJob, workspace: str) -> ContainerSpec:
    return ContainerSpec(
        image=job.project.image,
        role="game",
        run_id=job.run_id,
        command=job.project.command(job.replays.clock),
        limits=_limits(job.limits.game),
        volumes={workspace: "/workspace"},
        workdir="/workspace",
        runtime=job.runtime,
    )


def _browser_spec(job: ReplayJob, game: Container, out: str) -> ContainerSpec:
    return ContainerSpec(
        image=job.browser_image,
        role="browser",
        run_id=job.run_id,
        command=("python3", "-m", "driver.judge"),
        limits=_limits(job.limits.browser),
        network=f"container:{game.id}",
        volumes={out: "/out"},
        workdir="/tmp",
        runtime=job.runtime,
        gpus=job.gpu,
    )
