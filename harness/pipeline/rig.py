"""The rig: which machine a run was made on, as far as the machine itself tells."""

import os
import platform
from pathlib import Path
from typing import Any

from harness import __version__


def rig() -> dict[str, Any]:
    """Chip, cores, memory in GiB, operating system, and this Playproof's version."""
    return {
        "chip": _chip(),
        "cores": os.cpu_count(),
        "memory_gib": _memory_gib(),
        "os": f"{platform.system()} {platform.release()} {platform.machine()}",
        "playproof": __version__,
    }


def _chip() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Model")):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30), 1)
    except (ValueError, OSError):
        return None
