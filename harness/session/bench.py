"""How long the agent waits for the smallest command, against the ways others run one in a container.

All are measured in turns in the same container image and the same minute, as medians, because a figure of one host
means nothing on another. mini-swe-agent is a development dependency: without it its row is left out, and `why`
says so.
"""

import logging
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from contracts.errors import InfraFailure
from harness.engine import Container, ContainerSpec, Engine, Limits
from harness.engine.bench import Row, row
from harness.session.shell import Shell

SLOW_SHARE = 10
"""The references take tens of ms each: they are measured once for so many of ours."""
LIMITS = Limits(memory_bytes=1 << 30, pids=128, cpus=2.0)
SUPERVISOR = ("python3", "/opt/playproof/supervisor.py")
COMMAND = "true"
KEPT_OPEN = 600.0


def bash_latency(
    engine: Engine, image: str, n: int = 300, why: Callable[[str], None] = lambda _text: None
) -> list[Row]:
    """Round trips of `true`: our shell against `docker exec` (command and API) and mini-swe-agent."""
    run_id = f"bench-bash-{engine.owner.pid}-{time.time_ns() // 1_000_000}"
    spec = ContainerSpec(
        image=image,
        role="agent",
        run_id=run_id,
        command=SUPERVISOR,
        limits=LIMITS,
        env={"PLAYPROOF_EXPIRES": f"{time.time() + KEPT_OPEN:.0f}"},
        workdir="/tmp",
        keep_stdin=True,
    )
    mini = _mini_swe_agent(image, why)
    try:
        container = engine.create(spec)
        channel = container.attach()
        container.start()
        shell = Shell(container, channel)
        try:
            return _rows(shell, _references(container, why) | mini, n)
        finally:
            shell.close()
    finally:
        for _, end in mini.values():
            end()
        engine.remove_run(run_id)


Timed = Callable[[], None]


def _rows(shell: Shell, references: dict[str, tuple[Timed, Timed]], n: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw.out"

        def ours_once() -> None:
            if shell.run(COMMAND, 30, raw).exit_code != 0:
                raise InfraFailure("The bash tool could not run `true`: look at the container's limits.")

        ours: list[float] = []
        theirs: dict[str, list[float]] = {name: [] for name in references}
        ours_once()
        for turn in range(n):
            ours.append(_ms(ours_once))
            if turn % SLOW_SHARE == 0:
                for name, (once, _) in references.items():
                    theirs[name].append(_ms(once))
    return [row(f"bash `true` against {name}", ours, samples, "ms") for name, samples in theirs.items()]


def _references(container: Container, why: Callable[[str], None]) -> dict[str, tuple[Timed, Timed]]:
    found: dict[str, tuple[Timed, Timed]] = {}
    docker = shutil.which("docker")
    if docker:
        command = [docker, "exec", container.id, "bash", "-c", COMMAND]
        found["docker exec (command)"] = (lambda: _checked(command), lambda: None)
    else:
        why("docker exec (command) is left out: the docker command is not installed")
    found["docker exec (API)"] = (
        lambda: _exec_once(container),
        lambda: None,
    )
    return found


def _mini_swe_agent(image: str, why: Callable[[str], None]) -> dict[str, tuple[Timed, Timed]]:
    os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")
    try:
        from minisweagent.environments.docker import DockerEnvironment  # pyright: ignore
    except ImportError:
        why("mini-swe-agent is left out: it is not installed (a development dependency)")
        return {}
    quiet = logging.getLogger("playproof.bench.mini")
    quiet.setLevel(logging.CRITICAL)
    flags = ["--rm", "--network", "none", "--init", "--entrypoint", ""]
    make = cast(Callable[..., Any], DockerEnvironment)
    try:
        environment = make(image=image, cwd="/tmp", run_args=flags, container_timeout="10m", logger=quiet)
    except (OSError, subprocess.SubprocessError) as error:
        why(f"mini-swe-agent is left out: its container did not start ({error})")
        return {}

    def once() -> None:
        environment.execute({"command": COMMAND})

    def end() -> None:
        _checked(["docker", "rm", "-f", str(environment.container_id)])
        environment.container_id = None

    return {"mini-swe-agent's DockerEnvironment": (once, end)}


def _exec_once(container: Container) -> None:
    if container.exec(["bash", "-c", COMMAND], timeout_s=30).code != 0:
        raise InfraFailure("An exec of `true` failed in the bench container: look at the engine's log.")


def _checked(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def _ms(once: Timed) -> float:
    begun = time.perf_counter()
    once()
    return (time.perf_counter() - begun) * 1000
