"""Says how a container ended, from the engine's state and, where it is at hand, the kernel's own count.

The engine's OOMKilled flag misses a process killed in an exec while PID 1 lives on, and 137 may be a kill of
ours, the kernel's, or somebody's `exit 137`. The cgroup's count of OOM kills settles it while the container
runs; afterwards only the flag is left.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from harness.engine.spec import ExitKind, ExitState

_KILLED_CODES = frozenset({128 + 9, 128 + 15})
CGROUP_ROOT = Path("/sys/fs/cgroup")


def classify(state: Mapping[str, Any], oom_kills: int | None) -> ExitState:
    """The exit state for the engine's `State` object and the cgroup's OOM kill count (None: not readable)."""
    running = bool(state.get("Running"))
    oom = bool(state.get("OOMKilled")) or bool(oom_kills)
    if running:
        return ExitState(True, None, oom, "running")
    if state.get("Status") == "created":
        return ExitState(False, None, False, "exited")
    code = int(state.get("ExitCode") or 0)
    kind: ExitKind = "exited"
    if code in _KILLED_CODES:
        kind = "oom" if oom else "killed"
    return ExitState(False, code, oom, kind)


def oom_kills(
    container_id: str, pid: int, root: Path = CGROUP_ROOT, proc: Path = Path("/proc")
) -> int | None:
    """How many processes of the container the kernel has killed for memory, or None where that cannot be read."""
    try:
        membership = (proc / str(pid) / "cgroup").read_text("utf-8")
    except OSError:
        return None
    for line in membership.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if container_id not in path:
            continue
        below = path.lstrip("/")
        if controllers == "":
            count = _counter(root / below / "memory.events", "oom_kill")
        elif "memory" in controllers.split(","):
            count = _counter(root / "memory" / below / "memory.oom_control", "oom_kill")
        else:
            continue
        if count is not None:
            return count
    return None


def state_of(inspected: object) -> Mapping[str, Any]:
    """The `State` object of an inspect answer."""
    return cast(Mapping[str, Any], cast(Mapping[str, Any], inspected)["State"])


def _counter(file: Path, name: str) -> int | None:
    try:
        lines = file.read_text("utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition(" ")
        if key == name and value.strip().isdigit():
            return int(value)
    return None
