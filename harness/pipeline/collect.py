"""Taking the artifact and the evidence out of a frozen agent container.

The container is frozen before anything is copied, so the artifact is what the file held at that moment. What
lies there was made by the agent: only a regular file of bounded size is an artifact; of the workspace only
regular files are kept, packed into one archive that this host never unpacks.
"""

import io
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

import zstandard

from contracts.contract import Contract
from harness.archive.files import sync_folder, write_bytes, write_json
from harness.archive.manifest import seal
from harness.archive.secrets import Secrets
from harness.engine import ArtifactRefused, Container, TreeCaps

WORKSPACE = "/workspace"
WORKSPACE_ARCHIVE = "workspace.tar.zst"
EVIDENCE_CAPS = TreeCaps(
    files=20_000,
    total_bytes=512 << 20,
    file_bytes=64 << 20,
    skip=frozenset({"node_modules", ".git", "__pycache__"}),
)


@dataclass(frozen=True)
class Collected:
    """The artifact's bytes, or why there is none."""

    artifact: bytes | None
    reason: str | None


def collect(container: Container, contract: Contract, folder: Path, secrets: Secrets) -> Collected:
    """Copy artifact and workspace of a frozen container into the run's folder and seal both parts."""
    collected = _artifact(container, contract)
    part = folder / "artifact"
    part.mkdir(parents=True, exist_ok=True)
    if collected.artifact is not None:
        write_bytes(part / Path(contract.artifact).name, collected.artifact)
    if collected.reason is not None:
        write_json(part / "refused.json", {"path": contract.artifact, "reason": collected.reason})
    seal(part, secrets)
    _evidence(container, folder / "evidence", secrets)
    return collected


def read_artifact(folder: Path, contract: Contract) -> bytes | None:
    """The artifact that was collected into a run's folder, if there was one."""
    path = folder / "artifact" / Path(contract.artifact).name
    return path.read_bytes() if path.is_file() else None


def _artifact(container: Container, contract: Contract) -> Collected:
    try:
        data = container.get_file(f"{WORKSPACE}/{contract.artifact}", contract.caps.artifact_bytes)
    except ArtifactRefused as refused:
        return Collected(None, refused.reason)
    return Collected(data, None)


def _evidence(container: Container, part: Path, secrets: Secrets) -> None:
    landing = part / ".tmp-workspace"
    report = container.get_tree(WORKSPACE, landing, EVIDENCE_CAPS)
    secrets.clean_folder(landing)
    _pack(landing, part / WORKSPACE_ARCHIVE)
    shutil.rmtree(landing)
    refused = [{"path": one.path, "reason": one.reason} for one in report.refused]
    write_json(
        part / "left_out.json",
        {"refused": refused, "skipped": list(report.skipped), "complete": report.complete},
    )
    seal(part, secrets)


def _pack(folder: Path, archive: Path) -> None:
    """The same archive bytes for the same files: sorted, without dates and owners."""
    temporary = archive.with_name(f".tmp-{archive.name}")
    compressor = zstandard.ZstdCompressor(level=3)
    with (
        temporary.open("wb") as raw,
        compressor.stream_writer(raw, closefd=False) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                member = tarfile.TarInfo(path.relative_to(folder).as_posix())
                data = path.read_bytes()
                member.size, member.mode = len(data), 0o644
                tar.addfile(member, io.BytesIO(data))
    temporary.replace(archive)
    sync_folder(archive.parent)
