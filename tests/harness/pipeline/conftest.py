"""Fixtures of whole runs."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.engine import Engine
from tests.harness.pipeline.command_line import CommandLine


@pytest.fixture
def playproof(tmp_path: Path) -> Iterator[CommandLine]:
    line = CommandLine(tmp_path / "runs")
    yield line
    for process in line.started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    engine = Engine.connect()
    yield engine
    engine.close()
