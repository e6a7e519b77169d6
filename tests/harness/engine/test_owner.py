"""An owner is recognised across pid reuse, reboots and machines, and only dead ones' things are left over."""

import os
import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.engine.owner import Owner, is_left_over, labels, started_at

HERE = Owner("m1", 10, "500.boot")
NOW = 1_000_000.0


def left_over(owner: Owner, expires: float | None, alive: dict[int, str]) -> bool:
    return is_left_over(labels(owner, "r", "agent", expires), HERE, NOW, alive.get)


def test_a_live_owners_things_stay_even_when_expired() -> None:
    assert not left_over(HERE, None, {10: "500.boot"})
    assert not left_over(HERE, NOW - 1, {10: "500.boot"})


def test_a_dead_owners_things_go_unless_kept_and_not_yet_expired() -> None:
    assert left_over(HERE, None, {})
    assert left_over(HERE, NOW - 1, {})
    assert not left_over(HERE, NOW + 60, {})


def test_a_reused_pid_is_not_the_owner() -> None:
    assert left_over(HERE, None, {10: "900.boot"})


def test_another_machines_things_go_only_when_they_have_expired() -> None:
    other = Owner("m2", 10, "500.boot")
    assert not left_over(other, None, {})
    assert not left_over(other, NOW + 1, {})
    assert left_over(other, NOW - 1, {})


def test_what_is_not_labelled_by_us_is_never_left_over() -> None:
    assert not is_left_over({}, HERE, NOW, lambda _: None)
    assert not is_left_over({"playproof.owner": "m1:10:x"}, HERE, NOW, lambda _: None)


def test_an_unreadable_owner_is_left_alone_until_it_expires() -> None:
    marked = {"playproof.run": "r", "playproof.owner": "garbage", "playproof.expires": "run"}
    assert not is_left_over(marked, HERE, NOW, lambda _: None)


@settings(deadline=None)
@given(
    st.from_regex(r"[0-9a-f]{16}", fullmatch=True),
    st.integers(1, 1 << 22),
    st.text("0123456789abc.:", min_size=1),
)
def test_an_owner_survives_being_written_as_a_label(machine: str, pid: int, started: str) -> None:
    owner = Owner(machine, pid, started)
    assert Owner.parse(str(owner)) == owner


def test_a_process_has_a_start_as_long_as_it_lives_and_not_as_a_zombie() -> None:
    assert started_at(os.getpid()) == Owner.current().started
    child = subprocess.Popen(["sleep", "60"])
    assert started_at(child.pid) not in (None, Owner.current().started)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert started_at(child.pid) is None
    child.wait()
    assert started_at(child.pid) is None
