"""Decides, member by member, what of a hostile archive may become a file on the host, and writes only that.

The destination begins empty and nothing but our own folders and regular files is ever made in it, so no link
can lead a later write away. What is refused is listed with a reason and never stops the rest; only the byte
budget of the whole stream does, since even throwing away a huge sparse file costs time.
"""

import hashlib
import os
import time
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from contracts.errors import InfraFailure
from harness.engine.spec import ArtifactRefused, RefusalReason, Refused, TreeCaps, TreeFile, TreeReport
from harness.engine.tarstream import Member, TarStream

NAME_BYTES = 255
LISTED_REFUSALS = 1000
LISTED_SKIPS = 1000


@dataclass
class _Gate:
    """What has been let in so far; `judge` is the whole policy and touches nothing."""

    caps: TreeCaps
    files: int = 0
    total: int = 0
    folders: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    taken: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    folded: dict[tuple[str, ...], tuple[str, ...]] = field(
        default_factory=dict[tuple[str, ...], tuple[str, ...]]
    )
    refused: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])

    def judge(self, parts: tuple[str, ...], member: Member) -> RefusalReason | None:
        reason = self._judge(parts, member)
        if reason is None:
            self._admit(parts, member)
        elif parts not in self.taken and parts not in self.folders and len(self.refused) < self.caps.files:
            self.refused.add(parts)
        return reason

    def _judge(self, parts: tuple[str, ...], member: Member) -> RefusalReason | None:
        caps = self.caps
        if member.kind not in ("file", "folder"):
            return "not_regular"
        if len(parts) > caps.depth:
            return "too_deep"
        if any(parts[:n] in self.refused or parts[:n] in self.taken for n in range(1, len(parts))):
            return "under_refused"
        if parts in self.taken or (parts in self.folders and member.kind == "file"):
            return "duplicate"
        for n in range(1, len(parts) + 1):
            if self.folded.get(_fold(parts[:n]), parts[:n]) != parts[:n]:
                return "case_clash"
        if self.files + len(self.folders) >= caps.files:
            return "too_many"
        if member.kind == "file" and (
            member.size > caps.file_bytes or self.total + member.size > caps.total_bytes
        ):
            return "too_large"
        return None

    def _admit(self, parts: tuple[str, ...], member: Member) -> None:
        last = len(parts) if member.kind == "folder" else len(parts) - 1
        for n in range(1, last + 1):
            self.folders.add(parts[:n])
        for n in range(1, len(parts) + 1):
            self.folded[_fold(parts[:n])] = parts[:n]
        if member.kind == "file":
            self.taken.add(parts)
            self.files += 1
            self.total += member.size


def unpack(stream: TarStream, dest: Path, caps: TreeCaps) -> TreeReport:
    """Writes the regular files and folders of `stream` below `dest`, without the archive's own top folder."""
    _check_empty(dest)
    gate = _Gate(caps)
    files: list[TreeFile] = []
    refused: list[Refused] = []
    refused_count = 0
    skipped: list[str] = []
    complete = True
    deadline = time.monotonic() + caps.deadline_s
    for member in stream:
        parts, reason = _parts(member.name, caps)
        if reason is None and not parts:
            if member.kind != "folder":
                raise ArtifactRefused(
                    shown(member.name),
                    "not_regular",
                    f"{shown(member.name)} is not a folder, so there is no tree to take.",
                )
            continue
        if reason is None and not caps.skip.isdisjoint(parts):
            if parts[-1] in caps.skip and len(skipped) < LISTED_SKIPS:
                skipped.append("/".join(parts))
        else:
            reason = reason or gate.judge(parts, member)
            if reason is None and member.kind == "folder":
                dest.joinpath(*parts).mkdir(parents=True, exist_ok=True)
            elif reason is None:
                files.append(_write(stream, dest, parts, member))
            else:
                refused_count += 1
                if len(refused) < LISTED_REFUSALS:
                    refused.append(Refused(shown(member.name), reason))
        if stream.bytes_read + stream.pending > caps.stream_bytes or time.monotonic() > deadline:
            refused.append(Refused(shown(member.name), "stream_too_long"))
            refused_count += 1
            complete = False
            break
    return TreeReport(tuple(files), tuple(refused), refused_count, tuple(skipped), gate.total, complete)


def read_single(stream: TarStream, path: str, max_bytes: int) -> bytes:
    """The one regular file that `stream` holds, whole, or the reason why it cannot be had."""
    member = next(iter(stream), None)
    if member is None:
        raise ArtifactRefused(path, "missing", f"There is no file {path}.")
    if member.kind != "file":
        what = {
            "folder": "a folder",
            "symlink": "a symbolic link",
            "hardlink": "a hard link",
            "fifo": "a FIFO",
        }
        raise ArtifactRefused(
            path,
            "not_regular",
            f"{path} is {what.get(member.kind, 'a device or other special file')}, not a regular file.",
        )
    if member.size > max_bytes:
        raise ArtifactRefused(
            path, "too_large", f"{path} is {member.size} bytes large, more than the {max_bytes} allowed."
        )
    if member.size == 0:
        raise ArtifactRefused(path, "empty", f"{path} is empty.")
    return b"".join(stream.body())


def shown(name: bytes) -> str:
    """A raw name made safe to print: no control characters, no invalid UTF-8, no endless length."""
    text = name.decode("utf-8", "backslashreplace")
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return safe if len(safe) <= 300 else f"{safe[:297]}..."


def _parts(name: bytes, caps: TreeCaps) -> tuple[tuple[str, ...], RefusalReason | None]:
    """The path below the archive's top folder, or why it is no acceptable path."""
    if name.startswith(b"/"):
        return (), "outside"
    pieces = [piece for piece in name.split(b"/") if piece not in (b"", b".")]
    if b".." in pieces:
        return (), "outside"
    below = pieces[1:] if not name.startswith(b"./") else pieces
    if len(b"/".join(below)) > caps.path_bytes or any(len(piece) > NAME_BYTES for piece in below):
        return (), "bad_name"
    try:
        parts = tuple(piece.decode("utf-8") for piece in below)
    except UnicodeDecodeError:
        return (), "bad_name"
    if any(not part.isprintable() or "\\" in part for part in parts):
        return (), "bad_name"
    return parts, None


def _fold(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The form in which a file system that ignores case and composition would compare the path."""
    return tuple(
        unicodedata.normalize("NFC", unicodedata.normalize("NFC", part).casefold()) for part in parts
    )


def _write(stream: TarStream, dest: Path, parts: tuple[str, ...], member: Member) -> TreeFile:
    target = dest.joinpath(*parts)
    mode = 0o755 if member.mode & 0o100 else 0o644
    digest = hashlib.sha256()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        with os.fdopen(handle, "wb") as out:
            for piece in stream.body():
                digest.update(piece)
                out.write(piece)
        target.chmod(mode)
    except OSError as error:
        raise InfraFailure(
            f"Cannot write {target} ({error.strerror}): see whether the disk is full."
        ) from error
    return TreeFile("/".join(parts), mode, member.size, digest.hexdigest())


def _check_empty(dest: Path) -> None:
    try:
        dest.mkdir(parents=True, exist_ok=True)
        in_use = any(dest.iterdir())
    except OSError as error:
        raise InfraFailure(
            f"Cannot use {dest} to unpack into ({error.strerror}): choose a folder you may write."
        ) from error
    if in_use or dest.is_symlink():
        raise InfraFailure(
            f"{dest} is not an empty folder, so nothing is unpacked there: remove it or choose another."
        )
