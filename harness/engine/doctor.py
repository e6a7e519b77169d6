"""What this machine and its engine can do for us, each with the one thing that would mend it.

The engine may be on another machine, so what is read from our own /proc is only asked of a local one. What only a
container can show is in `checkup.py`.
"""

import shutil
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from contracts.errors import PlayproofError
from harness.engine.checkup import APPARMOR, Check, container_checks
from harness.engine.engine import Engine

GIB = 1 << 30
DISK_NEEDED_BYTES = 5 * GIB
MEMORY_NEEDED_BYTES = 4 * GIB
CLOCK_SAMPLE_S = 0.2
CLOCK_JUMP_S = 0.05
CLOCK_APART_S = 5.0


def checks(engine_or_failure: Engine | PlayproofError, images: Mapping[str, str]) -> list[Check]:
    """Everything, in the order a person would mend it. `images` maps names (`replay`) to ids in the engine."""
    if isinstance(engine_or_failure, PlayproofError):
        failed = Check("engine", False, str(engine_or_failure), "Do what the sentence says, then ask again.")
        return [failed, userns_check(Path("/proc/sys")), disk_check(Path.cwd()), clock_check(None)]
    engine = engine_or_failure
    info = engine.info()
    local = engine.api.endpoint.local
    found = [engine_check(engine, info), limits_check(info), seccomp_check(info)]
    if local:
        found.append(userns_check(Path("/proc/sys")))
    found += [disk_check(_docker_root(info) if local else Path.cwd()), memory_check(info)]
    found += [clock_check(str(info.get("SystemTime") or "")), runtimes_check(info)]
    return found + container_checks(engine, images)


def engine_check(engine: Engine, info: Mapping[str, Any]) -> Check:
    detail = (
        f"Docker {info.get('ServerVersion')} at {engine.api.endpoint}, API {engine.api.version}, storage {info.get('Driver')}, "
        f"{info.get('NCPU')} CPUs, {info.get('OperatingSystem')}"
    )
    if info.get("Driver") == "vfs":
        return Check(
            "engine", False, detail, "Choose the overlay2 storage driver: vfs copies each image whole."
        )
    return Check("engine", True, detail)


def limits_check(info: Mapping[str, Any]) -> Check:
    """Caps that the engine cannot enforce would be caps in name only."""
    names = {"MemoryLimit": "memory", "SwapLimit": "swap", "PidsLimit": "pids", "CpuCfsQuota": "cpu"}
    missing = [word for key, word in names.items() if info.get(key) is False]
    detail = f"cgroup v{info.get('CgroupVersion', '1')} with {info.get('CgroupDriver')}"
    if missing:
        remedy = "Enable the controllers: cgroup v2 with delegation for a rootless engine, `swapaccount=1 cgroup_enable=memory` else."
        return Check("limits", False, f"{detail}; not enforced: {', '.join(missing)}", remedy)
    return Check("limits", True, f"{detail}; memory, swap, pids and CPU are enforced")


def seccomp_check(info: Mapping[str, Any]) -> Check:
    options = cast(list[str], info.get("SecurityOptions") or [])
    names = [
        part.removeprefix("name=") for option in options for part in option.split(",") if "name=" in part
    ]
    if "seccomp" not in names:
        return Check(
            "seccomp",
            False,
            f"security options: {', '.join(names) or 'none'}",
            "Use an engine and kernel with seccomp.",
        )
    return Check("seccomp", True, f"security options: {', '.join(names)}")


def userns_check(sysctl: Path) -> Check:
    """Chromium's own sandbox needs user namespaces that need no privilege."""
    if not sysctl.is_dir():
        return Check("user namespaces", True, "not this machine's to say (no Linux kernel here)")
    if _number(sysctl / "user/max_user_namespaces") == 0:
        return Check(
            "user namespaces",
            False,
            "user.max_user_namespaces is 0",
            "Run `sudo sysctl user.max_user_namespaces=28633`.",
        )
    if _number(sysctl / "kernel/unprivileged_userns_clone") == 0:
        remedy = "Run `sudo sysctl kernel.unprivileged_userns_clone=1`."
        return Check("user namespaces", False, "kernel.unprivileged_userns_clone is 0", remedy)
    if _number(sysctl / "kernel/apparmor_restrict_unprivileged_userns") == 1:
        detail = "AppArmor restricts them for unconfined programs; containers have a profile of their own"
        return Check("user namespaces", True, detail, APPARMOR)
    return Check("user namespaces", True, "available without privilege")


def disk_check(folder: Path) -> Check:
    free = shutil.disk_usage(folder).free
    detail = f"{free / GIB:.1f} GiB free at {folder}"
    if free < DISK_NEEDED_BYTES:
        return Check(
            "disk",
            False,
            detail,
            f"Free {DISK_NEEDED_BYTES // GIB} GiB, for example with `docker image prune`.",
        )
    return Check("disk", True, detail)


def memory_check(info: Mapping[str, Any]) -> Check:
    total = int(info.get("MemTotal") or 0)
    detail = f"{total / GIB:.1f} GiB in the engine's machine"
    if total < MEMORY_NEEDED_BYTES:
        remedy = f"Give it {MEMORY_NEEDED_BYTES // GIB} GiB (Docker Desktop: Settings, Resources)."
        return Check("memory", False, detail, remedy)
    return Check("memory", True, detail)


def clock_check(engine_time: str | None) -> Check:
    """Durations use the monotonic clock; the wall clock only has to be steady and agree with the engine's."""
    before = time.time() - time.monotonic()
    time.sleep(CLOCK_SAMPLE_S)
    jump = abs(time.time() - time.monotonic() - before)
    if jump > CLOCK_JUMP_S:
        return Check(
            "clock",
            False,
            f"the wall clock just moved by {jump:.2f} s",
            "Let time synchronisation settle, then ask again.",
        )
    apart = _apart(engine_time)
    if apart is not None and apart > CLOCK_APART_S:
        detail = f"the engine's clock is {apart:.0f} s from ours"
        return Check(
            "clock", False, detail, "Synchronise both (NTP); restart Docker Desktop if it is its machine."
        )
    asleep = _asleep()
    detail = "steady, as the engine's is" if apart is not None else "steady"
    return Check(
        "clock", True, detail + (f"; this machine slept {asleep:.0f} s since it booted" if asleep > 1 else "")
    )


def runtimes_check(info: Mapping[str, Any]) -> Check:
    names = sorted(cast(Mapping[str, Any], info.get("Runtimes") or {}))
    detail = f"runtimes: {', '.join(names)}"
    if "runsc" in names:
        return Check("runtimes", True, detail)
    remedy = 'For gVisor (optional, slower) add runsc to the engine\'s runtimes with "runtimeArgs": ["--network=none"].'
    return Check("runtimes", True, detail, remedy)


def _docker_root(info: Mapping[str, Any]) -> Path:
    root = Path(str(info.get("DockerRootDir") or "/"))
    return root if root.exists() else Path.cwd()


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _apart(engine_time: str | None) -> float | None:
    if not engine_time:
        return None
    try:
        return abs(datetime.fromisoformat(engine_time[:19] + "+00:00").timestamp() - time.time())
    except ValueError:
        return None


def _asleep() -> float:
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
