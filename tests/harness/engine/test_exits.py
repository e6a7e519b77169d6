"""How a container ended is read from the engine's state and the kernel's count, in both cgroup versions."""

from pathlib import Path
from typing import Any

import pytest

from harness.engine import ExitState
from harness.engine.exits import classify, oom_kills

ID = "c" * 64


@pytest.mark.parametrize(
    ("state", "kills", "expected"),
    [
        ({"Running": True}, None, ExitState(True, None, False, "running")),
        ({"Running": True, "Paused": True}, 0, ExitState(True, None, False, "running")),
        ({"Running": True}, 2, ExitState(True, None, True, "running")),
        ({"Status": "created"}, None, ExitState(False, None, False, "exited")),
        ({"ExitCode": 0}, None, ExitState(False, 0, False, "exited")),
        ({"ExitCode": 3}, None, ExitState(False, 3, False, "exited")),
        ({"ExitCode": 137}, None, ExitState(False, 137, False, "killed")),
        ({"ExitCode": 143}, None, ExitState(False, 143, False, "killed")),
        ({"ExitCode": 137, "OOMKilled": True}, None, ExitState(False, 137, True, "oom")),
        ({"ExitCode": 0, "OOMKilled": True}, None, ExitState(False, 0, True, "exited")),
    ],
)
def test_states_are_classified(state: dict[str, Any], kills: int | None, expected: ExitState) -> None:
    assert classify(state, kills) == expected


def lay(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_oom_kills_are_counted_in_version_2(tmp_path: Path) -> None:
    lay(tmp_path / "proc/7/cgroup", f"0::/system.slice/docker-{ID}.scope\n")
    lay(tmp_path / f"cg/system.slice/docker-{ID}.scope/memory.events", "low 0\noom 5\noom_kill 3\n")
    assert oom_kills(ID, 7, tmp_path / "cg", tmp_path / "proc") == 3


def test_oom_kills_are_counted_in_version_1(tmp_path: Path) -> None:
    lay(tmp_path / "proc/7/cgroup", f"9:pids:/docker/{ID}\n8:memory:/docker/{ID}\n0::/docker/{ID}\n")
    lay(
        tmp_path / f"cg/memory/docker/{ID}/memory.oom_control",
        "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
    )
    assert oom_kills(ID, 7, tmp_path / "cg", tmp_path / "proc") == 1


def test_a_process_that_is_not_the_containers_counts_nothing(tmp_path: Path) -> None:
    lay(tmp_path / "proc/7/cgroup", "0::/user.slice\n")
    assert oom_kills(ID, 7, tmp_path / "cg", tmp_path / "proc") is None
    assert oom_kills(ID, 8, tmp_path / "cg", tmp_path / "proc") is None
