import pytest

from harness.replay.driver.errors import InputRefused
from harness.replay.driver.ownership import Ownership


def test_input_from_no_active_run_is_refused() -> None:
    with pytest.raises(InputRefused, match=r"^Input must originate from an active Vitexec script\.$"):
        Ownership().claim("a")


def test_the_first_run_that_uses_input_drives_and_others_are_refused() -> None:
    ownership = Ownership()
    ownership.begin("a")
    ownership.begin("b")
    ownership.claim("b")
    ownership.claim("b")
    with pytest.raises(InputRefused, match=r"^Another Vitexec run owns this page's input\.$"):
        ownership.claim("a")


def test_another_run_drives_once_the_driver_has_ended() -> None:
    ownership = Ownership()
    ownership.begin("a")
    ownership.begin("b")
    ownership.claim("a")
    assert ownership.close("a")
    with pytest.raises(InputRefused, match="Another"):
        ownership.claim("b")
    ownership.release("a")
    ownership.claim("b")
    with pytest.raises(InputRefused, match="active"):
        ownership.claim("a")


def test_the_end_of_a_run_that_never_drove_changes_nothing() -> None:
    ownership = Ownership()
    ownership.begin("a")
    ownership.begin("b")
    ownership.claim("a")
    assert not ownership.close("b")
    ownership.release("b")
    assert ownership.owner == "a"
