import json
from pathlib import Path

import pytest

from contracts.errors import InfraFailure
from harness.archive.files import TEMPORARY, sweep_temporary, write_bytes, write_json


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    write_bytes(tmp_path / "x", b"old")
    write_bytes(tmp_path / "x", b"new")
    assert (tmp_path / "x").read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_failed_rename_leaves_the_old_file_and_no_temporary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_bytes(tmp_path / "x", b"old")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InfraFailure, match="No space left"):
        write_bytes(tmp_path / "x", b"new")
    assert (tmp_path / "x").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_json_keeps_every_character_and_refuses_what_is_no_json(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"name": "ü\u2028"})
    assert json.loads((tmp_path / "x.json").read_text()) == {"name": "ü\u2028"}
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", float("nan"))


def test_the_sweep_takes_only_temporary_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / f"{TEMPORARY}1").touch()
    (tmp_path / "sub" / "keep").touch()
    sweep_temporary(tmp_path)
    assert [path.name for path in (tmp_path / "sub").iterdir()] == ["keep"]
