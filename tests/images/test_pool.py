"""The pool takes only what has the promised hash, and notices what lost it."""

from pathlib import Path

import pytest

from contracts.errors import InfraFailure
from images.files import integrity_file, sha256_file, written_whole
from images.lock import DebPin, NpmPin
from images.pool import Pool


def test_a_fetched_file_with_other_bytes_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "x.deb"
    source.write_bytes(b"other")
    pool = Pool(tmp_path / "pool")
    pin = DebPin(version="1:2", architecture="amd64", sha256="0" * 64)
    with pytest.raises(InfraFailure, match="other bytes than the lock knows"):
        pool.take(source, pool.deb("x", pin), pin.sha256)
    assert not pool.deb("x", pin).exists()


def test_files_are_found_by_both_kinds_of_hash_and_damage_is_noticed(tmp_path: Path) -> None:
    source = tmp_path / "x"
    source.write_bytes(b"content")
    pool = Pool(tmp_path / "pool")
    deb = DebPin(version="1:2", architecture="all", sha256=sha256_file(source))
    package = NpmPin(name="@a/b", version="1.0.0", integrity=integrity_file(source))
    wanted = {pool.deb("x", deb): deb.sha256, pool.npm(package): package.integrity}
    for place, expected in wanted.items():
        pool.take(source, place, expected)
    assert pool.missing(wanted) == []
    assert [path.name for path in wanted] == ["x_1%3a2_all.deb", "@a+b-1.0.0.tgz"]
    pool.npm(package).write_bytes(b"damage")
    assert pool.missing(wanted) == [pool.npm(package)]


def test_a_write_that_fails_leaves_neither_a_part_nor_the_name(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), written_whole(tmp_path / "file") as temporary:
        temporary.write_bytes(b"half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
