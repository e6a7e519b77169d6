"""Of a hostile archive only plain files inside the destination ever reach the host."""

import io
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.errors import InfraFailure
from harness.engine import ArtifactRefused, TreeCaps, TreeReport
from harness.engine.tarstream import DamagedArchive, TarStream
from harness.engine.unpack import read_single, shown, unpack

CAPS = TreeCaps(files=50, total_bytes=10_000, file_bytes=4_000)
Entry = tuple[str, bytes, bytes | str]


def tar(*entries: Entry, modes: dict[str, int] | None = None) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as out:
        for name, kind, content in entries:
            info = tarfile.TarInfo(name)
            info.type = kind
            info.mode = (modes or {}).get(name, 0o644)
            if isinstance(content, bytes):
                info.size = len(content)
                out.addfile(info, io.BytesIO(content))
            else:
                info.linkname = content
                out.addfile(info)
    return buffer.getvalue()


def file(name: str, content: bytes = b"x") -> Entry:
    return (name, tarfile.REGTYPE, content)


def folder(name: str) -> Entry:
    return (name, tarfile.DIRTYPE, "")


def take(dest: Path, *entries: Entry, caps: TreeCaps = CAPS) -> TreeReport:
    return unpack(TarStream([tar(*entries)]), dest, caps)


def refusals(report: TreeReport) -> dict[str, str]:
    return {one.path: one.reason for one in report.refused}


def below(dest: Path) -> set[str]:
    return {str(path.relative_to(dest)) for path in dest.rglob("*")}


def test_files_and_folders_lose_only_the_archives_top_folder(tmp_path: Path) -> None:
    report = take(
        tmp_path, folder("work"), file("work/a.txt", b"A"), folder("work/empty"), file("work/deep/b", b"B")
    )
    assert below(tmp_path) == {"a.txt", "empty", "deep", "deep/b"}
    assert (tmp_path / "deep/b").read_bytes() == b"B"
    assert [one.path for one in report.files] == ["a.txt", "deep/b"]
    assert report.complete and not report.refused and report.total_bytes == 2


def test_only_the_executable_bit_of_a_mode_survives(tmp_path: Path) -> None:
    data = tar(file("w/run"), file("w/plain"), modes={"w/run": 0o6755, "w/plain": 0o600})
    unpack(TarStream([data]), tmp_path, CAPS)
    assert (tmp_path / "run").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "plain").stat().st_mode & 0o7777 == 0o644


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (("w/l", tarfile.SYMTYPE, "/etc/passwd"), "not_regular"),
        (("w/l", tarfile.LNKTYPE, "w/ok"), "not_regular"),
        (("w/l", tarfile.FIFOTYPE, ""), "not_regular"),
        (("w/l", tarfile.CHRTYPE, ""), "not_regular"),
        (("w/l", tarfile.BLKTYPE, ""), "not_regular"),
        (file("/etc/owned"), "outside"),
        (file("w/../../owned"), "outside"),
        (file("../owned"), "outside"),
        (file("w/ok"), "duplicate"),
        (file("w/OK"), "case_clash"),
        (file("w/ok/under-a-file"), "under_refused"),
        (file("w/" + "d/" * 40 + "x"), "too_deep"),
        (file("w/" + "n" * 256), "bad_name"),
        (file("w/" + "/".join(["n" * 200] * 6)), "bad_name"),
        (file("w/new\nline"), "bad_name"),
        (file("w/back\\slash"), "bad_name"),
        (file("w/\x1b[31mred"), "bad_name"),
        (file("w/not-\udcff-utf8"), "bad_name"),
        (file("w/big", b"x" * 4_001), "too_large"),
    ],
)
def test_what_is_not_plain_is_left_out_with_its_reason(tmp_path: Path, entry: Entry, reason: str) -> None:
    dest = tmp_path / "dest"
    report = take(dest, folder("w"), file("w/ok", b"first"), entry, file("w/last"))
    assert [one.reason for one in report.refused] == [reason]
    assert below(tmp_path) == {"dest", "dest/ok", "dest/last"}
    assert (dest / "ok").read_bytes() == b"first"


def test_nothing_below_a_refused_link_is_taken(tmp_path: Path) -> None:
    report = take(tmp_path, ("w/l", tarfile.SYMTYPE, "/tmp"), file("w/l/x"), folder("w/l"))
    assert [one.reason for one in report.refused] == ["not_regular", "under_refused"]
    assert not (tmp_path / "l/x").exists()


def test_folders_that_differ_by_case_or_composition_clash(tmp_path: Path) -> None:
    report = take(tmp_path, file("w/Src/a"), file("w/src/b"), file("w/caf\u00e9"), file("w/cafe\u0301"))
    assert [one.reason for one in report.refused] == ["case_clash", "case_clash"]
    assert below(tmp_path) == {"Src", "Src/a", "caf\u00e9"}


