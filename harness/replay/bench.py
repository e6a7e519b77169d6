"""What a replay costs beside its play time, against the floor: one bare container that serves, loads and runs.

The reference is `docker run` of the agent image with the same hardening, in which `vitexec` serves the same page,
opens Chromium and runs an empty script: what anyone would do by hand. Ours makes two fresh containers, judges,
records and takes the evidence out.
"""

import subprocess
import time
from pathlib import Path

from contracts.contract import Caps, ContainerLimits, Replays
from contracts.errors import InfraFailure
from harness.engine import ContainerSpec, Engine
from harness.engine import Limits as EngineLimits
from harness.engine.bench import Row, cli_flags, row
from harness.engine.hardening import container_request, seccomp_profile
from harness.engine.owner import labels
from harness.replay.job import ReplayJob
from harness.replay.project import Project
from harness.replay.replay import play_once

PAGE = "<!doctype html><title>bench</title><canvas width=640 height=360></canvas>"
LIMITS = EngineLimits(3 << 30, 512, 2.0)
BY_HAND = (
    f"mkdir -p /tmp/page && printf '%s' '{PAGE}' >/tmp/page/index.html && cd /tmp/page && vitexec 'void 0'"
)

BARE_TIMEOUT_S = 120


def replay_overhead(
    engine: Engine, replay_image: str, agent_image: str, scratch: Path, repeats: int
) -> list[Row]:
    """One row: median ms of a whole replay less its play time, and of the bare container."""
    page = scratch / "page"
    page.mkdir()
    (page / "index.html").write_text(PAGE)
    profile = scratch / "seccomp.json"
    profile.write_text(seccomp_profile(), "utf-8")
    ours: list[float] = []
    bare: list[float] = []
    for index in range(1, repeats + 1):
        ours.append(_ours(engine, replay_image, page, scratch / str(index), index))
        bare.append(_bare(engine, agent_image, profile))
    return [row("replay overhead (reference: by hand in one container)", ours, bare, "ms")]


def _ours(engine: Engine, image: str, page: Path, folder: Path, index: int) -> float:
    folder.mkdir()
    job = ReplayJob(
        run_id="bench",
        index=index,
        script=b"void 0;",
        script_name="best.ts",
        project=Project(image, folder=page),
        browser_image=image,
        evaluator=None,
        seed=None,
        replays=Replays(count=1, seeds=(0,), grace_s=0),
        caps=Caps(),
        limits=ContainerLimits(),
    )
    record = play_once(engine, job, folder, lambda _: None)
    return record.wall_ms - (record.phases.play or 0)


def _bare(engine: Engine, image: str, profile: Path) -> float:
    """Milliseconds of the docker command, start to end."""
    spec = ContainerSpec(image, "agent", "bench", ("sh", "-c", BY_HAND), LIMITS, workdir="/tmp")
    request = container_request(spec, labels(engine.owner, "bench", "agent", None), seccomp_profile())
    command = ["docker", "-H", engine.api.endpoint.url, "run", "--rm", *cli_flags(request, profile)]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, timeout=BARE_TIMEOUT_S, check=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()[-300:]
        raise InfraFailure(f"The bench's bare container failed ({said}); run `playproof doctor`.")
    return (time.monotonic() - began) * 1000
