"""What every container gets whether it asks or not: one pure function from a spec to the engine's request.

The agent's and the page's code are hostile, so nothing here can be switched off by a spec. The seccomp
profile goes to the engine as text (it may run on another machine) and is our own allow-list: it leaves
Chromium's sandbox the namespaces it needs and forbids the mount calls that would make those dangerous.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from harness.engine.spec import HOME, USER_ID, ContainerSpec, Role

TMP_BYTES = 1 << 30
HOME_BYTES = 256 << 20
OPEN_FILES = 16384
HOSTNAME = "playproof"
MIB = 1 << 20


@dataclass(frozen=True)
class RoleShape:
    """What differs by role: whose PID 1 reaps, shared memory, and who dies first when memory is short."""

    init: bool
    shm_bytes: int
    oom_score_adj: int


SHAPES: Mapping[Role, RoleShape] = {
    "agent": RoleShape(init=False, shm_bytes=256 * MIB, oom_score_adj=500),
    "game": RoleShape(init=True, shm_bytes=64 * MIB, oom_score_adj=300),
    "browser": RoleShape(init=True, shm_bytes=256 * MIB, oom_score_adj=400),
}


def seccomp_profile() -> str:
    """Our allow-list, as the text the engine wants."""
    return files("harness.engine").joinpath("seccomp.json").read_text("utf-8")


def container_request(spec: ContainerSpec, labels: Mapping[str, str], seccomp: str) -> dict[str, object]:
    """The body of the engine's create call for `spec`."""
    request: dict[str, object] = {
        "Image": spec.image,
        "Entrypoint": list(spec.command),
        "Env": [f"{name}={value}" for name, value in spec.env.items()],
        "User": f"{USER_ID}:{USER_ID}",
        "WorkingDir": spec.workdir,
        "Labels": dict(labels),
        "Tty": False,
        "OpenStdin": True,
        "StdinOnce": not spec.keep_stdin,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "StopSignal": "SIGKILL",
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": _host_config(spec, seccomp),
    }
    if spec.network == "none":
        request["Hostname"] = HOSTNAME
    return request


def volume_options(size_bytes: int) -> dict[str, str]:
    """Options of a tmpfs volume that holds `size_bytes` and not one page more, owned by our user."""
    inodes = max(65536, size_bytes // 4096)
    options = f"size={size_bytes},nr_inodes={inodes},uid={USER_ID},gid={USER_ID},mode=0755,nosuid,nodev"
    return {"type": "tmpfs", "device": "tmpfs", "o": options}


def container_name(spec: ContainerSpec, unique: str) -> str:
    """A name a person recognises in a list of containers."""
    run = re.sub(r"[^A-Za-z0-9_.-]", "-", spec.run_id)
    return f"playproof-{run}-{spec.role}-{unique}"


def _host_config(spec: ContainerSpec, seccomp: str) -> dict[str, object]:
    shape = SHAPES[spec.role]
    host: dict[str, object] = {
        "NetworkMode": spec.network,
        "ReadonlyRootfs": True,
        "Privileged": False,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges", f"seccomp={seccomp}"],
        "IpcMode": "private",
        "Init": shape.init,
        "Memory": spec.limits.memory_bytes,
        "MemorySwap": spec.limits.memory_bytes,
        "PidsLimit": spec.limits.pids,
        "NanoCpus": int(spec.limits.cpus * 1_000_000_000),
        "OomScoreAdj": shape.oom_score_adj,
        "ShmSize": shape.shm_bytes,
        "Ulimits": _ulimits(spec),
        "Tmpfs": _tmpfs(spec),
        "Mounts": [_volume(name, path) for name, path in spec.volumes.items()],
        "LogConfig": {"Type": "none", "Config": {}},
        "RestartPolicy": {"Name": "no"},
        "AutoRemove": False,
    }
    if spec.runtime is not None:
        host["Runtime"] = spec.runtime
    if spec.gpus:
        host["DeviceRequests"] = [{"Driver": "", "Count": -1, "Capabilities": [["gpu"]]}]
    return host


def _ulimits(spec: ContainerSpec) -> list[dict[str, object]]:
    limits = {"core": 0, "nofile": OPEN_FILES}
    if spec.limits.file_bytes is not None:
        limits["fsize"] = spec.limits.file_bytes
    return [{"Name": name, "Soft": value, "Hard": value} for name, value in limits.items()]


def _tmpfs(spec: ContainerSpec) -> dict[str, str]:
    sizes = {"/tmp": TMP_BYTES, HOME: HOME_BYTES, **spec.tmpfs}
    return {path: _tmpfs_options(path, size) for path, size in sizes.items()}


def _tmpfs_options(path: str, size: int) -> str:
    owner = "mode=1777" if path == "/tmp" else f"uid={USER_ID},gid={USER_ID},mode=0755"
    return f"rw,exec,nosuid,nodev,size={size},{owner}"


def _volume(name: str, path: str) -> dict[str, object]:
    return {
        "Type": "volume",
        "Source": name,
        "Target": path,
        "ReadOnly": False,
        "VolumeOptions": {"NoCopy": True},
    }
