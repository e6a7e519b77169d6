"""The doctor names what is wrong with a host, and a remedy for each."""

import time
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import InfraFailure
from harness.engine import Engine, checkup, doctor

GOOD: dict[str, Any] = {
    "CgroupVersion": "2",
    "CgroupDriver": "systemd",
    "MemoryLimit": True,
    "SwapLimit": True,
    "PidsLimit": True,
    "CpuCfsQuota": True,
    "SecurityOptions": ["name=apparmor", "name=seccomp,profile=builtin", "name=cgroupns"],
    "MemTotal": 8 << 30,
    "Runtimes": {"runc": {}, "runsc": {}},
}


def test_an_engine_with_everything_needs_no_remedy() -> None:
    found = [
        doctor.limits_check(GOOD),
        doctor.seccomp_check(GOOD),
        doctor.memory_check(GOOD),
        doctor.runtimes_check(GOOD),
    ]
    assert all(check.ok and not check.remedy for check in found)
    assert "apparmor, seccomp" in found[1].detail


@pytest.mark.parametrize(
    ("change", "check", "says"),
    [
        ({"PidsLimit": False, "MemoryLimit": False}, doctor.limits_check, "not enforced: memory, pids"),
        ({"SecurityOptions": ["name=apparmor"]}, doctor.seccomp_check, "apparmor"),
        ({"SecurityOptions": None}, doctor.seccomp_check, "none"),
        ({"MemTotal": 1 << 30}, doctor.memory_check, "1.0 GiB"),
    ],
)
def test_what_the_engine_lacks_is_named_with_a_remedy(change: dict[str, Any], check: Any, says: str) -> None:
    found = check({**GOOD, **change})
    assert not found.ok
    assert says in found.detail and found.remedy.endswith(".")


def test_gvisor_is_optional_and_its_absence_is_only_a_hint() -> None:
    found = doctor.runtimes_check({"Runtimes": {"runc": {}}})
    assert found.ok and "--network=none" in found.remedy


@pytest.mark.parametrize(
    ("file", "value", "ok", "helps"),
    [
        ("user/max_user_namespaces", "0", False, "max_user_namespaces=28633"),
        ("kernel/unprivileged_userns_clone", "0", False, "unprivileged_userns_clone=1"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            True,
            "apparmor_restrict_unprivileged_userns=0",
        ),
        ("user/max_user_namespaces", "1000", True, ""),
    ],
)
def test_user_namespaces_are_read_from_the_kernels_settings(
    tmp_path: Path, file: str, value: str, ok: bool, helps: str
) -> None:
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_text(value + "\n")
    found = doctor.userns_check(tmp_path)
    assert found.ok is ok
    assert helps in found.remedy


def test_an_engine_whose_clock_is_elsewhere_is_noticed() -> None:
    assert doctor.clock_check(time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + ".123456789Z").ok
    apart = doctor.clock_check("2020-01-01T00:00:00.123456789Z")
    assert not apart.ok and "Synchronise" in apart.remedy


def test_a_wall_clock_that_jumps_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1000.0, 1003.0])
    monkeypatch.setattr("harness.engine.doctor.time.time", lambda: next(times))
    assert "just moved" in doctor.clock_check(None).detail


def test_a_full_disk_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DISK_NEEDED_BYTES", 1 << 60)
    assert not doctor.disk_check(tmp_path).ok


def test_without_an_engine_its_sentence_comes_first_and_the_host_is_still_looked_at() -> None:
    found = doctor.checks(InfraFailure("No engine."), {})
    assert (found[0].name, found[0].ok, found[0].detail) == ("engine", False, "No engine.")
    assert [check.name for check in found[1:]] == ["user namespaces", "disk", "clock"]


def test_a_probes_answer_becomes_four_checks() -> None:
    good = {
        "renderer": "llvmpipe",
        "pointer_lock": True,
        "trusted": True,
        "sandbox": True,
        "version": "Chromium 156",
    }
    assert all(check.ok for check in checkup.browser_checks(good))
    bad = checkup.browser_checks({**good, "renderer": "", "sandbox": False, "pointer_lock": None})
    assert [check.ok for check in bad] == [False, False, False, True]
    assert all(check.remedy for check in bad[:3])


@pytest.mark.docker
def test_on_this_host_all_is_looked_at_in_time_and_nothing_is_left(engine: Engine, tiny_image: str) -> None:
    began = time.monotonic()
    found = {check.name: check for check in doctor.checks(engine, {"replay": tiny_image})}
    assert time.monotonic() - began < 15
    assert found["engine"].ok and found["limits"].ok and found["seccomp"].ok and found["freeze"].ok
    assert not found["sandbox"].ok, "the tiny image has no browser, and that must not pass"
    assert (
        engine.api.json(
            "GET", "/containers/json", "list", params={"all": "1", "filters": '{"name":["doctor"]}'}
        )
        == []
    )


@pytest.mark.docker
def test_without_images_the_container_checks_say_what_to_build(engine: Engine) -> None:
    found = [check for check in doctor.checks(engine, {}) if check.name in ("freeze", "webgl")]
    assert [check.ok for check in found] == [False, False]
    assert all("playproof images build" in check.remedy for check in found)


@pytest.mark.docker
@pytest.mark.browser
def test_the_replay_image_passes_every_check(engine: Engine, replay_image: str) -> None:
    failed = [check for check in doctor.checks(engine, {"replay": replay_image}) if not check.ok]
    assert failed == []
