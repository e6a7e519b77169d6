"""The MANIFEST.json that seals a part of a run: the SHA-256 of each file, written last.

A part without its manifest is half-written: it is redone, never read. Keys are removed before digests are
taken, so a sealed part has passed the secrets scan.
"""

from pathlib import Path
from typing import Any

from contracts.canonical import folder_listing, plain_json
from harness.archive.files import sweep_temporary, write_json
from harness.archive.secrets import Secrets

MANIFEST = "MANIFEST.json"


def seal(part: Path, secrets: Secrets) -> None:
    """Scan and list every file of `part`, then write its manifest."""
    part.mkdir(parents=True, exist_ok=True)
    (part / MANIFEST).unlink(missing_ok=True)
    sweep_temporary(part)
    cleaned = secrets.clean_folder(part)
    manifest: dict[str, Any] = {"schema_version": 1, "files": folder_listing(part)}
    if cleaned:
        manifest["keys_removed"] = cleaned
    write_json(part / MANIFEST, manifest)


def is_sealed(part: Path) -> bool:
    """Whether a part was finished."""
    return (part / MANIFEST).is_file()


def problems(part: Path) -> list[str]:
    """What of a sealed part is not as its manifest says, one sentence each."""
    if not is_sealed(part):
        return [f"{part.name}: has no {MANIFEST}; it was not finished"]
    said = plain_json((part / MANIFEST).read_bytes())["files"]
    wanted = {row["path"]: row["sha256"] for row in said}
    found = {str(row["path"]): row["sha256"] for row in folder_listing(part) if row["path"] != MANIFEST}
    missing = [f"{path}: is missing" for path in wanted if path not in found]
    changed = [f"{path}: was changed" for path in wanted if found.get(path, wanted[path]) != wanted[path]]
    added = [f"{path}: is not in the manifest" for path in found if path not in wanted]
    return missing + changed + added
