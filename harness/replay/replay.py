"""One replay: an artifact played once, in two fresh containers, judged from outside.

The game's container serves the game and the artifact; the browser's container shares only its network and
holds the driver, Chromium and the evaluator, which is handed in over stdio and touches no disk. Both are made
for this replay and removed after it, so nothing of one replay can reach the next. What is hard is telling
apart whose fault an end was: what the page did is an outcome, what our side did is `infra_error`.
"""

import json
import secrets
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contracts.canonical import sha256_json
from contracts.contract import Caps, ContainerLimits, Limits, Replays
from contracts.errors import InfraFailure
from contracts.record import Phases, ReplayRecord
from harness.engine import Container, ContainerSpec, Engine, TreeCaps
from harness.engine import Limits as EngineLimits
from harness.replay.lines import ChannelEnded, LineChannel
from harness.replay.project import Project

Say = Callable[[str], None]

START_S = 60
"""Longest time for a container's program to say it is up."""

JUDGE_MARGIN_S = 120
"""Beyond its own caps the judge may need this long to end by itself; then it is our failure."""

OUT_BYTES = 512 << 20
OUT_CAPS = TreeCaps(files=64, total_bytes=OUT_BYTES, file_bytes=OUT_BYTES, depth=2)
EVIDENCE_FILES = ("video.mp4", "first.png", "last.png", "console.ndjson", "tape.ndjson", "frames.json")


@dataclass(frozen=True)
class ReplayJob:
    """What to replay and under which rules."""

    run_id: str
    index: int
    script: bytes
    script_name: str
    project: Project
    browser_image: str
    evaluator: str | None
    seed: int | None
    replays: Replays
    caps: Caps
    limits: ContainerLimits
    record: bool = True
    runtime: str | None = None
    gpu: bool = False


@dataclass
class _Rooms:
    """The two containers of a replay and the lines to them."""

    game: Container
    browser: Container
    game_line: LineChannel
    browser_line: LineChannel
    phases: dict[str, float] = field(default_factory=dict[str, float])


def play_once(engine: Engine, job: ReplayJob, folder: Path, say: Say) -> ReplayRecord:
    """Play the artifact once; its evidence goes into `folder`. Our own failures come back as `infra_error`."""
    started = time.monotonic()
    phases: dict[str, float] = {}
    base: dict[str, Any] = {"index": job.index, "clock": job.replays.clock, "seed": job.seed}
    try:
        with _rooms(engine, job, phases) as rooms:
            base |= {"container_id": rooms.browser.id, "game_container_id": rooms.game.id}
            result = _judge(rooms, job, say)
            _fetch(rooms.browser, folder)
            base |= _found(result)
            phases |= result.get("phases", {})
            before_end = time.monotonic()
        phases["teardown"] = _ms(before_end)
    except InfraFailure as failure:
        base |= {"outcome": "infra_error", "detail": str(failure)}
    record = ReplayRecord(**base, wall_ms=_ms(started), phases=Phases(**phases))
    return record.named()


def _ms(since: float) -> float:
    return round((time.monotonic() - since) * 1000, 1)


@contextmanager
def _rooms(engine: Engine, job: ReplayJob, phases: dict[str, float]) -> Generator[_Rooms]:
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
        rooms = _Rooms(game, browser, LineChannel(game.attach(), "game server"), _judge_line(browser))
        game.start()
        browser.start()
        phases["create"] = _ms(began)
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
        command=job.project.command,
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


def _judge(rooms: _Rooms, job: ReplayJob, say: Say) -> dict[str, Any]:
    """Serve game and script, hand the judge its job, and wait for what it found."""
    began = time.monotonic()
    job.project.fill(rooms.game)
    rooms.game_line.send_raw(job.project.go)
    rooms.game_line.send(
        {"op": "put_script", "name": job.script_name, "text": job.script.decode(errors="replace")}
    )
    served = _served(rooms.game_line)
    rooms.phases["serve"] = _ms(began)
    rooms.browser_line.send(
        {
            "origin": f"http://127.0.0.1:{served['port']}",
            "entry": job.project.entry,
            "nonce": served["nonce"],
            "script": served["url"],
            "evaluator": job.evaluator,
            "viewport": list(job.replays.viewport),
            "ready_s": job.caps.ready_s,
            "cap_s": job.caps.replay_s,
            "grace_s": job.replays.grace_s,
            "ask_s": job.replays.ask_s,
            "record": job.record,
            "gpu": job.gpu,
        }
    )
    limit = job.caps.ready_s + job.caps.replay_s + job.replays.grace_s + JUDGE_MARGIN_S
    try:
        result = _result(rooms.browser_line, limit, job.index, say)
    except ChannelEnded as ended:
        state = rooms.browser.state()
        if not state.oom:
            raise
        why = f"the browser met its memory cap of {job.limits.browser.memory_mib} MiB"
        return {"outcome": "page_crashed", "detail": why, "ended": str(ended)}
    if "failure" in result:
        raise InfraFailure(f"{result['failure']}{rooms.browser_line.last_words()}")
    result.setdefault("phases", {})["serve"] = rooms.phases["serve"]
    result["nonce"] = served["nonce"]
    return result


def _result(line: LineChannel, limit_s: float, index: int, say: Say) -> dict[str, Any]:
    """The judge's last line; what it says on the way is passed on as progress."""
    deadline = time.monotonic() + limit_s
    while True:
        message = line.receive(deadline - time.monotonic())
        if "progress" not in message:
            return message
        progress = message["progress"]
        say(f"replay {index}: {progress['seconds']} s, {json.dumps(progress['evidence'])[:160]}")


def _served(line: LineChannel) -> dict[str, Any]:
    """What the server says: its port and nonce, then the script's URL; raises InfraFailure with its error."""
    served: dict[str, Any] = {}
    while not {"port", "nonce", "url"} <= served.keys():
        message = line.receive(START_S)
        if "error" in message:
            raise InfraFailure(f"The game could not be served: {message['error']}")
        served |= message
    return served


def _fetch(browser: Container, folder: Path) -> None:
    """Bring the judge's files over, only the ones it is known to write."""
    landing = folder / ".tmp-out"
    browser.get_tree("/out", landing, OUT_CAPS)
    for name in EVIDENCE_FILES:
        if (landing / name).is_file():
            (landing / name).replace(folder / name)
    shutil.rmtree(landing, ignore_errors=True)


def _found(result: dict[str, Any]) -> dict[str, Any]:
    """The judge's words as fields of the record."""
    outcome = result["outcome"]
    return {
        "outcome": outcome,
        "detail": result.get("detail"),
        "cleared": outcome == "cleared",
        "level_time_ms": result.get("level_time_ms"),
        "evidence": result.get("evidence"),
        "nonce": result.get("nonce"),
        "script_ended": result.get("script_ended", False),
        "input_events": result.get("input_events", 0),
        "bypasses": result.get("bypasses", 0),
        "renderer": result.get("renderer"),
        "state_digests": [] if result.get("snapshot") is None else [sha256_json(result["snapshot"])],
    }
