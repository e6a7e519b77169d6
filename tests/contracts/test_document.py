from pathlib import Path

import pytest

from contracts.document import Document, load, parse
from contracts.errors import WrongInput


class Inner(Document):
    size: int


class Outer(Document):
    name: str
    inner: list[Inner]


GOOD = "name: x\ninner:\n  - size: 1\n"


def test_a_good_document_is_read() -> None:
    assert parse(GOOD, Outer, "x.yaml").inner[0].size == 1


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("name: x\ninner:\n  - size: 1\n  - size: big\n", "x.yaml:4: inner.1.size"),
        ("name: x\ninner:\n  - size: 1\n    sise: 2\n", "x.yaml:4: inner.0.sise"),
        ("name: x\ninner: 3\n", "x.yaml:2: inner"),
        ("inner: []\n", "x.yaml:1: name"),
        ("name: [x\n", "x.yaml:2: not valid YAML"),
        ("", "x.yaml:1: document"),
        ("- 1\n", "x.yaml:1: document"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_field(text: str, place: str) -> None:
    with pytest.raises(WrongInput) as caught:
        parse(text, Outer, "x.yaml")
    assert str(caught.value).startswith(place)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match="does not exist; check the path"):
        load(tmp_path / "no.yaml", Outer)


def test_a_file_that_is_no_text_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WrongInput, match="not UTF-8"):
        load(tmp_path / "x.yaml", Outer)


def test_a_folder_given_as_a_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match="cannot be read"):
        load(tmp_path, Outer)
