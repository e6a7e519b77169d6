"""Real agent containers for the session's tests, and the real scripted server behind the real SDK."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import docker
import pytest

from harness.engine import Container, ContainerSpec, Engine, Limits
from harness.session.shell import CommandResult, Shell
from images.store import ImageStore

LIMITS = Limits(memory_bytes=2300 << 20, pids=200, cpus=2.0, file_bytes=300 << 20)
WORKSPACE_BYTES = 64 << 20
RUN = "test-session-"

Run = Callable[..., CommandResult]


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    engine = Engine.connect()
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def image() -> str:
    """The agent image of this tree, as its store builds it."""
    named = os.environ.get("PLAYPROOF_TEST_AGENT_IMAGE")
    return named or ImageStore().ready("agent", None, docker.from_env()).engine_ref


def agent_spec(engine: Engine, image: str, run_id: str, *, kept_s: float = 600) -> ContainerSpec:
    expires = time.time() + kept_s
    return ContainerSpec(
        image=image,
        role="agent",
        run_id=run_id,
        command=("python3", "/opt/playproof/supervisor.py"),
        limits=LIMITS,
        env={"PLAYPROOF_EXPIRES": f"{expires:.0f}"},
        volumes={engine.tmpfs_volume(run_id, "workspace", WORKSPACE_BYTES): "/workspace"},
        workdir="/workspace",
        keep_stdin=True,
        expires=expires,
    )


@pytest.fixture
def new_container(engine: Engine, image: str) -> Iterator[Callable[[], Container]]:
    """Makes agent containers that are not started yet."""
    runs: list[str] = []

    def make() -> Container:
        runs.append(f"{RUN}{os.getpid()}-{time.time_ns()}")
        return engine.create(agent_spec(engine, image, runs[-1]))

    yield make
    for run in runs:
        engine.remove_run(run)


@pytest.fixture(scope="module")
def opened(engine: Engine, image: str) -> Iterator[tuple[Container, Shell]]:
    """One container and shell for a whole module: each test must leave it usable, which is itself the point."""
    run = f"{RUN}{os.getpid()}-{time.time_ns()}"
    container = engine.create(agent_spec(engine, image, run))
    channel = container.attach()
    container.start()
    shell = Shell(container, channel)
    yield container, shell
    shell.close()
    engine.remove_run(run)


@pytest.fixture
def run(opened: tuple[Container, Shell], tmp_path: Path) -> Run:
    def run_command(command: str, timeout_s: float | None = 20, **more: float) -> CommandResult:
        return opened[1].run(command, timeout_s, tmp_path / "raw.out", **more)  # type: ignore[arg-type]

    return run_command


@pytest.fixture
def others() -> Callable[[Container], list[str]]:
    """Every process in the container but PID 1 and this look at it."""

    def look(container: Container) -> list[str]:
        seen = container.exec(["sh", "-c", "echo me $$; ps axo pid,ppid,stat,args"], timeout_s=20).stdout
        first, _, rest = seen.decode().partition("\n")
        mine = first.split()[1]
        found = [line.split(None, 3) for line in rest.splitlines()[1:]]
        return [args for pid, parent, stat, args in found
                if pid not in ("1", mine) and parent != mine and not stat.startswith("Z")]  # fmt: skip

    return look
