"""How long our container takes to be ready, against a bare `docker run` with the same flags.

Seconds of one host mean nothing on another, so the row is a ratio of medians, the two measured in turns so
that a busy moment hits both. Ready means that the first byte of PID 1 has arrived.
"""

import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from contracts.errors import InfraFailure
from harness.engine.engine import Engine
from harness.engine.hardening import container_request, seccomp_profile
from harness.engine.owner import labels
from harness.engine.spec import ContainerSpec, Limits

READY_TIMEOUT_S = 60.0
SAYS_READY = ("sh", "-c", "echo ready; exec sleep 600")
BENCH_LIMITS = Limits(memory_bytes=512 << 20, pids=128, cpus=2.0)


@dataclass(frozen=True)
class Row:
    """One figure of speed: ours beside a reference measured in the same run, `ratio` = ours / reference."""

    name: str
    ours: float
    reference: float
    ratio: float
    unit: str
    runs: int


def row(name: str, ours: list[float], reference: list[float], unit: str) -> Row:
    """The row for two lists of samples."""
    a, b = statistics.median(ours), statistics.median(reference)
    return Row(name, a, b, a / b if b else float("inf"), unit, len(ours))


def start_ratio(engine: Engine, image: str, n: int = 10) -> Row:
    """Session container start: create, attach, start and the first byte, against the docker command's."""
    docker = shutil.which("docker")
    if docker is None:
        raise InfraFailure(
            "The docker command is not installed, so there is nothing to compare with: install docker-cli."
        )
    run_id = f"bench-{engine.owner.pid}-{time.time_ns() // 1_000_000}"
    spec = ContainerSpec(image=image, role="agent", run_id=run_id, command=SAYS_READY, limits=BENCH_LIMITS)
    request = container_request(spec, labels(engine.owner, run_id, "agent", None), seccomp_profile())
    ours: list[float] = []
    bare: list[float] = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            profile = Path(folder) / "seccomp.json"
            profile.write_text(seccomp_profile(), "utf-8")
            command = [docker, "-H", engine.api.endpoint.url, "run", "-i", *cli_flags(request, profile)]
            for _ in range(n + 1):
                ours.append(_start_ours(engine, spec))
                bare.append(_start_bare(command))
                engine.remove_run(run_id)
    finally:
        engine.remove_run(run_id)
    return row("container start", [1000 * s for s in ours[1:]], [1000 * s for s in bare[1:]], "ms")


def cli_flags(request: Mapping[str, Any], profile: Path) -> list[str]:
    """The docker command's flags and arguments for what `container_request` asks of the API."""
    host = cast(dict[str, Any], request["HostConfig"])
    flags = [
        "--network",
        host["NetworkMode"],
        "--read-only",
        "--ipc",
        host["IpcMode"],
        "--user",
        request["User"],
    ]
    flags += [
        "--cap-drop",
        "ALL",
        "--security-opt",
        "no-new-privileges",
        "--security-opt",
        f"seccomp={profile}",
    ]
    flags += ["--memory", str(host["Memory"]), "--memory-swap", str(host["MemorySwap"])]
    flags += ["--pids-limit", str(host["PidsLimit"]), "--cpus", str(host["NanoCpus"] / 1e9)]
    flags += ["--oom-score-adj", str(host["OomScoreAdj"]), "--shm-size", str(host["ShmSize"])]
    flags += ["--log-driver", "none", "--no-healthcheck", "--workdir", request["WorkingDir"]]
    flags += ["--init"] if host["Init"] else []
    flags += ["--hostname", request["Hostname"]] if "Hostname" in request else []
    for limit in host["Ulimits"]:
        flags += ["--ulimit", f"{limit['Name']}={limit['Soft']}:{limit['Hard']}"]
    for path, options in host["Tmpfs"].items():
        flags += ["--tmpfs", f"{path}:{options}"]
    for name, value in request["Labels"].items():
        flags += ["--label", f"{name}={value}"]
    entrypoint, *arguments = cast(list[str], request["Entrypoint"])
    return [*flags, "--entrypoint", entrypoint, str(request["Image"]), *arguments]


def _start_ours(engine: Engine, spec: ContainerSpec) -> float:
    began = time.monotonic()
    container = engine.create(spec)
    with container.attach() as channel:
        container.start()
        if channel.recv(READY_TIMEOUT_S) is None:
            raise InfraFailure(
                f"The container of {spec.image[:40]} ended before it was ready: see whether it has a shell."
            )
        return time.monotonic() - began


def _start_bare(command: list[str]) -> float:
    began = time.monotonic()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        took = time.monotonic() - began
        process.kill()
    if not first:
        raise InfraFailure(
            "A bare `docker run` with the same flags did not start, so there is nothing to compare with."
        )
    return took
