"""Puts files into a container and opens what is in it as a tar stream.

The engine's archive calls see the image and the volumes, also of a frozen container, but not `--tmpfs` mounts
and never a read-only root for writing; those go through `tar` inside the running container. A link among the
parent folders would show another place than the one asked for, so parents are looked at first.
"""

import base64
import io
import json
import tarfile
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any, cast

from contracts.errors import InfraFailure, WrongInput
from harness.engine.api import Api, segment
from harness.engine.faults import EngineRefused
from harness.engine.spec import USER_ID, ArtifactRefused, ContainerSpec

CHUNK_BYTES = 256 << 10
_LINK_BIT = 1 << 27
_FOLDER_BIT = 1 << 31

PACK = 'cd -P -- "$1" 2>/dev/null || exit 3; [ "$PWD" = "$1" ] || exit 4; [ -e "$2" ] || [ -L "$2" ] || exit 3; exec tar -cf - -- "$2"'
UNPACK = 'mkdir -p -- "$1" && exec tar -xf - -C "$1"'


def in_folder(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def on_plain_tmpfs(spec: ContainerSpec, path: str) -> bool:
    """Whether `path` lies on a tmpfs mount, which the engine's archive calls cannot see."""
    mounts = {
        **dict.fromkeys(("/tmp", "/dev/shm", *spec.tmpfs), True),
        **dict.fromkeys(spec.volumes.values(), False),
    }
    mounts.setdefault("/home/agent", True)
    holding = [mount for mount in mounts if in_folder(path, mount)]
    return bool(holding) and mounts[max(holding, key=len)]


def volume_above(spec: ContainerSpec, path: str) -> str | None:
    """Where the volume that holds `path` is mounted."""
    holding = [mount for mount in spec.volumes.values() if in_folder(path, mount)]
    return max(holding, key=len, default=None)


def clean_path(path: str) -> str:
    """An absolute path in a container, without anything that would have to be resolved."""
    pure = PurePosixPath(path)
    if not pure.is_absolute() or ".." in pure.parts or "\0" in path or str(pure) == "/":
        raise WrongInput(f"Container path {path!r} is not usable: give an absolute one without '..'.")
    return str(pure)


def tar_of(files: Mapping[str, bytes], mode: int, below: str = "") -> bytes:
    """A tar of these files for our user, each below the relative folder `below`, parents included."""
    buffer = io.BytesIO()
    made: set[str] = set()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in files.items():
            relative = PurePosixPath(below, name)
            if relative.is_absolute() or ".." in relative.parts or PurePosixPath(name).name == "":
                raise WrongInput(
                    f"File name {name!r} cannot be put into a container: give a relative path without '..'."
                )
            for parent in reversed(relative.parents[:-1]):
                if str(parent) not in made:
                    made.add(str(parent))
                    tar.addfile(_entry(str(parent), 0o755, tarfile.DIRTYPE))
            entry = _entry(str(relative), mode, tarfile.REGTYPE)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def put_archive(api: Api, container_id: str, mount: str, archive: bytes) -> None:
    """Unpacks a tar into a volume."""
    api.call(
        "PUT",
        f"/containers/{segment(container_id)}/archive",
        f"put files into {mount}",
        params={"path": mount},
        data=archive,
    )


@contextmanager
def archive_of(api: Api, container_id: str, path: str, mount: str) -> Generator[Iterator[bytes]]:
    """The engine's tar of `path`, as chunks; closing early drops the rest unread."""
    doing = f"read {path} from the container"
    _refuse_linked_parents(api, container_id, path, mount)
    with _missing_is_the_stacks(path):
        response = api.call(
            "GET", f"/containers/{segment(container_id)}/archive", doing, params={"path": path}, stream=True
        )
    try:
        yield _chunks(response.raw, doing)
    finally:
        response.close()


def _chunks(raw: Any, doing: str) -> Iterator[bytes]:
    """The response's body; a break in it is ours to explain, not the client library's."""
    try:
        yield from raw.stream(CHUNK_BYTES, decode_content=False)
    except Exception as error:
        raise InfraFailure(
            f"The Docker engine broke off when asked to {doing} ({type(error).__name__}): see `docker info` and try again."
        ) from error


def _refuse_linked_parents(api: Api, container_id: str, path: str, mount: str) -> None:
    for parent in reversed(PurePosixPath(path).parents):
        if str(parent) == mount or not in_folder(str(parent), mount):
            continue
        with _missing_is_the_stacks(path):
            mode = _mode(api, container_id, str(parent))
        if mode & _LINK_BIT:
            raise ArtifactRefused(path, "behind_link", f"{path} lies behind the symbolic link {parent}.")
        if not mode & _FOLDER_BIT:
            raise ArtifactRefused(path, "missing", f"There is no {path}: {parent} is not a folder.")


def _mode(api: Api, container_id: str, path: str) -> int:
    response = api.call(
        "HEAD",
        f"/containers/{segment(container_id)}/archive",
        f"look at {path} in the container",
        params={"path": path},
    )
    stat = json.loads(base64.b64decode(response.headers["X-Docker-Container-Path-Stat"]))
    return int(cast(dict[str, Any], stat)["mode"])


@contextmanager
def _missing_is_the_stacks(path: str) -> Generator[None]:
    try:
        yield
    except EngineRefused as error:
        gone = "no such container" in error.reason.lower()
        if (error.status == 404 and not gone) or "not a directory" in error.reason.lower():
            raise ArtifactRefused(path, "missing", f"There is no {path} in the container.") from error
        raise


def _entry(name: str, mode: int, kind: bytes) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.mode = mode
    entry.type = kind
    entry.uid = entry.gid = USER_ID
    entry.mtime = int(time.time())
    return entry
