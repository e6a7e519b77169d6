"""The command line in a process of its own, on a real game under a quick contract."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from contracts.contract import find_contract
from contracts.prompt import prompt_sha256, render
from harness.engine import Engine
from harness.engine.reaper import containers, volumes

ROOT = Path(__file__).resolve().parents[3]
FIRST_SEED = 918273645
"""A number that stands nowhere else, to be searched for."""


def quick_contract(folder: Path, replays: int = 1, **caps: float) -> Path:
    """The pinned 2048 contract with other caps and fewer replays, its prompt pinned anew."""
    shipped = find_contract("2048")
    pinned = shipped.replays.model_copy(
        update={"count": replays, "seeds": tuple(range(FIRST_SEED, FIRST_SEED + replays)), "grace_s": 0.0}
    )
    contract = shipped.model_copy(
        update={"caps": shipped.caps.model_copy(update=caps), "replays": pinned, "name": "quick"}
    )
    prompt = contract.prompt.model_copy(update={"sha256": prompt_sha256(render(contract))})
    path = folder / "quick.yaml"
    path.write_text(yaml.safe_dump(contract.model_copy(update={"prompt": prompt}).model_dump(mode="json")))
    return path


def turns(folder: Path, *turns: dict[str, Any]) -> str:
    """A scripted model of these turns, as --model names it."""
    path = folder / "turns.yaml"
    path.write_text(yaml.safe_dump(list(turns)))
    return f"scripted:{path}"


@dataclass
class CommandLine:
    """`playproof` in a process of its own, with its runs in one folder."""

    runs: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])
    started: list[subprocess.Popen[str]] = field(default_factory=list[subprocess.Popen[str]])

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "harness.cli", *arguments, "--runs", str(self.runs)],
            env={**os.environ, "PYTHONPATH": str(ROOT), **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def __call__(self, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
        process = self.start(*arguments, "--json")
        out, err = process.communicate(timeout=240)
        assert process.returncode == code, err
        return json.loads(out) if out else []

    def folder(self) -> Path:
        """The only run's folder."""
        [found] = [path for path in self.runs.iterdir() if (path / "run.json").is_file()]
        return found


def left_of(engine: Engine, run_id: str) -> list[str]:
    """Containers and volumes of a run that still exist."""
    label = f"playproof.run={run_id}"
    return [one.key for one in [*containers(engine.api, label), *volumes(engine.api, label)]]


def wait_until(what: Callable[[], bool], timeout_s: float) -> None:
    """Wait for something to become true; fails the test at the deadline."""
    deadline = time.monotonic() + timeout_s
    while not what():
        assert time.monotonic() < deadline, "it did not come to pass in time"
        time.sleep(0.1)
