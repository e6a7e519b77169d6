"""Every kind of trouble a bash tool meets, in one real agent container that must survive them all."""

import resource
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.engine import Container
from harness.session import supervisor
from harness.session.shell import OUTPUT_CAP_BYTES, CommandResult, Shell

pytestmark = pytest.mark.docker
Run = Callable[..., CommandResult]
Others = Callable[[Container], list[str]]
Opened = tuple[Container, Shell]


def test_the_image_carries_this_supervisor(opened: Opened) -> None:
    there = opened[0].exec(["cat", "/opt/playproof/supervisor.py"], timeout_s=20).stdout
    assert there.decode() == Path(supervisor.__file__).read_text(), "build the agent image again"


def test_output_status_and_time_of_a_command_are_told(run: Run) -> None:
    result = run("echo out; echo err >&2; exit_code() { return 3; }; exit_code")
    assert (result.exit_code, result.shown, result.is_error) == (3, "out\nerr\n", True)
    assert run("true").is_error is False


def test_directory_variables_functions_and_the_last_status_are_kept(run: Run) -> None:
    run("cd /tmp; export A=1; b=2; f() { echo called; }; declare -A m=([x]=y); false")
    assert run("echo $?; pwd; echo $A $b ${m[x]}; f").shown == "1\n/tmp\n1 2 y\ncalled\n"
    run("cd /workspace")


def test_the_agent_is_nobody_special_and_owns_its_workspace(run: Run) -> None:
    result = run(
        "id -u; touch /workspace/mine && stat -c %u /workspace/mine; touch /etc/x; grep CapEff /proc/self/status"
    )
    assert result.shown.startswith("1000\n1000\n")
    assert "Read-only file system" in result.shown or "Permission denied" in result.shown
    assert result.shown.endswith("CapEff:\t0000000000000000\n")


def test_a_background_server_does_not_hold_the_result_and_stays_usable(run: Run) -> None:
    begun = time.monotonic()
    result = run("python3 -m http.server 8391 & echo up")
    assert result.shown == "up\n" and time.monotonic() - begun < 5
    assert any("/tmp/playproof/bg-" in note for note in result.notes)
    log = next(note for note in result.notes if "bg-" in note).split()[-1]
    fetch = "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:8391/').status)"
    assert (
        run(
            f'for i in 1 2 3 4 5 6 7 8 9; do python3 -c "{fetch}" 2>/dev/null && break; sleep 0.3; done'
        ).shown
        == "200\n"
    )
    assert "GET / HTTP/1.1" in run(f"sleep 0.2; cat {log}").shown


def test_a_timeout_ends_all_that_the_command_started_and_nothing_older(run: Run) -> None:
    run("sleep 4321 >/dev/null 2>&1 & export KEPT=yes; plain=too")
    result = run(
        "setsid sleep 5001 & (setsid sleep 5002 &); nohup sleep 5003 & sleep 5004; echo not reached", 1
    )
    assert result.timed_out and result.exit_code is None and "not reached" not in result.shown
    assert any("timeout of 1 s" in note for note in result.notes)
    left = run("ps axo args | grep '^sleep' | sort").shown
    assert left == "sleep 4321\n"
    assert run("echo $KEPT $plain").shown == "yes too\n"
    run("pkill sleep")


@pytest.mark.parametrize(
    "command",
    [
        "g() { sleep 60; echo no; }; f() { while :; do g; done; }; f; echo no",
        "while :; do :; done; echo no",
        "x=$(sleep 60; echo no); echo no $x",
        "sleep 60 | cat; echo no",
        "sleep 60 & sleep 60 & wait; echo no",
        "eval 'eval \"sleep 60; echo no\"; echo no'; echo no",
        "trap '' INT TERM HUP; sleep 60; echo no",
    ],
)
def test_whatever_the_shell_is_doing_a_timeout_gets_it_out_with_its_state(run: Run, command: str) -> None:
    run("state=kept")
    result = run(command, 0.7)
    assert result.timed_out and "no" not in result.shown and result.duration_s < 5
    assert run("echo $state; trap - INT TERM HUP").shown == "kept\n"


