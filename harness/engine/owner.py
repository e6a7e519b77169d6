"""Who made a container, and whether that process still lives.

A process id alone lies: it is reused, it means something else in another process namespace, and after a
reboot it means nothing. So an owner is a machine (and process namespace), a pid, and the moment that pid
started. What is not ours to judge (another machine's container on a shared engine) is left alone until it expires.
"""

import hashlib
import os
import platform
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

LABEL_RUN = "playproof.run"
LABEL_ROLE = "playproof.role"
LABEL_OWNER = "playproof.owner"
LABEL_EXPIRES = "playproof.expires"
WITH_ITS_RUN = "run"


@dataclass(frozen=True)
class Owner:
    """One process on one machine, as it is written into the owner label."""

    machine: str
    pid: int
    started: str

    @classmethod
    def current(cls) -> "Owner":
        return cls(_machine(), os.getpid(), started_at(os.getpid()) or "unknown")

    def __str__(self) -> str:
        return f"{self.machine}:{self.pid}:{self.started}"

    @classmethod
    def parse(cls, text: str) -> "Owner | None":
        parts = text.split(":", 2)
        if len(parts) != 3 or not parts[1].isdigit():
            return None
        return cls(parts[0], int(parts[1]), parts[2])


def labels(owner: Owner, run_id: str, role: str, expires: float | None) -> dict[str, str]:
    """The four labels that everything we make carries."""
    return {
        LABEL_RUN: run_id,
        LABEL_ROLE: role,
        LABEL_OWNER: str(owner),
        LABEL_EXPIRES: WITH_ITS_RUN if expires is None else str(int(expires)),
    }


def is_left_over(
    found: Mapping[str, str], here: Owner, now: float, start_of: Callable[[int], str | None]
) -> bool:
    """Whether something with these labels should be removed: nobody owns it any more and nobody may want it."""
    if LABEL_RUN not in found:
        return False
    owner = Owner.parse(found.get(LABEL_OWNER, ""))
    expires = found.get(LABEL_EXPIRES, WITH_ITS_RUN)
    expired = expires.isdigit() and now >= int(expires)
    if owner is None or owner.machine != here.machine:
        return expired
    alive = start_of(owner.pid) == owner.started
    return not alive and (expired or not expires.isdigit())


def started_at(pid: int) -> str | None:
    """A word that differs for every process that ever has this pid, or None when there is none now."""
    if platform.system() != "Linux":
        return _started_by_ps(pid)
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    state, ticks = fields[0], fields[19]
    if state in ("Z", "X"):
        return None
    return f"{ticks}.{_read('/proc/sys/kernel/random/boot_id')[:8]}"


def _started_by_ps(pid: int) -> str | None:
    shown = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=10, check=False
    )
    return "".join(shown.stdout.split()).replace(":", ".") or None


def _machine() -> str:
    identity = _read("/etc/machine-id") or _read("/var/lib/dbus/machine-id") or platform.node()
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return hashlib.sha256(f"playproof {identity} {namespace}".encode()).hexdigest()[:16]


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip()
    except OSError:
        return ""
