"""Files that appear whole or not at all, and hashes of files too large to hold in memory.

Everything the store keeps is named by its content or checked against a lock, so the one thing that must
never happen is a half-written file under a final name.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

CHUNK = 1 << 20


def write_atomic(path: Path, data: bytes) -> None:
    with written_whole(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def written_whole(path: Path) -> Generator[Path]:
    """A temporary path beside `path` that takes its name when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def alone(path: Path) -> Generator[None]:
    """One process or thread at a time; the others wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def sha256_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def integrity_file(path: Path) -> str:
    """The hash in npm's form."""
    with path.open("rb") as stream:
        return "sha512-" + base64.b64encode(hashlib.file_digest(stream, "sha512").digest()).decode()