def test_a_shell_that_is_itself_stuck_is_replaced_and_that_is_said(run: Run) -> None:
    run("cd /usr; export E=exported; plain=lost")
    result = run("kill -STOP $$", 0.7)
    assert result.timed_out and any("did not let go" in note for note in result.notes)
    assert run("pwd; echo $E$plain; cd /workspace").shown == "/usr\nexported\n"


def test_exit_is_a_result_and_the_next_shell_starts_where_it_ended(run: Run) -> None:
    result = run("cd /usr/bin; export NEW='a \"b\" $c\n'; exit 7")
    assert result.exit_code == 7 and any("exit 7" in note for note in result.notes)
    assert run('pwd; printf "<%s>" "$NEW"; cd /workspace').shown == '/usr/bin\n<a "b" $c\n>'


@pytest.mark.parametrize(
    ("command", "code"), [("set -e; false", 1), ("exec sh -c 'exit 4'", 4), ("kill -9 $$", 137)]
)
def test_every_other_end_of_the_shell_is_a_result_too(run: Run, command: str, code: int) -> None:
    result = run(command)
    assert result.exit_code == code and result.notes
    assert run("echo again").shown == "again\n"


def test_nothing_waits_for_a_terminal_or_for_input(run: Run) -> None:
    begun = time.monotonic()
    assert (
        run(
            "cat; read x || echo none; python3; tty; git log; git commit; GIT_EDITOR=; sudo -n true; bash -i <&0"
        ).exit_code
        is not None
    )
    assert run("ssh -V >/dev/null 2>&1; cat /dev/tty").is_error
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    "command", ["yes", "cat /dev/zero", 'printf -v l %9999s; while :; do echo $l$l "$l"; done']
)
def test_endless_output_is_ended_at_the_cap_with_flat_memory(
    opened: Opened, tmp_path: Path, command: str
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = opened[1].run(command, 60, tmp_path / "raw.out")
    assert (result.cap, result.raw_bytes, result.is_error) == ("output", OUTPUT_CAP_BYTES, True)
    assert (tmp_path / "raw.out").stat().st_size == OUTPUT_CAP_BYTES
    assert len(result.shown) < 30_000 and f"{result.truncated_bytes} bytes of output left out" in result.shown
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10
    assert opened[1].run("echo next", 20, tmp_path / "raw.out").shown == "next\n"


def test_bytes_of_any_kind_come_through_raw_and_are_shown_readable(opened: Opened, tmp_path: Path) -> None:
    result = opened[1].run(r"printf 'a\377\000\303\251'", 20, tmp_path / "raw.out")
    assert (tmp_path / "raw.out").read_bytes() == b"a\xff\0\xc3\xa9"
    assert result.shown == "a�␀é"


def test_text_like_a_protocol_of_ours_in_output_means_nothing(run: Run) -> None:
    result = run(
        r"printf '\377\377\377\377\000playproof-sync-1\000\000\000\000\000D{}'; printf '0\0/\0'; false"
    )
    assert result.exit_code == 1
    assert run("echo x").shown == "x\n"


def test_a_command_of_a_megabyte_runs(run: Run) -> None:
    text = "y" * (1 << 20)
    assert run(f"wc -c <<'END'\n{text}\nEND").shown.strip() == str((1 << 20) + 1)


def test_a_fork_bomb_meets_the_process_cap_and_later_commands_work(run: Run) -> None:
    results = [run(":(){ :|:& };:", 30)]
    for _ in range(4):
        time.sleep(0.5)
        results.append(run("ls / | wc -l", 30))
    assert "processes" in {result.cap for result in results} or any(
        "process limit" in n for r in results for n in r.notes
    )
    assert results[-1].exit_code == 0 and results[-1].cap is None
    assert int(run("ps ax | wc -l").shown) < 20


def test_a_command_that_cannot_fork_any_more_is_ended_soon(run: Run) -> None:
    result = run("for i in $(seq 900); do sleep 700 & done", 60)
    assert result.cap == "processes" and result.duration_s < 20
    assert run("ls / | wc -l; pgrep -c sleep").shown.endswith("\n0\n")


def test_a_memory_hog_is_ended_by_the_kernel_and_not_the_session(run: Run) -> None:
    result = run("python3 -c 'x = bytearray(4 << 30)'; echo went on", 60)
    assert result.cap == "memory" and result.is_error and "went on" in result.shown
    assert any("memory limit" in note for note in result.notes)
    assert run("echo next").shown == "next\n"


def test_one_file_too_large_is_told_as_such(run: Run) -> None:
    assert run("fallocate -l 50G x").cap == "file_size"
    assert run("python3 -c \"open('y', 'wb').truncate(1 << 40)\"").cap == "file_size"
    run("rm -f x y")


def test_a_full_disk_is_told_and_can_be_emptied(run: Run) -> None:
    result = run("head -c 200M /dev/zero > /workspace/big")
    assert result.cap == "disk" and any("/workspace" in note for note in result.notes)
    assert run(
        "head -c 2G /dev/zero > /tmp/a; head -c 250M /dev/zero > /tmp/b; head -c 250M /dev/zero > ~/c; false"
    ).is_error
    assert run("cd /; exit 3").exit_code == 3
    assert (
        run("rm -f /workspace/big /tmp/a /tmp/b ~/c && cd /workspace && echo room > r && cat r").shown
        == "room\n"
    )


def test_the_supervisor_cannot_be_ended_or_looked_into_from_inside(run: Run) -> None:
    result = run(
        "kill -9 1; kill -TERM 1; kill -INT 1; kill -STOP 1; kill -9 -1; cat /proc/1/environ; ls /proc/1/fd; echo done"
    )
    assert "done" in result.shown and result.shown.count("Permission denied") == 2
    assert run("echo still").shown == "still\n"


def test_removing_all_temporary_files_does_not_break_the_tool(run: Run) -> None:
    run("rm -rf /tmp/* /tmp/.[a-z]* /dev/shm/* /dev/shm/.[a-z]*")
    assert run("echo here").shown == "here\n"


def test_tampered_builtins_and_options_do_not_break_the_tool(run: Run) -> None:
    run(
        "read() { echo f; }; printf() { :; }; declare() { :; }; trap() { :; }; IFS=x; set -u; set -f; set -C; set -x"
    )
    assert run("set +ufC; set +x; unset -f read printf declare trap; unset IFS").exit_code == 0
    assert run("break; continue; return 5").exit_code == 5 or run("true").exit_code == 0
    assert run("echo $((1 + 1))").shown == "2\n"


def test_a_running_command_can_be_cancelled(opened: Opened, tmp_path: Path) -> None:
    timer = threading.Timer(0.5, opened[1].cancel)
    timer.start()
    result = opened[1].run("sleep 60; echo no", 60, tmp_path / "raw.out")
    assert (
        result.cancelled and result.exit_code is None and result.duration_s < 10 and "no" not in result.shown
    )


def test_a_command_that_the_sessions_end_meets_is_returned_cut_off(
    new_container: Callable[[], Container], tmp_path: Path
) -> None:
    container = new_container()
    channel = container.attach()
    container.start()
    shell = Shell(container, channel)
    begun = time.monotonic()
    result = shell.run("echo first; sleep 60", 60, tmp_path / "raw.out", until=begun + 1)
    assert result.cut_off and result.shown == "first\n" and result.exit_code is None
    assert time.monotonic() - begun < 3
    shell.close()


def test_no_process_is_left_defunct(run: Run, opened: Opened, others: Others) -> None:
    run("for i in 1 2 3 4 5; do (setsid sh -c 'sleep 0.05' &) ; done; sleep 0.5")
    assert "Z" not in run("ps axo stat").shown
    assert [args for args in others(opened[0]) if not args.startswith("bash")] == []
