from pathlib import Path

import pytest

from harness.archive.files import TEMPORARY
from harness.archive.manifest import is_sealed, problems, seal
from harness.archive.secrets import Secrets

NONE = Secrets(())


@pytest.fixture
def part(tmp_path: Path) -> Path:
    (tmp_path / "replays").mkdir()
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "replays" / "b.png").write_bytes(b"b")
    return tmp_path


def test_a_part_without_a_manifest_was_not_finished(part: Path) -> None:
    assert not is_sealed(part)
    assert problems(part)


def test_a_sealed_part_has_no_problems(part: Path) -> None:
    seal(part, NONE)
    assert is_sealed(part)
    assert problems(part) == []


def test_what_a_dead_writer_left_is_swept_before_sealing(part: Path) -> None:
    (part / f"{TEMPORARY}dead-a.json").write_text("half")
    seal(part, NONE)
    assert problems(part) == []
    assert not list(part.glob(f"{TEMPORARY}*"))


@pytest.mark.parametrize("change", ["changed", "missing", "not in the manifest"])
def test_each_change_after_sealing_is_named(part: Path, change: str) -> None:
    seal(part, NONE)
    if change == "changed":
        (part / "a.json").write_text("[]")
    elif change == "missing":
        (part / "replays" / "b.png").unlink()
    else:
        (part / "new").touch()
    found = problems(part)
    assert len(found) == 1
    assert change in found[0]


def test_a_key_in_a_part_is_removed_before_its_digest_is_taken(part: Path) -> None:
    secrets = Secrets.from_environment({"A_API_KEY": "sk-1234567890"})
    (part / "log").write_text("key sk-1234567890 here")
    seal(part, secrets)
    assert (part / "log").read_text() == "key [removed: A_API_KEY] here"
    assert problems(part) == []
