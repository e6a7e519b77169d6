"""What a killed harness leaves is removed at the next start; what others still need is not touched."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.engine import Container, ContainerSpec, Engine, Limits, Owner
from harness.engine.reaper import containers, volumes

pytestmark = pytest.mark.docker

LIMITS = Limits(memory_bytes=64 << 20, pids=32, cpus=1.0)
ROOT = Path(__file__).parents[3]
DEAD = Owner(Owner.current().machine, 1, "0.neverlived")
Make = Callable[..., Container]

HARNESS = """
import sys, time
from harness.engine import ContainerSpec, Engine, Limits
image, run_id = sys.argv[1:]
engine = Engine.connect()
volume = engine.tmpfs_volume(run_id, "workspace", 1 << 20)
spec = ContainerSpec(image, "agent", run_id, ("sleep", "600"), Limits(64 << 20, 32, 1.0), env={"PATH": "/bin"},
                     volumes={volume: "/workspace"})
engine.create(spec).start()
print("up", flush=True)
time.sleep(600)
"""


def ids(engine: Engine, run_id: str) -> list[str]:
    return [one.key for one in containers(engine.api, f"playproof.run={run_id}")]


def volumes_of(engine: Engine, run_id: str) -> list[str]:
    return [one.key for one in volumes(engine.api, f"playproof.run={run_id}")]


def made_by(owner: Owner, image: str, run_id: str, expires: float | None = None) -> Container:
    """A running container and volume that another owner made."""
    other = Engine.connect(owner)
    volume = other.tmpfs_volume(run_id, "workspace", 1 << 20)
    container = other.create(
        ContainerSpec(
            image,
            "agent",
            run_id,
            ("sleep", "600"),
            LIMITS,
            env={"PATH": "/bin"},
            volumes={volume: "/workspace"},
            expires=expires,
        )
    )
    container.start()
    other.close()
    return container


def test_what_a_harness_killed_with_sigkill_leaves_is_reaped(
    engine: Engine, tiny_image: str, run_id: str
) -> None:
    harness = subprocess.Popen(
        [sys.executable, "-c", HARNESS, tiny_image, run_id],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    )
    assert harness.stdout is not None
    assert harness.stdout.readline() == b"up\n"
    (container,) = ids(engine, run_id)
    assert container not in engine.reap(), "a live run of another process is spared"
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    harness.stdout.close()
    removed = engine.reap()
    assert container in removed
    assert ids(engine, run_id) == volumes_of(engine, run_id) == []


def test_a_kept_container_and_its_volume_are_spared_until_they_expire(
    engine: Engine, tiny_image: str, run_id: str
) -> None:
    kept = made_by(DEAD, tiny_image, run_id, expires=time.time() + 3600)
    kept.exec(["sh", "-c", "echo mine > /workspace/x"], timeout_s=10)
    removed = engine.reap()
    assert kept.id not in removed
    assert kept.get_file("/workspace/x", 100) == b"mine\n"
    assert len(volumes_of(engine, run_id)) == 1


def test_an_expired_container_of_a_dead_owner_is_reaped_even_when_frozen(
    engine: Engine, tiny_image: str, run_id: str
) -> None:
    made_by(DEAD, tiny_image, run_id, expires=time.time() - 1).freeze()
    engine.reap()
    assert ids(engine, run_id) == volumes_of(engine, run_id) == []


def test_another_machines_containers_on_a_shared_engine_are_spared(
    engine: Engine, tiny_image: str, run_id: str
) -> None:
    foreign = made_by(Owner("another-machine", 1, "0.x"), tiny_image, run_id)
    assert foreign.id not in engine.reap()
    assert ids(engine, run_id) == [foreign.id]


def test_two_reapers_at_once_do_not_trip_over_each_other(
    engine: Engine, tiny_image: str, run_id: str
) -> None:
    made_by(DEAD, tiny_image, run_id)
    others = [
        subprocess.Popen(
            [sys.executable, "-c", "from harness.engine import Engine; Engine.connect().reap()"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for _ in range(2)
    ]
    assert [other.wait(60) for other in others] == [0, 0]
    assert ids(engine, run_id) == []


def test_a_kept_container_can_be_taken_over(engine: Engine, tiny_image: str, run_id: str) -> None:
    kept = made_by(DEAD, tiny_image, run_id, expires=time.time() + 3600)
    assert engine.adopt(run_id, "game") is None
    adopted = engine.adopt(run_id, "agent")
    assert adopted is not None and adopted.id == kept.id
    adopted.put("/workspace", {"x": b"again"})
    assert adopted.get_file("/workspace/x", 10) == b"again"
    adopted.put("/tmp/y", {"x": b"again"})
    assert adopted.get_file("/tmp/y/x", 10) == b"again"


def test_removing_a_run_takes_all_of_it_and_no_other(
    engine: Engine, tiny_image: str, run_id: str, make: Make
) -> None:
    mine = make(workspace_bytes=1 << 20)
    made_by(Owner.current(), tiny_image, f"{run_id}-other")
    try:
        engine.remove_run(run_id)
        assert ids(engine, run_id) == volumes_of(engine, run_id) == []
        assert len(ids(engine, f"{run_id}-other")) == 1
        engine.remove_run(run_id)
        mine.remove()
    finally:
        engine.remove_run(f"{run_id}-other")
