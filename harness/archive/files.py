"""Writing files so that a crash leaves the old file or the new one, never half of either.

A document is written to a temporary file beside its place, flushed to disk, and renamed over it; the folder
is flushed too, so that the name survives a power cut. Temporary files have a known prefix and are ignored
and swept by whoever reads the folder.
"""

import json
import os
import secrets
from pathlib import Path
from typing import Any

from contracts.errors import InfraFailure

TEMPORARY = ".tmp-"
"""The prefix of a file that is being written."""


def write_bytes(path: Path, data: bytes) -> None:
    """Put `data` at `path` whole or not at all; raises InfraFailure where the disk refuses."""
    temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(4)}-{path.name}"[:200])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InfraFailure(
            f"{path} could not be written ({error.strerror}); free space or mend permissions, then run again."
        ) from error


def write_json(path: Path, value: Any) -> None:
    """Put `value` at `path` as indented JSON, whole or not at all."""
    write_bytes(path, (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode())


def sync_folder(folder: Path) -> None:
    """Flush a folder's own entries to disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep_temporary(folder: Path) -> None:
    """Remove what writers that died left below `folder`."""
    for path in folder.rglob(f"{TEMPORARY}*"):
        if path.is_file() and not path.is_symlink():
            path.unlink(missing_ok=True)
