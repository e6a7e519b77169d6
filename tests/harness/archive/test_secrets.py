import base64
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.archive.secrets import Secrets

KEY = "sk-or-v1-a+b/c=d e&f"
SECRETS = Secrets.from_environment({"OPENROUTER_API_KEY": KEY, "PATH": "/usr/bin:/bin", "X_API_KEY": "none"})


@pytest.mark.parametrize("form", [KEY, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode()])
def test_a_key_is_removed_in_each_of_its_forms(form: str) -> None:
    cleaned = SECRETS.clean(f"header: {form}; end".encode())
    assert form.encode() not in cleaned
    assert b"removed: OPENROUTER_API_KEY" in cleaned
    assert cleaned.endswith(b"; end")


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_a_key_is_found_anywhere_inside_a_base64_text(before: bytes, after: bytes) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        assert b"removed" in SECRETS.clean(encode(before + KEY.encode() + after))


@given(st.binary(max_size=200))
def test_what_holds_no_key_is_left_as_it_is(data: bytes) -> None:
    if KEY.encode() not in data:
        assert SECRETS.clean(data) == data


def test_ordinary_variables_and_short_values_are_no_secrets() -> None:
    assert {name for name, _ in SECRETS.patterns} == {"OPENROUTER_API_KEY"}


def test_a_key_across_the_border_of_two_reads_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.archive.secrets.READ_BYTES", 16)
    (tmp_path / "x").write_bytes(b"." * 10 + KEY.encode() + b"." * 10)
    assert SECRETS.names_in(tmp_path / "x") == {"OPENROUTER_API_KEY"}


def test_a_folder_is_cleaned_and_the_cleaning_is_reported(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "log").write_text(f"Authorization: Bearer {KEY}")
    (tmp_path / "other").write_text("nothing")
    assert SECRETS.clean_folder(tmp_path) == {"sub/log": ["OPENROUTER_API_KEY"]}
    assert KEY not in (tmp_path / "sub" / "log").read_text()
