"""What a caller may ask of the engine, and what it gets back: plain values, checked where they are made.

A `ContainerSpec` says only what differs between containers. Everything that must never differ (no network,
no capabilities, read-only root, seccomp, our user) is not here on purpose: `hardening.py` adds it to all.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from contracts.errors import StackFailure, WrongInput

Role = Literal["agent", "game", "browser"]
ExitKind = Literal["running", "exited", "oom", "killed"]
RefusalReason = Literal[
    "missing",
    "not_regular",
    "behind_link",
    "empty",
    "too_large",
    "too_many",
    "too_deep",
    "bad_name",
    "outside",
    "duplicate",
    "case_clash",
    "under_refused",
    "stream_too_long",
]

USER_ID = 1000
HOME = "/home/agent"

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")


@dataclass(frozen=True)
class Limits:
    """What one container may take of the machine; `file_bytes` caps any single file it writes."""

    memory_bytes: int
    pids: int
    cpus: float
    file_bytes: int | None = None


@dataclass(frozen=True)
class ContainerSpec:
    """One container to be made. `expires` (epoch seconds) lets it outlive its harness, for --resume."""

    image: str
    role: Role
    run_id: str
    command: tuple[str, ...]
    limits: Limits
    network: str = "none"
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    volumes: Mapping[str, str] = field(default_factory=dict[str, str])
    tmpfs: Mapping[str, int] = field(default_factory=dict[str, int])
    workdir: str = HOME
    keep_stdin: bool = False
    runtime: str | None = None
    gpus: bool = False
    expires: float | None = None

    def __post_init__(self) -> None:
        check_run_id(self.run_id)
        if not self.command:
            raise WrongInput("A container needs a command to run, and this one's is empty.")
        if self.network != "none" and not self.network.startswith("container:"):
            raise WrongInput(
                f"Network {self.network!r} is not allowed: use 'none' or 'container:<id>' of one of our containers."
            )


@dataclass(frozen=True)
class ExecResult:
    """What one command run beside PID 1 came to; `truncated` says that output beyond the cap was dropped."""

    code: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool
    truncated: bool = False


@dataclass(frozen=True)
class ExitState:
    """How a container is, or how it ended; `oom` is true too when only some process in it was killed so."""

    running: bool
    code: int | None
    oom: bool
    kind: ExitKind


@dataclass(frozen=True)
class TreeCaps:
    """How much of a folder may be taken out; `skip` names folders that are left out wherever they stand."""

    files: int
    total_bytes: int
    file_bytes: int
    depth: int = 32
    path_bytes: int = 1024
    skip: frozenset[str] = frozenset()
    stream_bytes: int = 8 << 30
    deadline_s: float = 600.0


@dataclass(frozen=True)
class TreeFile:
    """One file that was taken out, as it now lies under the destination."""

    path: str
    mode: int
    size: int
    sha256: str


@dataclass(frozen=True)
class Refused:
    """One thing that was left out, and why; `path` is made printable, so it may differ from the raw name."""

    path: str
    reason: RefusalReason


@dataclass(frozen=True)
class TreeReport:
    """What `get_tree` did. `complete` is false when reading stopped before the end of the folder."""

    files: tuple[TreeFile, ...]
    refused: tuple[Refused, ...]
    refused_count: int
    skipped: tuple[str, ...]
    total_bytes: int
    complete: bool


class ArtifactRefused(StackFailure):
    """What the stack left where its artifact should be is not something that can be taken out."""

    def __init__(self, path: str, reason: RefusalReason, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.reason: RefusalReason = reason


def check_run_id(run_id: str) -> None:
    """Run ids become label values and parts of names, so only plain characters are let in."""
    if not _RUN_ID.fullmatch(run_id):
        raise WrongInput(
            f"Run id {run_id[:80]!r} is not usable: begin with a letter or digit and use only letters, digits, "
            "'.', '_' and '-', 128 at most."
        )