def test_the_count_and_the_sum_are_capped(tmp_path: Path) -> None:
    many = take(tmp_path / "many", *(file(f"w/{n}") for n in range(60)))
    assert (len(many.files), many.refused_count, refusals(many)["w/59"]) == (50, 10, "too_many")
    sum_ = take(tmp_path / "sum", *(file(f"w/{n}", b"x" * 3_000) for n in range(5)), file("w/small"))
    assert [one.path for one in sum_.files] == ["0", "1", "2", "small"]


def test_skipped_folders_are_neither_taken_nor_refused(tmp_path: Path) -> None:
    caps = TreeCaps(files=5, total_bytes=100, file_bytes=100, skip=frozenset({"node_modules"}))
    report = take(
        tmp_path,
        folder("w/node_modules"),
        file("w/node_modules/huge", b"x" * 9_000),
        file("w/p/node_modules/y"),
        file("w/a"),
        caps=caps,
    )
    assert below(tmp_path) == {"a"}
    assert report.skipped == ("node_modules",) and not report.refused


def test_a_stream_longer_than_the_budget_is_left_and_said_to_be_incomplete(tmp_path: Path) -> None:
    info = tarfile.TarInfo("w/sparse")
    info.size = 10 << 30
    caps = TreeCaps(files=5, total_bytes=100, file_bytes=100, stream_bytes=1 << 20)
    report = unpack(TarStream([tar(file("w/a"))[:1024], info.tobuf(tarfile.PAX_FORMAT)]), tmp_path, caps)
    assert not report.complete
    assert [one.reason for one in report.refused] == ["too_large", "stream_too_long"]
    assert below(tmp_path) == {"a"}


def test_an_artifact_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactRefused) as caught:
        take(tmp_path, ("w", tarfile.SYMTYPE, "/etc"))
    assert caught.value.reason == "not_regular"


def test_a_destination_in_use_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep")
    with pytest.raises(InfraFailure, match="not an empty folder"):
        take(tmp_path, file("w/mine", b"lost"))
    assert (tmp_path / "mine").read_text() == "keep"


PIECES = ["a", "A", "b", "..", ".", "", "node", "caf\u00e9", "x" * 300, "\n", "\udcff", "C:", "\\"]
KINDS = [
    tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE,
    tarfile.GNUTYPE_SPARSE, tarfile.CONTTYPE, b"Z",
]  # fmt: skip
paths = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("/".join)


@st.composite
def hostile(draw: st.DrawFn) -> Entry:
    kind = draw(st.sampled_from(KINDS))
    if kind in (tarfile.REGTYPE, tarfile.CONTTYPE, b"Z"):
        return draw(paths), kind, draw(st.binary(max_size=6_000))
    return draw(paths), kind, draw(paths)


@settings(max_examples=150, deadline=None)
@given(st.lists(hostile(), max_size=12))
def test_no_hostile_archive_leaves_anything_but_counted_plain_files_inside(entries: list[Entry]) -> None:
    with TemporaryDirectory() as place:
        dest = Path(place) / "dest"
        try:
            report = unpack(TarStream([tar(*entries)]), dest, CAPS)
        except (ArtifactRefused, DamagedArchive):
            report = None
        assert [one.name for one in Path(place).iterdir()] == ["dest"]
        found = list(dest.rglob("*"))
        assert all(not path.is_symlink() and (path.is_dir() or path.is_file()) for path in found)
        assert all(path.stat().st_nlink == 1 for path in found if path.is_file())
        if report is not None:
            on_disk = {str(path.relative_to(dest)): path.stat().st_size for path in found if path.is_file()}
            assert on_disk == {one.path: one.size for one in report.files}
            assert report.total_bytes == sum(on_disk.values()) <= CAPS.total_bytes
            assert len({path.casefold() for path in on_disk}) == len(on_disk)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (("f", tarfile.SYMTYPE, "/etc/passwd"), "not_regular"),
        (("f", tarfile.FIFOTYPE, ""), "not_regular"),
        (("f", tarfile.DIRTYPE, ""), "not_regular"),
        (("f", tarfile.LNKTYPE, "other"), "not_regular"),
        (file("f", b""), "empty"),
        (file("f", b"x" * 11), "too_large"),
    ],
)
def test_a_single_file_is_refused_with_a_reason_and_a_sentence(entry: Entry, reason: str) -> None:
    with pytest.raises(ArtifactRefused) as caught:
        read_single(TarStream([tar(entry)]), "/workspace/f", max_bytes=10)
    assert caught.value.reason == reason
    assert str(caught.value).startswith("/workspace/f is ") and str(caught.value).endswith(".")


def test_a_single_file_comes_back_whole() -> None:
    assert read_single(TarStream([tar(file("f", b"0123456789"))]), "/f", max_bytes=10) == b"0123456789"


def test_names_are_printable_when_shown() -> None:
    assert shown(b"a\x1b[2J\xff\n") == "a\\x1b[2J\\xff\\n"
    assert len(shown(b"x" * 5000)) == 300
