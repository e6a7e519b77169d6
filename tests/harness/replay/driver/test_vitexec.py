"""The command as agents use it, in the container they use it in."""

import json
import time

import pytest

from .conftest import Box

pytestmark = [pytest.mark.docker, pytest.mark.browser]

SCRIPT = """import { keyboard, mouse } from "vitexec";
import { seen, state } from "/src/state.ts";

interface Count { total: number }
while (!state.ready) await new Promise((resolve) => setTimeout(resolve, 50));
await mouse.moveTo(100, 100);
await keyboard.press("KeyW");
const count: Count = { total: seen.filter((event) => event.type.startsWith("key")).length };
console.log("count", count);
"""


def assert_none_left(box: Box, *names: str) -> None:
    """Waits a little for processes to be gone."""
    for _ in range(20):
        left = [line for line in box.processes() if any(name in line for name in names)]
        if not left:
            return
        time.sleep(0.5)
    raise AssertionError(left)


def test_a_script_is_run_and_its_log_printed(box: Box) -> None:
    box.put("/workspace/vitexec/best.ts", SCRIPT)
    for folder, name in (
        ("/workspace", "best.ts"),
        ("/workspace", "vitexec/best.ts"),
        ("/workspace/vitexec", "best.ts"),
    ):
        done = box.vitexec(name, folder=folder)
        assert done.stdout.decode() == 'logs:\n[log] count {"total":2}\n', done
        assert (done.code, done.stderr) == (0, b"")


def test_a_script_outside_the_project_and_inline_code_see_the_game(box: Box) -> None:
    box.put("/tmp/elsewhere.ts", SCRIPT)
    done = box.vitexec("/tmp/elsewhere.ts", "--viewport", "640x360")
    assert done.stdout.decode() == 'logs:\n[log] count {"total":2}\n', done
    inline = box.vitexec(
        'import { state } from "/src/state.ts"; console.log(innerWidth, state.ready as boolean);',
        VITEXEC_VIEWPORT="800x600",
    )
    assert inline.stdout.decode() == "logs:\n[log] 800 true\n"


def test_a_script_that_throws_fails_with_its_message_and_place(box: Box) -> None:
    box.put("/workspace/vitexec/throws.ts", "interface Unused { a: number }\n\n\nthrow new Error('boom');\n")
    done = box.vitexec("throws.ts")
    assert done.code == 1
    assert done.stderr.decode() == "vitexec failed: boom\n    at vitexec/throws.ts:4:7\n"
    assert done.stdout == b"logs:\n"


def test_a_timeout_counts_the_preparation_and_ends_the_command(box: Box) -> None:
    started = time.monotonic()
    done = box.vitexec("await new Promise(() => {});", "--timeout", "25")
    assert done.code == 1
    assert done.stderr.decode().startswith("vitexec failed: Vitexec ")
    assert "timed out after" in done.stderr.decode()
    assert time.monotonic() - started < 60
    assert (
        box.vitexec("1", VITEXEC_TIMEOUT="0.01")
        .stderr.decode()
        .startswith("vitexec failed: Vitexec timed out after 0.01s")
    )


