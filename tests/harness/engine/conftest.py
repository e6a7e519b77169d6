"""A real engine, a tiny image made here from a static busybox, and runs that are cleaned up after each test."""

import io
import json
import secrets
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.engine import Container, ContainerSpec, Engine, Limits
from images.store import ImageStore

MIB = 1 << 20
SMALL = Limits(memory_bytes=96 * MIB, pids=64, cpus=1.0)
NEEDS_BUSYBOX = "a static busybox is needed: apt-get install busybox-static"


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    connected = Engine.connect()
    yield connected
    connected.close()


@pytest.fixture(scope="session")
def tiny_image(engine: Engine) -> Iterator[str]:
    """An image of half a megabyte with a shell and the usual tools, and docker-init's needs met."""
    found = shutil.which("busybox")
    assert found, NEEDS_BUSYBOX
    tag = f"playproof-test-{secrets.token_hex(4)}"
    said = engine.api.call(
        "POST",
        "/images/create",
        "import the test image",
        params={"fromSrc": "-", "repo": tag, "tag": "tiny"},
        data=_root_tar(Path(found)),
    ).text
    image = json.loads(said.strip().splitlines()[-1])["status"]
    assert image.startswith("sha256:"), said
    yield image
    engine.api.call("DELETE", f"/images/{tag}:tiny", "remove the test image", params={"force": "1"})


@pytest.fixture(scope="session")
def replay_image(engine: Engine) -> str:
    """The real replay image, as the repository's lock names it."""
    ref = ImageStore().resolve("replay")
    image = ref.engine_ref or ref.digest
    assert image and engine.has_image(image), "build the images first: playproof images build"
    return image


def _root_tar(busybox: Path) -> bytes:
    applets = subprocess.run(
        [str(busybox), "--list"], capture_output=True, text=True, check=True
    ).stdout.split()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for folder in ("bin", "etc", "home", "home/agent", "proc", "sys", "dev", "opt", "opt/data"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        for name, content, mode in (
            ("bin/busybox", busybox.read_bytes(), 0o755),
            ("etc/passwd", b"agent:x:1000:1000::/home/agent:/bin/sh\n", 0o644),
            ("opt/data/note", b"from the image\n", 0o644),
        ):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            tar.addfile(entry, io.BytesIO(content))
        for applet in sorted(set(applets) - {"busybox"}):
            entry = tarfile.TarInfo(f"bin/{applet}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(entry)
    return buffer.getvalue()


@pytest.fixture
def run_id(engine: Engine) -> Iterator[str]:
    """A run whose containers and volumes are gone after the test."""
    made = f"test-{secrets.token_hex(6)}"
    yield made
    engine.remove_run(made)


Make = Callable[..., Container]


@pytest.fixture
def make(engine: Engine, tiny_image: str, run_id: str) -> Make:
    """Makes a container that only sleeps, unless told otherwise; `workspace_bytes` adds a tmpfs volume."""

    def build(*, workspace_bytes: int | None = None, started: bool = True, **over: Any) -> Container:
        volumes = dict(over.pop("volumes", {}))
        if workspace_bytes is not None:
            volumes[engine.tmpfs_volume(run_id, "workspace", workspace_bytes)] = "/workspace"
        asked: dict[str, Any] = {
            "image": tiny_image,
            "role": "game",
            "run_id": run_id,
            "command": ("sleep", "600"),
            "limits": SMALL,
            "env": {"PATH": "/bin"},
            "volumes": volumes,
        }
        container = engine.create(ContainerSpec(**{**asked, **over}))
        if started:
            container.start()
        return container

    return build


@pytest.fixture
def sh() -> Callable[[Container, str], str]:
    """Runs a shell command that must succeed; its output."""

    def run(container: Container, command: str) -> str:
        done = container.exec(["sh", "-c", command], timeout_s=30)
        assert done.code == 0, (done, command)
        return done.stdout.decode().strip()

    return run
