"""Container start is compared with a bare docker run of the same flags, fairly."""

import json
import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from harness.engine import ContainerSpec, Engine
from harness.engine.bench import BENCH_LIMITS, SAYS_READY, cli_flags, row, start_ratio
from harness.engine.hardening import container_request, seccomp_profile


def test_a_row_is_a_ratio_of_medians() -> None:
    found = row("x", [3.0, 1.0, 2.0], [4.0, 100.0, 3.0], "ms")
    assert (found.ours, found.reference, found.ratio, found.runs) == (2.0, 4.0, 0.5, 3)


@pytest.mark.docker
def test_the_bare_command_asks_the_engine_for_the_very_same_container(
    engine: Engine, tiny_image: str, run_id: str, tmp_path: Path
) -> None:
    profile = tmp_path / "seccomp.json"
    profile.write_text(seccomp_profile())
    spec = ContainerSpec(tiny_image, "browser", run_id, SAYS_READY, BENCH_LIMITS)
    request = container_request(spec, {"playproof.run": run_id}, seccomp_profile())
    made = subprocess.run(
        ["docker", "-H", engine.api.endpoint.url, "create", "-i", *cli_flags(request, profile)],
        capture_output=True,
        text=True,
        check=True,
    )
    bare = _host_config(engine, made.stdout.strip())
    ours = _host_config(engine, engine.create(spec).id)
    assert bare == ours


@pytest.mark.docker
def test_our_start_is_measured_beside_the_bare_one(engine: Engine, tiny_image: str) -> None:
    found = start_ratio(engine, tiny_image, n=2)
    assert (found.name, found.unit, found.runs) == ("container start", "ms", 2)
    assert found.ours > 0 and found.reference > 0 and found.ratio == found.ours / found.reference


def _host_config(engine: Engine, container: str) -> dict[str, Any]:
    """What the engine made of the request, without what only says who asked."""
    inspected = engine.api.json("GET", f"/containers/{container}/json", "look")
    config = cast(dict[str, Any], inspected["HostConfig"])
    for option in list(config["SecurityOpt"]):
        if option.startswith("seccomp="):
            config["SecurityOpt"].remove(option)
            config["seccomp"] = json.loads(option.removeprefix("seccomp="))
    config["Ulimits"] = sorted(config["Ulimits"], key=lambda one: one["Name"])
    config["StdinOnce"] = inspected["Config"]["StdinOnce"]
    return {
        key: value for key, value in config.items() if value and key not in ("ConsoleSize", "VolumeDriver")
    }
