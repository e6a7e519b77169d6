"""Real containers: commands, deadlines, frozen copies, hostile artifacts, and how they end."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import InfraFailure, WrongInput
from harness.engine import (
    ArtifactRefused,
    Channel,
    ChannelTimeout,
    Container,
    Engine,
    EngineRefused,
    Limits,
    TreeCaps,
)

pytestmark = pytest.mark.docker

MIB = 1 << 20
CAPS = TreeCaps(files=100, total_bytes=MIB, file_bytes=MIB)
Make = Callable[..., Container]
Sh = Callable[[Container, str], str]


def read_until(channel: Channel, wanted: bytes) -> bytes:
    got = b""
    while wanted not in got:
        piece = channel.recv(10)
        assert piece is not None, got
        got += piece[1]
    return got


def test_the_walls_hold_inside(make: Make, sh: Sh) -> None:
    container = make()
    status = sh(container, "cat /proc/self/status")
    for line in ("CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"):
        assert line in status
    assert sh(container, "id -u; id -g; pwd; cat /sys/class/net/*/address").split() == [
        "1000",
        "1000",
        "/home/agent",
        "00:00:00:00:00:00",
    ]
    for forbidden in (
        "touch /opt/x",
        "mount -t tmpfs none /tmp",
        "unshare -m true",
        "unshare -i true",
        "unshare -u true",
        "unshare -U -r unshare -m true",
        "unshare -U -r mount -t tmpfs none /tmp",
        "mknod /tmp/d b 8 0",
        "unshare -U -r mknod /tmp/d b 8 0",
        "dmesg",
        "nsenter -t 1 -m true",
        "ping -c1 -W1 192.0.2.1",
    ):
        assert container.exec(["sh", "-c", forbidden], timeout_s=20).code != 0, forbidden
    assert sh(container, "unshare -U -r id -u") == "0", "Chromium's sandbox needs user namespaces"
    assert sh(container, "mkfifo /tmp/p && echo made") == "made"


def test_exec_returns_code_and_both_streams_apart(make: Make) -> None:
    done = make().exec(["sh", "-c", "echo out; echo err >&2; exit 7"], timeout_s=10)
    assert (done.code, done.stdout, done.stderr, done.timed_out) == (7, b"out\n", b"err\n", False)


def test_exec_of_a_command_that_is_not_there_fails_in_words(make: Make) -> None:
    done = make().exec(["no-such-command"], timeout_s=10)
    assert done.code in (126, 127)


def test_exec_passes_large_stdin_while_it_reads_large_output(make: Make) -> None:
    body = bytes(range(256)) * 8192
    done = make().exec(["cat"], timeout_s=20, stdin=body, max_output=4 * MIB)
    assert done.stdout == body and not done.truncated


def test_exec_keeps_no_more_output_than_asked_for(make: Make) -> None:
    done = make().exec(["sh", "-c", "head -c 5000000 /dev/zero"], timeout_s=20, max_output=1000)
    assert (done.code, len(done.stdout), done.truncated) == (0, 1000, True)


def test_at_the_deadline_a_command_and_its_escaped_children_are_killed(make: Make, sh: Sh) -> None:
    container = make()
    began = time.monotonic()
    done = container.exec(["sh", "-c", "setsid sleep 771 & sleep 772 & echo begun; wait"], timeout_s=1)
    assert (done.code, done.timed_out, done.stdout) == (None, True, b"begun\n")
    assert time.monotonic() - began < 6
    assert "77" not in sh(container, "ps -o args | grep 'sleep 77' | grep -v grep || true")


def test_a_quiet_command_is_not_cut_by_the_clients_own_timeout(
    engine: Engine, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.engine.api.CALL_TIMEOUT_S", 1.0)
    began = time.monotonic()
    done = make().exec(["sh", "-c", "sleep 3; echo late"], timeout_s=20)
    assert (done.code, done.stdout) == (0, b"late\n")
    assert time.monotonic() - began >= 3


def test_attach_speaks_with_pid_1_from_its_first_byte_to_its_end(make: Make) -> None:
    container = make(command=("sh", "-c", "echo first; read x; echo got $x; exit 5"), started=False)
    with container.attach() as channel:
        container.start()
        assert read_until(channel, b"first\n") == b"first\n"
        channel.send(b"word\n")
        assert read_until(channel, b"word\n") == b"got word\n"
        assert channel.recv(10) is None
    state = container.wait(10)
    assert state is not None
    assert (state.running, state.code, state.kind) == (False, 5, "exited")


def test_a_kept_stdin_survives_a_lost_attach(make: Make) -> None:
    container = make(command=("cat",), keep_stdin=True, started=False)
    first = container.attach()
    container.start()
    first.send(b"one\n")
    read_until(first, b"one\n")
    first.close()
    with container.attach() as second:
        second.send(b"two\n")
        assert read_until(second, b"two\n").endswith(b"two\n")


def test_a_stdin_not_kept_ends_with_its_attach(make: Make) -> None:
    container = make(command=("cat",), started=False)
    channel = container.attach()
    container.start()
    channel.send(b"one\n")
    read_until(channel, b"one\n")
    channel.close()
    state = container.wait(10)
    assert state is not None and state.kind == "exited"


def test_open_exec_is_a_conversation(make: Make) -> None:
    with make().open_exec(["sh"]) as channel:
        channel.send(b"cd /opt; x=1\n")
        channel.send(b"echo $PWD $x\n")
        assert read_until(channel, b"\n") == b"/opt 1\n"
        channel.end_input()
        assert channel.recv(10) is None


def test_a_conversation_costs_no_new_round_trip_to_the_engine(make: Make) -> None:
    with make().open_exec(["cat"]) as channel:
        samples: list[float] = []
        for _ in range(30):
            began = time.monotonic()
            channel.send(b"x\n")
            read_until(channel, b"x\n")
            samples.append(time.monotonic() - began)
    assert sorted(samples)[15] < 1.0


@pytest.mark.parametrize("folder", ["/workspace", "/workspace/a/b", "/tmp", "/tmp/new", "/home/agent/.cache"])
def test_files_put_in_are_our_users_own_and_can_be_edited(make: Make, sh: Sh, folder: str) -> None:
    container = make(workspace_bytes=MIB)
    container.put(folder, {"best.ts": b"old", "sub/run.sh": b"#!/bin/sh\necho ran\n"}, mode=0o755)
    assert (
        sh(container, f"stat -c '%u:%g %a' {folder}/best.ts {folder}/sub/run.sh").split()
        == ["1000:1000", "755"] * 2
    )
    assert sh(container, f"{folder}/sub/run.sh") == "ran"
    assert (
        sh(container, f"echo new > {folder}/best.ts; rm {folder}/sub/run.sh; cat {folder}/best.ts") == "new"
    )
    assert container.get_file(f"{folder}/best.ts", 100) == b"new\n"


def test_files_are_not_put_outside_their_folder_or_on_the_image(make: Make) -> None:
    container = make(workspace_bytes=MIB)
    for name in ("../x", "/x", "a/../../x", ""):
        with pytest.raises(WrongInput, match="relative path"):
            container.put("/workspace", {name: b""})
    with pytest.raises(WrongInput, match="absolute"):
        container.put("/workspace/../etc", {"x": b""})
    with pytest.raises(InfraFailure, match="cannot be put into /opt"):
        container.put("/opt", {"x": b""})


def test_putting_through_a_planted_link_does_not_leave_the_workspace(make: Make, sh: Sh) -> None:
    container = make(workspace_bytes=MIB)
    sh(container, "ln -s /tmp /workspace/vitexec")
    container.put("/workspace/vitexec", {"best.ts": b"x"})
    assert sh(container, "ls /tmp; cat /workspace/vitexec/best.ts") == "x"


def test_a_frozen_container_stands_still_and_gives_its_files(make: Make, sh: Sh, tmp_path: Path) -> None:
    container = make(workspace_bytes=MIB)
    with container.open_exec(["sh", "-c", "while :; do echo x >> /workspace/best.ts; done"]):
        while int(sh(container, "cat /workspace/best.ts | wc -c")) < 10:
            time.sleep(0.05)
        container.freeze()
        container.freeze()
        first = container.get_file("/workspace/best.ts", MIB)
        time.sleep(0.3)
        assert container.get_file("/workspace/best.ts", MIB) == first
        report = container.get_tree("/workspace", tmp_path / "out", CAPS)
        assert (tmp_path / "out/best.ts").read_bytes() == first
        assert [one.path for one in report.files] == ["best.ts"]
        assert container.state().running
        container.thaw()
        container.thaw()
        time.sleep(0.2)
        assert len(container.get_file("/workspace/best.ts", MIB)) > len(first)


HOSTILE = {
    "ln -s /etc/passwd best.ts": "not_regular",
    "ln -s /nowhere best.ts": "not_regular",
    "mkfifo best.ts": "not_regular",
    "mkdir best.ts": "not_regular",
    ": > best.ts": "empty",
    "true": "missing",
    "truncate -s 10G best.ts": "too_large",
    "head -c 200001 /dev/zero > best.ts": "too_large",
}


@pytest.mark.parametrize("where", ["/workspace", "/tmp"])
def test_an_artifact_that_is_no_plain_file_is_refused_with_its_reason(make: Make, sh: Sh, where: str) -> None:
    container = make(workspace_bytes=MIB)
    for command, reason in HOSTILE.items():
        sh(container, f"cd {where} && rm -rf best.ts && {command}")
        with pytest.raises(ArtifactRefused) as caught:
            container.get_file(f"{where}/best.ts", 200_000)
        assert caught.value.reason == reason, command


@pytest.mark.parametrize("where", ["/workspace", "/tmp"])
def test_an_artifact_behind_a_linked_folder_is_refused(make: Make, sh: Sh, where: str) -> None:
    container = make(workspace_bytes=MIB)
    sh(container, f"ln -s /etc {where}/vitexec")
    with pytest.raises(ArtifactRefused) as caught:
        container.get_file(f"{where}/vitexec/passwd", 1000)
    assert caught.value.reason in ("behind_link", "missing")
    sh(container, f"rm {where}/vitexec; echo x > {where}/vitexec")
    with pytest.raises(ArtifactRefused) as caught:
        container.get_file(f"{where}/vitexec/best.ts", 1000)
    assert caught.value.reason == "missing"


def test_a_second_name_of_a_plain_file_is_still_a_plain_file(make: Make, sh: Sh) -> None:
    container = make(workspace_bytes=MIB)
    sh(container, "cd /workspace && echo x > a && ln a best.ts")
    assert container.get_file("/workspace/best.ts", 100) == b"x\n"


def test_of_a_hostile_folder_only_plain_files_come_out(make: Make, sh: Sh, tmp_path: Path) -> None:
    container = make(workspace_bytes=MIB)
    sh(
        container,
        "cd /workspace && mkdir -p src node_modules/x 'new\nline' && echo ok > src/ok && ln src/ok hard && ln -s /etc etc "
        "&& ln -s /etc/passwd pw && mkfifo pipe && truncate -s 3M big && echo a > Name && echo b > name && echo m > node_modules/x/m "
        "&& echo n > 'new\nline/f'",
    )
    caps = TreeCaps(files=100, total_bytes=MIB, file_bytes=MIB, skip=frozenset({"node_modules"}))
    report = container.get_tree("/workspace", tmp_path / "out", caps)
    reasons = {one.path: one.reason for one in report.refused}
    taken = {path.name for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert taken in ({"ok", "Name"}, {"hard", "Name"}), "a file with two names comes out once"
    assert reasons["workspace/etc"] == reasons["workspace/pw"] == reasons["workspace/pipe"] == "not_regular"
    assert reasons["workspace/big"] == "too_large"
    assert reasons["workspace/name"] == "case_clash"
    assert report.complete and report.skipped == ("node_modules",)
    assert list(reasons.values()).count("not_regular") == 4, "and its second name is left out"


def test_a_sparse_giant_in_a_folder_ends_the_copy_at_its_budget(make: Make, sh: Sh, tmp_path: Path) -> None:
    container = make(workspace_bytes=MIB)
    sh(container, "cd /workspace && echo ok > a && truncate -s 10G b")
    caps = TreeCaps(files=10, total_bytes=MIB, file_bytes=MIB, stream_bytes=64 * MIB)
    report = container.get_tree("/workspace", tmp_path / "out", caps)
    assert not report.complete
    assert "stream_too_long" in {one.reason for one in report.refused}
    assert container.exec(["true"], timeout_s=10).code == 0


def test_a_folder_that_is_not_there_or_is_a_link_is_refused(make: Make, sh: Sh, tmp_path: Path) -> None:
    container = make(workspace_bytes=MIB)
    sh(container, "ln -s /etc /workspace/dist")
    for path, reason in (("/workspace/none", "missing"), ("/workspace/dist", "not_regular")):
        with pytest.raises(ArtifactRefused) as caught:
            container.get_tree(path, tmp_path / reason, CAPS)
        assert caught.value.reason == reason


def test_a_volume_holds_what_it_should_and_not_a_page_more(make: Make, sh: Sh) -> None:
    container = make(workspace_bytes=MIB)
    written = container.exec(["sh", "-c", "dd if=/dev/zero of=/workspace/x bs=4096 count=500"], timeout_s=10)
    assert b"No space left" in written.stderr
    assert sh(container, "stat -c %s /workspace/x") == str(MIB)
    assert sh(container, "rm /workspace/x && echo fine > /workspace/y && cat /workspace/y") == "fine"


def test_a_file_may_not_grow_beyond_the_file_cap(make: Make, sh: Sh) -> None:
    container = make(limits=Limits(64 * MIB, 32, 1.0, file_bytes=100_000))
    assert container.exec(["sh", "-c", "head -c 300000 /dev/zero > /tmp/x"], timeout_s=10).code != 0
    assert sh(container, "stat -c %s /tmp/x") == "100000"


def test_no_more_processes_run_than_allowed(make: Make, sh: Sh) -> None:
    container = make(limits=Limits(64 * MIB, 20, 1.0))
    done = container.exec(["sh", "-c", "for i in $(seq 60); do sleep 30 & done; echo all"], timeout_s=20)
    assert b"fork" in done.stderr
    container.kill()


def test_memory_beyond_the_limit_ends_the_container_as_oom(make: Make) -> None:
    container = make(
        limits=Limits(16 * MIB, 32, 1.0), command=("sh", "-c", "sleep 0.3; exec tail -c 100000000 /dev/zero")
    )
    state = container.wait(30)
    assert state is not None
    assert (state.kind, state.oom, state.code) == ("oom", True, 137)


def test_memory_taken_by_a_command_beside_pid_1_is_seen_as_oom_while_it_runs(
    engine: Engine, make: Make
) -> None:
    if not engine.api.endpoint.local:
        return
    container = make(limits=Limits(16 * MIB, 32, 1.0))
    assert container.state().oom is False
    done = container.exec(["tail", "-c", "100000000", "/dev/zero"], timeout_s=30)
    assert done.code == 137
    state = container.state()
    assert (state.running, state.oom, state.kind) == (True, True, "running")


@pytest.mark.parametrize("frozen", [False, True])
def test_kill_ends_everything_at_once_even_when_frozen(make: Make, frozen: bool) -> None:
    container = make(command=("sh", "-c", "trap '' TERM INT HUP; while :; do sleep 1; done"))
    if frozen:
        container.freeze()
    began = time.monotonic()
    container.kill()
    state = container.wait(10)
    assert time.monotonic() - began < 8
    assert state is not None
    assert (state.kind, state.code) == ("killed", 137)
    container.kill()


def test_wait_gives_up_when_told_to(make: Make) -> None:
    began = time.monotonic()
    assert make().wait(0.5) is None
    assert 0.4 < time.monotonic() - began < 5


def test_a_container_that_was_not_started_has_not_run(make: Make) -> None:
    state = make(started=False).state()
    assert (state.running, state.code) == (False, None)


def test_init_reaps_what_others_leave_behind(make: Make, sh: Sh) -> None:
    container = make(role="browser")
    sh(container, "for i in 1 2 3 4 5; do (sh -c 'sleep 0.1 & exit' &) ; done; sleep 0.6")
    assert "Z" not in sh(container, "ps -o stat | tail -n +2 | cut -c1")


def test_a_browser_shares_its_games_loopback_and_nothing_else(make: Make, sh: Sh) -> None:
    game = make(
        role="game",
        command=(
            "sh",
            "-c",
            "mkdir -p /tmp/w; echo page > /tmp/w/index.html; httpd -f -p 127.0.0.1:8080 -h /tmp/w",
        ),
    )
    browser = make(role="browser", network=f"container:{game.id}")
    sh(
        browser,
        "for i in 1 2 3 4 5 6 7 8 9; do wget -qO- http://127.0.0.1:8080/ && exit 0; sleep 0.2; done; exit 1",
    )
    assert sh(browser, "ls /tmp") == ""


def test_remove_is_final_and_may_be_repeated(make: Make) -> None:
    container = make()
    container.freeze()
    container.remove()
    container.remove()
    with pytest.raises(EngineRefused) as caught:
        container.state()
    assert caught.value.status == 404


def test_a_channel_closed_by_another_thread_ends_the_wait(make: Make) -> None:
    channel = make().open_exec(["sleep", "100"])
    results: list[Any] = []

    def wait() -> None:
        try:
            results.append(channel.recv(5))
        except ChannelTimeout as error:
            results.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.2)
    channel.close()
    thread.join(2)
    assert not thread.is_alive()
    assert results == [None]
