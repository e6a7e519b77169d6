"""What replays cost: beside their play time, against the floor (one bare container with the same game, by hand), and in the driver.

The floor is `docker run` of the game's agent image with the same hardening, in which `vitexec` serves the same page,
opens Chromium and runs an empty script: what anyone would do by hand. Ours makes two fresh containers, judges,
records and takes the evidence out.
"""

import json
import secrets
import statistics
import subprocess
import time
from pathlib import Path
from typing import cast

from contracts.contract import Contract
from contracts.errors import InfraFailure
from harness.engine import ContainerSpec, Engine
from harness.engine import Limits as EngineLimits
from harness.engine.bench import Row, cli_flags, row
from harness.engine.hardening import container_request, seccomp_profile
from harness.engine.owner import labels
from harness.replay.job import ReplayJob
from harness.replay.project import Project
from harness.replay.replay import play_once

LIMITS = EngineLimits(3 << 30, 512, 2.0)
BY_HAND = "VITEXEC_CLOCK={clock} vitexec --path /workspace 'void 0'"
BARE_TIMEOUT_S = 180
MEASURE_TIMEOUT_S = 900
TEARDOWN_LIMIT_MS = 300.0
FRAME_MS = 1000 / 60


def replay_overhead(
    engine: Engine,
    contract: Contract,
    project: Project,
    browser_image: str,
    agent_image: str,
    scratch: Path,
    repeats: int,
) -> list[Row]:
    """Median ms of a whole replay less its play time against the bare container's, and of the teardown against its limit."""
    profile = scratch / "seccomp.json"
    profile.write_text(seccomp_profile(), "utf-8")
    ours: list[float] = []
    bare: list[float] = []
    teardown: list[float] = []
    for index in range(1, repeats + 1):
        folder = scratch / str(index)
        folder.mkdir()
        record = play_once(engine, _job(contract, project, browser_image, index), folder, lambda _: None)
        if record.outcome == "infra_error":
            raise InfraFailure(f"The bench's replay failed ({record.detail}); run `playproof doctor`.")
        ours.append(record.wall_ms - (record.phases.play or 0))
        teardown.append(record.phases.teardown or 0)
        bare.append(_bare(engine, agent_image, profile, contract.replays.clock))
    return [
        row("replay overhead (reference: the same game by hand in one container)", ours, bare, "ms"),
        row("teardown of a replay (reference: its limit)", teardown, [TEARDOWN_LIMIT_MS], "ms"),
    ]


def _job(contract: Contract, project: Project, image: str, index: int) -> ReplayJob:
    return ReplayJob(
        run_id="bench",
        index=index,
        script=b"void 0;",
        script_name="best.ts",
        project=project,
        browser_image=image,
        evaluator=None,
        seed=0,
        replays=contract.replays.model_copy(update={"grace_s": 0}),
        caps=contract.caps,
        limits=contract.limits,
    )


def _bare(engine: Engine, image: str, profile: Path, clock: str) -> float:
    """Milliseconds of the docker command, start to end."""
    command = ("sh", "-c", BY_HAND.format(clock=clock))
    spec = ContainerSpec(
        image, "agent", "bench", command, LIMITS, workdir="/workspace", tmpfs={"/workspace": 256 << 20}
    )
    request = container_request(spec, labels(engine.owner, "bench", "agent", None), seccomp_profile())
    line = ["docker", "-H", engine.api.endpoint.url, "run", "--rm", *cli_flags(request, profile)]
    began = time.monotonic()
    done = subprocess.run(line, capture_output=True, timeout=BARE_TIMEOUT_S, check=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()[-300:]
        raise InfraFailure(f"The bench's bare container failed ({said}); run `playproof doctor`.")
    return (time.monotonic() - began) * 1000


def driver_rows(engine: Engine, game_image: str, rounds: int) -> list[Row]:
    """Frames, latency and overheads, measured by the driver in one container of the game's replay image."""
    run_id = f"bench-driver-{secrets.token_hex(4)}"
    spec = ContainerSpec(
        image=game_image,
        role="browser",
        run_id=run_id,
        command=("sleep", "3600"),
        limits=LIMITS,
        tmpfs={"/workspace": 256 << 20},
        workdir="/tmp",
    )
    try:
        container = engine.create(spec)
        container.start()
        done = container.exec(
            ["python3", "-m", "driver.measure", str(rounds)], timeout_s=MEASURE_TIMEOUT_S * rounds
        )
    finally:
        engine.remove_run(run_id)
    if done.code != 0:
        said = done.stderr.decode(errors="replace").strip()[-300:]
        raise InfraFailure(f"The driver could not be measured ({said}); run `playproof doctor`.")
    return rows_of(cast(dict[str, list[float]], json.loads(done.stdout)))


def rows_of(samples: dict[str, list[float]]) -> list[Row]:
    """The driver's samples as rows."""
    latency = sorted(samples["latency"])
    p95 = statistics.quantiles(latency, n=20)[-1]
    rows = [
        row(
            f"virtual frames with capture, {size} (reference: without)",
            samples[f"{size} with"],
            samples[f"{size} without"],
            "fps",
        )
        for size in ("640x360", "1280x720")
    ]
    frame = [FRAME_MS]
    return [
        *rows,
        row("input, call to event, p50 (reference: a frame)", latency, frame, "ms"),
        Row(
            "input, call to event, p95 (reference: a frame)",
            p95,
            FRAME_MS,
            p95 / FRAME_MS,
            "ms",
            len(latency),
        ),
        row(
            "real clock: a frame with recorder (reference: without)",
            samples["frame recorded"],
            samples["frame bare"],
            "ms",
        ),
        row(
            "real clock: a frame under moves, with tape and witness (reference: plain Playwright)",
            samples["frame moved"],
            samples["frame moved by Playwright"],
            "ms",
        ),
        row(
            "real clock: distinct frames of the video (reference: the page's own)",
            samples["video fps"],
            samples["page fps"],
            "fps",
        ),
    ]
