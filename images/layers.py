"""Layers as tars that come out the same on every host and every day.

A layer is a plain GNU tar whose members are sorted by name, owned by number, dated no later than the recipe's
epoch. The second kind of layer is a difference: what a larger root adds to, changes in and removes from a
smaller one, in the form image engines read (a removed path is an empty file named `.wh.<name>`). What is hard
is hard links: a link whose target lies in a lower layer cannot be unpacked, so its target comes along.
"""

from __future__ import annotations

import hashlib
import io
import posixpath
import re
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

HOST_LEFTOVERS = re.compile(
    r"etc/(hostname|resolv\.conf|machine-id|apt/sources\.list|apt/sources\.list\.d/.+)"
    r"|etc/(apt/apt\.conf\.d|dpkg/dpkg\.cfg\.d)/99mmdebstrap"
    r"|(dev|proc|sys|run|tmp|var/tmp|var/log|var/cache/apt|var/lib/apt/lists)/.+"
    r"|var/cache/ldconfig/aux-cache|var/cache/debconf/.+-old|var/lib/dpkg/.+-old|var/lib/systemd/random-seed"
)
"""What a Debian root holds of the host or of the moment it was made in."""

EMPTY_FILES = frozenset({"etc/machine-id"})


@dataclass(frozen=True)
class Entry:
    """One member written by hand; `link` makes it a symbolic link, `data=None` a folder."""

    data: bytes | None = None
    mode: int = 0o644
    owner: int = 0
    link: str | None = None


class HashingWriter(io.RawIOBase):
    """Counts and hashes what passes through to a file."""

    def __init__(self, target: IO[bytes]) -> None:
        self.target = target
        self.hash = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        view = memoryview(data)  # pyright: ignore[reportArgumentType]
        self.hash.update(view)
        return self.target.write(view)


class LayerWriter:
    """Writes one layer; `close` gives its diff id."""

    def __init__(self, target: IO[bytes], epoch: int) -> None:
        self.epoch = epoch
        self._out = HashingWriter(target)
        stream = cast(IO[bytes], self._out)
        self._tar = tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT, bufsize=1 << 20)  # noqa: SIM115

    def add(self, member: tarfile.TarInfo, content: IO[bytes] | None = None) -> None:
        plain = tarfile.TarInfo(member.name)
        plain.type, plain.linkname, plain.mode = member.type, member.linkname, member.mode
        plain.uid, plain.gid = member.uid, member.gid
        plain.size = member.size if member.isreg() else 0
        plain.devmajor, plain.devminor = member.devmajor, member.devminor
        plain.mtime = min(int(member.mtime), self.epoch)
        self._tar.addfile(plain, content)

    def close(self) -> str:
        self._tar.close()
        return "sha256:" + self._out.hash.hexdigest()


def write_entries(target: IO[bytes], entries: Mapping[str, Entry], epoch: int, owner: int = 0) -> str:
    """A layer of hand-made members, with the folders above them."""
    writer = LayerWriter(target, epoch)
    folders = {parent: Entry(mode=0o755, owner=owner) for path in entries for parent in parents(path)}
    for path, entry in sorted({**folders, **entries}.items()):
        member = tarfile.TarInfo(path)
        member.mode, member.uid, member.gid, member.mtime = entry.mode, entry.owner, entry.owner, epoch
        member.type = (
            tarfile.SYMTYPE if entry.link else tarfile.DIRTYPE if entry.data is None else tarfile.REGTYPE
        )
        member.linkname = entry.link or ""
        member.size = len(entry.data or b"")
        writer.add(member, io.BytesIO(entry.data or b""))
    return writer.close()


def write_root(source: Path, target: IO[bytes], epoch: int, folder: str = "") -> str:
    """A whole root (or one folder of a root) as a layer, without what is of the host."""
    writer = LayerWriter(target, epoch)
    with tarfile.open(source) as root:
        for name, member in sorted(index(root, folder).items(), key=_links_last):
            writer.add(_named(member, name), root.extractfile(member) if member.isreg() else None)
    return writer.close()


def write_difference(smaller: Path, larger: Path, target: IO[bytes], epoch: int) -> str:
    writer = LayerWriter(target, epoch)
    with tarfile.open(smaller) as old_root, tarfile.open(larger) as new_root:
        old, new = index(old_root), index(new_root)
        changed = {
            name for name in new if name not in old or _differs(old_root, old[name], new_root, new[name])
        }
        changed |= {new[name].linkname.removeprefix("./") for name in changed if new[name].islnk()}
        changed |= {parent for name in changed for parent in parents(name) if parent in new}
        gone = {
            name
            for name in old
            if name not in new and not any(up in old and up not in new for up in parents(name))
        }
        markers = {
            posixpath.join(posixpath.dirname(name), ".wh." + posixpath.basename(name)) for name in gone
        }
        above = {parent for name in gone for parent in parents(name) if parent in new}
        for name in sorted(
            changed | markers | above, key=lambda name: (name in new and new[name].islnk(), name)
        ):
            if name in markers:
                writer.add(tarfile.TarInfo(name), io.BytesIO())
                continue
            member = new[name]
            writer.add(_named(member, name), new_root.extractfile(member) if member.isreg() else None)
    return writer.close()


def index(root: tarfile.TarFile, folder: str = "") -> dict[str, tarfile.TarInfo]:
    """The members worth keeping by their path without `./`; the machine id is kept, empty."""
    found: dict[str, tarfile.TarInfo] = {}
    for member in root:
        name = posixpath.normpath(posixpath.join(folder, member.name)).lstrip("/")
        if name == "." or member.isdev():
            continue
        if name in EMPTY_FILES:
            member.size = 0
        elif HOST_LEFTOVERS.fullmatch(name):
            continue
        found[name] = member
    return found


def _links_last(item: tuple[str, tarfile.TarInfo]) -> tuple[bool, str]:
    return item[1].islnk(), item[0]


def parents(path: str) -> Iterable[str]:
    while path := posixpath.dirname(path):
        yield path


def _named(member: tarfile.TarInfo, name: str) -> tarfile.TarInfo:
    member.name = name
    if member.islnk():
        member.linkname = posixpath.normpath(member.linkname).lstrip("/")
    return member


def _differs(
    old_root: tarfile.TarFile, old: tarfile.TarInfo, new_root: tarfile.TarFile, new: tarfile.TarInfo
) -> bool:
    def shape(member: tarfile.TarInfo) -> tuple[object, ...]:
        return (
            member.type,
            member.mode,
            member.uid,
            member.gid,
            member.size,
            posixpath.normpath(member.linkname),
        )

    if shape(old) != shape(new):
        return True
    return old.isreg() and old.size > 0 and _content(old_root, old) != _content(new_root, new)


def _content(root: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = root.extractfile(member)
    return hashlib.file_digest(stream, "sha256").digest() if stream else b""  # pyright: ignore[reportArgumentType]
