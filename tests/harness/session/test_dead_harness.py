"""kill -9 of the harness: nothing of the agent may run 5 s later, and a new harness can join the container."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.engine import Container, Engine
from harness.session import shell as shell_module
from harness.session.shell import Shell
from harness.session.supervisor import HELLO, MAGIC, message

pytestmark = pytest.mark.docker

HARNESS = """
import sys
from pathlib import Path
from harness.engine import Engine
from harness.session.shell import Shell
container = Engine.connect().adopt(sys.argv[1], "agent")
channel = container.attach()
container.start()
shell = Shell(container, channel)
raw = Path(sys.argv[2])
shell.run("cd /usr; export KEPT=1; setsid sleep 6001 >/dev/null 2>&1 & nohup sleep 6002 >/dev/null 2>&1 &", 20, raw)
print("ready", flush=True)
shell.run("while :; do echo x >> /workspace/growing; done", None, raw)
"""


def test_five_seconds_after_kill_nine_nothing_of_the_agent_runs_and_another_harness_can_join(
    engine: Engine,
    new_container: Callable[[], Container],
    others: Callable[[Container], list[str]],
    tmp_path: Path,
) -> None:
    container = new_container()
    root = Path(__file__).parents[3]
    harness = subprocess.Popen(
        [sys.executable, "-c", HARNESS, container.spec.run_id, str(tmp_path / "raw.out")],
        stdout=subprocess.PIPE, cwd=root, env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip
    assert harness.stdout is not None and harness.stdout.readline() == b"ready\n"
    time.sleep(1)
    assert {"sleep 6001", "sleep 6002"} <= set(others(container))
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    time.sleep(5)
    assert others(container) == []
    size = len(container.get_file("/workspace/growing", 1 << 30))
    assert size > 0 and len(container.get_file("/workspace/growing", 1 << 30)) == size

    assert container.state().running
    shell = Shell(container, container.attach())
    assert shell.resumed
    assert shell.run("pwd; echo $KEPT", 20, tmp_path / "raw.out").shown == "/usr\n1\n"
    shell.close()


def test_an_expired_container_that_nobody_drives_ends_by_itself(
    engine: Engine, new_container: Callable[[], Container]
) -> None:
    spec = replace(new_container().spec, env={"PLAYPROOF_EXPIRES": f"{time.time() + 1:.0f}"})
    container = engine.create(spec)
    container.start()
    state = container.wait(15)
    assert state is not None and state.kind == "exited" and state.code == 0


def test_a_greeting_that_had_to_be_repeated_is_one_harness(
    new_container: Callable[[], Container], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell_module.secrets, "token_hex", lambda _size: "same")
    container = new_container()
    channel = container.attach()
    container.start()
    channel.send((MAGIC + message(HELLO, {"nonce": "same"})) * 3)
    shell = Shell(container, channel)
    assert shell.run("echo one harness", 20, tmp_path / "raw.out").shown == "one harness\n"
    shell.close()
