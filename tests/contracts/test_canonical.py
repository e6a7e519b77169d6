import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.canonical import folder_digest, folder_listing, plain_json, sha256_bytes, sha256_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON))
def test_the_order_of_keys_does_not_change_a_digest(value: dict[str, object]) -> None:
    backwards = dict(reversed(list(value.items())))
    assert sha256_json(value) == sha256_json(backwards)


def test_the_digest_of_bytes_is_the_published_one() -> None:
    # FIPS 180-2, appendix B.1
    assert sha256_bytes(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}'])
def test_numbers_that_are_no_json_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="may not hold"):
        plain_json(text)


@pytest.mark.parametrize(
    "text",
    [
        "100000000000000000000",
        "-9007199254740993",
        '["\\ud800 half"]',
        '{"\\udc00": 1}',
        "1e308",
        '"\\ud83d\\ude00"',
    ],
)
def test_whatever_a_page_can_say_has_a_digest_and_can_be_written(text: str) -> None:
    """Case: a page's 1e20 or half a character in its state would have ended the harness with a traceback."""
    value = plain_json(text)
    assert len(sha256_json(value)) == 64
    json.dumps(value, ensure_ascii=False).encode()


@pytest.mark.parametrize("text", ["9" * 400, "1e999", "[" * 200_000 + "]" * 200_000])
def test_what_no_double_or_reader_can_hold_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="may not"):
        plain_json(text)


def make_folder(root: Path) -> Path:
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("a")
    (root / "sub" / "b.sh").write_text("b")
    (root / "sub" / "b.sh").chmod(0o755)
    return root


def test_two_folders_with_the_same_content_have_one_digest(tmp_path: Path) -> None:
    one, two = make_folder(tmp_path / "one"), make_folder(tmp_path / "two")
    os.utime(two / "a.txt", (1, 1))
    assert folder_digest(one) == folder_digest(two)


@pytest.mark.parametrize("change", ["content", "mode", "name", "extra"])
def test_any_change_changes_a_folders_digest(tmp_path: Path, change: str) -> None:
    before = folder_digest(make_folder(tmp_path / "x"))
    file = tmp_path / "x" / "a.txt"
    if change == "content":
        file.write_text("A")
    elif change == "mode":
        file.chmod(0o755)
    elif change == "name":
        file.rename(tmp_path / "x" / "b.txt")
    else:
        (tmp_path / "x" / "new").touch()
    assert folder_digest(tmp_path / "x") != before


def test_links_are_not_followed_into_a_listing(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "x")
    (folder / "link").symlink_to("/etc/passwd")
    assert [row["path"] for row in folder_listing(folder)] == ["a.txt", "sub/b.sh"]
