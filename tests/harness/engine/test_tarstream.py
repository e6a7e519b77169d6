"""Tars are read as a stream, the way the writer meant them, and damage is always noticed as damage."""

import io
import tarfile
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.engine.tarstream import BLOCK, DamagedArchive, Member, TarStream

FORMATS = [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT]


def tar(*entries: tuple[str, bytes, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar of (name, type, content or link target)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as out:
        for name, kind, content in entries:
            info = tarfile.TarInfo(name)
            info.type = kind
            if kind == tarfile.REGTYPE:
                info.size = len(content)
                out.addfile(info, io.BytesIO(content))
            else:
                info.linkname = content.decode()
                out.addfile(info)
    return buffer.getvalue()


def read(data: bytes, chunk: int = 1000) -> list[tuple[Member, bytes]]:
    stream = TarStream(data[at : at + chunk] for at in range(0, len(data), chunk))
    return [(member, b"".join(stream.body())) for member in stream]


names = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=300
)
contents = st.binary(max_size=1500)


@settings(deadline=None)
@given(st.lists(st.tuples(names, contents), max_size=5), st.integers(1, 2000), st.sampled_from(FORMATS[:2]))
def test_what_was_written_is_read_back_in_chunks_of_any_size(
    files: list[tuple[str, bytes]], chunk: int, form: int
) -> None:
    data = tar(*((f"a{name}z", tarfile.REGTYPE, content) for name, content in files), form=form)
    got = [(member.name.decode(), body) for member, body in read(data, chunk)]
    assert got == [(f"a{name}z", content) for name, content in files]


@pytest.mark.parametrize("form", FORMATS)
def test_every_kind_of_member_is_told_apart(form: int) -> None:
    data = tar(
        ("d", tarfile.DIRTYPE, b""),
        ("f", tarfile.REGTYPE, b"abc"),
        ("s", tarfile.SYMTYPE, b"/etc/passwd"),
        ("h", tarfile.LNKTYPE, b"f"),
        ("p", tarfile.FIFOTYPE, b""),
        ("c", tarfile.CHRTYPE, b""),
        ("b", tarfile.BLKTYPE, b""),
        form=form,
    )
    found = [(member.kind, member.link) for member, _ in read(data)]
    assert found == [
        ("folder", b""),
        ("file", b""),
        ("symlink", b"/etc/passwd"),
        ("hardlink", b"f"),
        ("fifo", b""),
        ("device", b""),
        ("device", b""),
    ]


def test_a_body_that_is_not_read_is_passed_over() -> None:
    stream = TarStream([tar(("big", tarfile.REGTYPE, b"x" * 5000), ("next", tarfile.REGTYPE, b"y"))])
    assert [member.name for member in stream] == [b"big", b"next"]


def test_a_file_of_ten_gigabytes_is_read_with_little_memory() -> None:
    info = tarfile.TarInfo("sparse")
    info.size = 10 << 30
    header = info.tobuf(tarfile.PAX_FORMAT)

    def chunks() -> Iterator[bytes]:
        yield header
        zeros = bytes(1 << 20)
        for _ in range(64):
            yield zeros

    stream = TarStream(chunks())
    member = next(iter(stream))
    taken = 0
    for piece in stream.body():
        taken += len(piece)
        if taken >= 32 << 20:
            break
    assert member.size == 10 << 30
    assert stream.pending == (10 << 30) - taken


@settings(deadline=None)
@given(st.binary(max_size=3000))
def test_noise_is_damage_and_nothing_else(data: bytes) -> None:
    with pytest.raises(DamagedArchive):
        read(b"\x01" + data)


@settings(deadline=None)
@given(st.data())
def test_a_changed_header_byte_is_noticed_or_harmless(data: st.DataObject) -> None:
    whole = bytearray(tar(("name", tarfile.REGTYPE, b"content")))
    at = data.draw(st.integers(0, BLOCK - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    try:
        found = read(bytes(whole))
    except DamagedArchive:
        return
    assert found == read(tar(("name", tarfile.REGTYPE, b"content")))


@pytest.mark.parametrize("keep", [0, 100, 512, 600, 1024])
def test_an_archive_cut_short_is_damaged(keep: int) -> None:
    with pytest.raises(DamagedArchive, match="ends too early"):
        read(tar(("name", tarfile.REGTYPE, b"x" * 600))[:keep])


def test_a_monstrous_extended_header_is_not_read_into_memory() -> None:
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, 1 << 33
    with pytest.raises(DamagedArchive, match="extended header"):
        read(info.tobuf(tarfile.GNU_FORMAT))


def test_sparse_members_are_never_taken_for_files() -> None:
    info = tarfile.TarInfo("holes")
    info.type = tarfile.GNUTYPE_SPARSE
    old = info.tobuf(tarfile.GNU_FORMAT) + bytes(2 * BLOCK)
    new = tarfile.TarInfo("holes")
    new.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.name": "/etc/passwd"}
    modern = new.tobuf(tarfile.PAX_FORMAT) + bytes(2 * BLOCK)
    assert [member.kind for member, _ in read(old) + read(modern)] == ["sparse", "sparse"]
