"""Reads a tar as it arrives, one block at a time, and says what each member is without touching any disk.

The standard library's reader holds extended headers of any size in memory, follows sparse maps and trusts
sizes; the names and types in our archives were chosen by the agent. This one knows ustar, PAX and GNU long
names, bounds every header, checks every checksum, and treats an archive without its end as damaged.
"""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from contracts.errors import InfraFailure

Kind = Literal["file", "folder", "symlink", "hardlink", "fifo", "device", "sparse", "other"]

BLOCK = 512
HEADER_CAP_BYTES = 1 << 20
SIZE_CAP_BYTES = 1 << 62

_KINDS: dict[bytes, Kind] = {
    b"0": "file",
    b"\0": "file",
    b"7": "file",
    b"1": "hardlink",
    b"2": "symlink",
    b"3": "device",
    b"4": "device",
    b"5": "folder",
    b"6": "fifo",
    b"S": "sparse",
}
_WITHOUT_DATA: frozenset[Kind] = frozenset({"hardlink", "symlink", "device", "folder", "fifo"})


class DamagedArchive(InfraFailure):
    """What the engine sent is not a whole, valid tar."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"The archive that came out of the container is damaged ({what}): fetch it again, and see whether the engine "
            "is healthy with `playproof doctor`."
        )


@dataclass(frozen=True)
class Member:
    """One entry, as it claims to be."""

    name: bytes
    kind: Kind
    size: int
    mode: int
    link: bytes = b""


class TarStream:
    """Iterate to get members; `body()` gives the current one's data, and what is not read is passed over."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._buffer = memoryview(b"")
        self._left = 0
        self._padding = 0
        self.bytes_read = 0

    def __iter__(self) -> Iterator[Member]:
        overrides: dict[bytes, bytes] = {}
        while True:
            self._finish_member()
            header = self._exactly(BLOCK)
            if not any(header):
                return
            _check(header)
            kind = header[156:157]
            if kind in (b"x", b"X"):
                overrides.update(_pax_records(self._extension(header)))
            elif kind == b"g":
                self._extension(header)
            elif kind == b"L":
                overrides[b"path"] = self._extension(header).rstrip(b"\0")
            elif kind == b"K":
                overrides[b"linkpath"] = self._extension(header).rstrip(b"\0")
            else:
                member = _member(header, overrides)
                overrides = {}
                if header[156:157] == b"S":
                    self._skip_sparse_map(header)
                self._open_body(0 if member.kind in _WITHOUT_DATA else member.size)
                yield member

    @property
    def pending(self) -> int:
        """How much of the current member's data has not been read yet."""
        return self._left

    def body(self) -> Generator[bytes, None, None]:
        """The current member's data, in pieces."""
        while self._left:
            piece = self._some(self._left)
            self._left -= len(piece)
            yield bytes(piece)

    def _open_body(self, size: int) -> None:
        self._left = size
        self._padding = -size % BLOCK

    def _finish_member(self) -> None:
        for amount in (self._left, self._padding):
            while amount:
                amount -= len(self._some(amount))
        self._left = self._padding = 0

    def _extension(self, header: bytes) -> bytes:
        size = _number(header[124:136])
        if size > HEADER_CAP_BYTES:
            raise DamagedArchive(f"an extended header of {size} bytes")
        self._open_body(size)
        data = b"".join(self.body())
        self._finish_member()
        return data

    def _skip_sparse_map(self, header: bytes) -> None:
        more = header[482] != 0
        while more:
            more = self._exactly(BLOCK)[504] != 0

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            data += bytes(self._some(size - len(data)))
        return data

    def _some(self, most: int) -> memoryview:
        while not self._buffer:
            chunk = next(self._chunks, None)
            if chunk is None:
                raise DamagedArchive("it ends too early")
            self._buffer = memoryview(chunk)
        piece, self._buffer = self._buffer[:most], self._buffer[most:]
        self.bytes_read += len(piece)
        return piece


def _member(header: bytes, overrides: dict[bytes, bytes]) -> Member:
    name = overrides.get(b"path") or _ustar_name(header)
    size = _number(header[124:136])
    if b"size" in overrides:
        if not overrides[b"size"].isdigit():
            raise DamagedArchive("a size that is no number")
        size = int(overrides[b"size"][:20])
    if size > SIZE_CAP_BYTES:
        raise DamagedArchive(f"a member of {size} bytes")
    kind = _KINDS.get(header[156:157], "other")
    if kind == "file" and name.endswith(b"/"):
        kind = "folder" if size == 0 else "other"
    if any(key.startswith(b"GNU.sparse.") for key in overrides):
        kind = "sparse"
    link = overrides.get(b"linkpath") or _text(header[157:257])
    return Member(name, kind, size, _number(header[100:108]) & 0o7777, link)


def _ustar_name(header: bytes) -> bytes:
    name = _text(header[0:100])
    prefix = _text(header[345:500]) if header[257:263] == b"ustar\0" else b""
    return prefix + b"/" + name if prefix else name


def _text(field: bytes) -> bytes:
    return field.split(b"\0", 1)[0]


def _number(field: bytes) -> int:
    """An octal field, or GNU's base-256 one."""
    if field[0] & 0x80:
        if field[0] != 0x80:
            raise DamagedArchive("a negative or monstrous number")
        return int.from_bytes(field[1:], "big")
    text = field.strip(b" \0")
    if not text:
        return 0
    if any(digit not in b"01234567" for digit in text):
        raise DamagedArchive("a field that is no number")
    return int(text, 8)


def _check(header: bytes) -> None:
    claimed = _number(header[148:156])
    blanked = header[:148] + b" " * 8 + header[156:]
    signed = sum(byte - 256 if byte > 127 else byte for byte in blanked)
    if claimed not in (sum(blanked), signed):
        raise DamagedArchive("a wrong checksum")


def _pax_records(data: bytes) -> dict[bytes, bytes]:
    records: dict[bytes, bytes] = {}
    at = 0
    while at < len(data):
        space = data.find(b" ", at, at + 12)
        if space < 0 or not data[at:space].isdigit():
            raise DamagedArchive("a malformed extended header")
        end = at + int(data[at:space])
        record = data[space + 1 : end]
        if end <= space + 1 or end > len(data) or not record.endswith(b"\n") or b"=" not in record:
            raise DamagedArchive("a malformed extended header")
        key, _, value = record[:-1].partition(b"=")
        records[key] = value
        at = end
    return records