def test_nothing_is_left_running(box: Box) -> None:
    box.vitexec("console.log(1)")
    killed = box.run("sh", "-c", "python3 -m driver.vitexec 'for (;;);' & sleep 6; kill -TERM $!; wait $!")
    assert killed.code == 1
    assert killed.stderr.decode() == "vitexec failed: it was interrupted\n"
    assert_none_left(box, "chromium", "server.mjs", "driver.vitexec")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nope.ts",), "there is no script nope.ts"),
        ((), "vitexec needs a script"),
        (("--timeout", "soon", "1"), "--timeout cannot be 'soon'"),
        (("--path", "/nothing-here.html", "1"), "did not load"),
        (("run", "Nobody", "1"), "there is no session Nobody"),
    ],
)
def test_what_went_wrong_is_one_line(box: Box, words: tuple[str, ...], message: str) -> None:
    folder = "/tmp/page" if "--path" in words else "/workspace"
    done = box.vitexec(*words, folder=folder)
    if "--path" in words:  # a Vite project answers every page with its index
        assert done.code == 1 or done.stdout.startswith(b"logs:")
        return
    assert done.code == 1
    assert done.stderr.decode().startswith("vitexec failed: ")
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_everything_that_can_be_measured_is_written(box: Box) -> None:
    done = box.vitexec(
        "await new Promise((done) => setTimeout(done, 1500)); await fetch('/src/state.ts'); console.log('end');",
        *(
            "--screenshot",
            "shot.png",
            "--record",
            "film.mp4",
            "--record-fps",
            "10",
            "--cpu-profile",
            "a.cpuprofile",
        ),
        *(
            "--network-trace",
            "net.har",
            "--performance-trace",
            "perf.json",
            "--heap-snapshot",
            "heap.heapsnapshot",
        ),
    )
    assert done.code == 0, done
    read = lambda name: box.run("cat", name).stdout  # noqa: E731
    assert read("shot.png").startswith(b"\x89PNG")
    assert len(json.loads(read("a.cpuprofile"))["nodes"]) > 1
    urls = [entry["request"]["url"] for entry in json.loads(read("net.har"))["log"]["entries"]]
    assert any(url.endswith("/src/main.ts") for url in urls)
    assert (
        box.run(
            "python3", "-c", "import json; print(len(json.load(open('perf.json'))['traceEvents']))"
        ).stdout.strip()
        != b"0"
    )
    assert (
        box.run(
            "python3", "-c", "import json; print('nodes' in json.load(open('heap.heapsnapshot')))"
        ).stdout.strip()
        == b"True"
    )
    probe = box.run(
        "ffprobe",
        "-v",
        "error",
        "-show_entries",
        "stream=codec_name,nb_frames,width,height",
        "-of",
        "json",
        "film.mp4",
    )
    stream = json.loads(probe.stdout)["streams"][0]
    assert (stream["codec_name"], stream["width"], stream["height"]) == ("h264", 960, 540)
    assert int(stream["nb_frames"]) >= 10
    box.run("rm", "shot.png", "film.mp4", "a.cpuprofile", "net.har", "perf.json", "heap.heapsnapshot")


def test_a_session_keeps_its_page_between_commands(box: Box) -> None:
    opened = box.vitexec("open", "A", "--viewport", "640x360")
    assert (opened.code, opened.stdout) == (0, b"session A is open\n"), opened
    assert b"is open already" in box.vitexec("open", "A").stderr
    box.vitexec("run", "A", "globalThis.kept = 5; setTimeout(() => console.log('between'), 200);")
    box.put("/workspace/vitexec/again.ts", 'console.log("kept", (globalThis as any).kept, innerWidth);')
    again = box.vitexec("run", "A", "again.ts")
    assert again.stdout.decode() == "logs:\n[log] between\n[log] kept 5 640\n"
    box.put("/workspace/vitexec/again.ts", 'console.log("changed");')
    assert box.vitexec("run", "A", "again.ts").stdout.decode() == "logs:\n[log] changed\n"
    late = box.vitexec("run", "A", "--timeout", "2", "await new Promise(() => {});")
    assert late.stderr.decode().startswith("vitexec failed: Vitexec script timed out after")
    fresh = box.vitexec("run", "A", "console.log(String(globalThis.kept));")
    assert fresh.stdout.decode().splitlines()[-1] == "[log] undefined"
    assert box.vitexec("close", "A").stdout == b"session A is closed\n"
    assert box.vitexec("close", "A").code == 1


def test_a_session_ends_with_its_browser_when_closed(box: Box) -> None:
    box.vitexec("open", "B")
    box.vitexec("close", "B")
    assert_none_left(box, "chromium", "server.mjs", "driver.sessions")


def test_the_probe_says_that_a_browser_works_here(box: Box) -> None:
    done = box.run("python3", "-m", "driver.probe")
    found = json.loads(done.stdout)
    assert (found["pointer_lock"], found["trusted"], found["sandbox"]) == (True, True, True)
    assert "llvmpipe" in found["renderer"]
    assert found["version"].split(".")[0].isdigit()
