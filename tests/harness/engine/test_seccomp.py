"""Our system call list, tried by the programs that must live under it and by what it must stop."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.engine import Container, Limits

pytestmark = pytest.mark.docker

Make = Callable[..., Container]
ROOMY = Limits(memory_bytes=1 << 30, pids=256, cpus=2.0)

TRY_CALLS = """
import ctypes, errno, json, platform, socket
libc = ctypes.CDLL(None, use_errno=True)
arm = platform.machine() == "aarch64"
NUMBERS = {  # name: (x86_64, aarch64, arguments)
    "clone3": (435, 435, [0, 0]), "io_uring_setup": (425, 425, [8, 0]), "ptrace": (101, 117, [0, 0, 0, 0]),
    "mount": (165, 40, [0, 0, 0, 0, 0]), "fsopen": (430, 430, [0, 0]), "move_mount": (429, 429, [0, 0, 0, 0, 0]),
    "bpf": (321, 280, [0, 0, 0]), "keyctl": (250, 219, [0, 0, 0, 0, 0]), "add_key": (248, 217, [0, 0, 0, 0, 0]),
    "perf_event_open": (298, 241, [0, 0, 0, 0, 0]), "userfaultfd": (323, 282, [0]), "setns": (308, 268, [0, 0]),
    "unshare_mount": (272, 97, [0x20000]), "kcmp": (312, 272, [0, 0, 0, 0, 0]), "kexec_load": (246, 104, [0, 0, 0, 0]),
    "init_module": (175, 105, [0, 0, 0]), "process_vm_readv": (310, 270, [0, 0, 0, 0, 0, 0]),
    "personality_no_random": (135, 92, [0x40000]), "open_by_handle_at": (304, 265, [0, 0, 0]),
}
found = {}
for name, (x86, aarch, arguments) in NUMBERS.items():
    result = libc.syscall(aarch if arm else x86, *arguments)
    found[name] = errno.errorcode[ctypes.get_errno()] if result < 0 else "allowed"
for name, family, kind, protocol in (
    ("packet", 17, 3, 0), ("alg", 38, 5, 0), ("vsock", 40, 1, 0), ("netfilter", 16, 3, 12), ("xfrm", 16, 3, 6),
    ("unix", 1, 1, 0), ("tcp", 2, 1, 0), ("tcp6", 10, 1, 0), ("route", 16, 3, 0),
):
    try:
        socket.socket(family, kind, protocol).close()
        found[name] = "allowed"
    except OSError as error:
        found[name] = errno.errorcode[error.errno]
print(json.dumps(found))
"""

LIVING = """
import multiprocessing, os, subprocess, tempfile, threading
thread = threading.Thread(target=int); thread.start(); thread.join()
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(abs, [-1, -2]) == [1, 2]
run = lambda *command: subprocess.run(command, check=True, capture_output=True, text=True).stdout
print(run("node", "-e", "const {Worker} = require('worker_threads'); new Worker('console.log(6*7)', {eval: true})").strip())
print(run("node", "-e", "console.log(Object.keys(require('os').networkInterfaces()).join())").strip())
with tempfile.TemporaryDirectory() as folder:
    run("ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=d=1:s=64x64", f"{folder}/a.mp4")
    print(os.path.getsize(f"{folder}/a.mp4") > 500)
print(run("bash", "-c", "cat <(echo substituted)").strip())
"""


def python(container: Container, program: str) -> str:
    done = container.exec(["python3", "-"], timeout_s=120, stdin=program.encode())
    assert done.code == 0, done
    return done.stdout.decode()


def test_dangerous_calls_are_refused_and_unknown_ones_look_absent(make: Make, replay_image: str) -> None:
    container = make(image=replay_image, role="browser", limits=ROOMY, env={})
    found: dict[str, Any] = json.loads(python(container, TRY_CALLS))
    allowed = {name for name, answer in found.items() if answer == "allowed"}
    absent = {name for name, answer in found.items() if answer == "ENOSYS"}
    assert allowed == {"unix", "tcp", "tcp6", "route"}
    assert absent == {"clone3", "io_uring_setup"}
    assert {found[name] for name in found.keys() - allowed - absent} == {"EPERM"}


def test_the_programs_of_our_images_live_under_it(make: Make, replay_image: str) -> None:
    container = make(image=replay_image, role="browser", limits=ROOMY, env={})
    assert python(container, LIVING).split() == ["42", "lo", "True", "substituted"]
