import pytest

from harness.replay.driver.keys import physical_key


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a", "KeyA"),
        ("A", "KeyA"),
        ("KeyA", "KeyA"),
        ("7", "Digit7"),
        ("&", "Digit7"),
        (" ", "Space"),
        ("Space", "Space"),
        ("Shift", "ShiftLeft"),
        ("ShiftRight", "ShiftRight"),
        ("?", "Slash"),
        ("ArrowUp", "ArrowUp"),
        ("Enter", "Enter"),
        ("Numpad7", "Numpad7"),
        ("é", "é"),
    ],
)
def test_names_of_one_key_share_its_code(name: str, code: str) -> None:
    assert physical_key(name) == code
