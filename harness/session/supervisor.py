"""PID 1 of an agent container: runs the agent's bash commands and ends all of them when the harness dies.

It runs inside the container with the agent's own uid and no capability, from the standard library alone, so its
safety rests on being PID 1 (no signal from inside can kill it) and on not being dumpable. The hard parts: bash is
kept for the whole session, yet each command's status must be exact and its output complete, so text, status and
output travel apart (a memfd, a socket, a FIFO per command) and nothing is ever scraped from output; a timeout must
end all that one command started, setsid children too, while older servers and the shell's state live on, so the
shell is unwound by a trap that returns out of the file which evaluates the command.
One file on purpose, because it is copied alone into the image.
The frame functions at the top are also the host's half of the channel (shell.py imports them).
"""

import ctypes
import errno
import fcntl
import json
import os
import re
import select
import shlex
import shutil
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

MAGIC = b"\xff\xff\xff\xff\x00playproof-sync-1\x00"  # no frame is that long, so it cannot be taken for one
HELLO, BEAT, RUN, CANCEL = b"HBRC"
READY, OUTPUT, DONE, GONE = b"YODG"
HEARTBEAT_S = 0.5
SILENCE_S = 4.0  # eight missed heartbeats: the harness is dead; nothing of the agent may run 5 s after that
MAX_FRAME = 64 << 20
CHUNK = 64 << 10
OUT_QUEUE = 1 << 20  # bytes waiting for the harness before the command is made to wait
GRACE_S = 0.05  # how long a background child's held output delays a result
RESIGNAL_S = 0.2
LOOK_S = 0.25  # how often a running command's caps are looked at
CROWDED_S = 2.0  # bash tries for half a minute to fork where it cannot: the command is ended sooner
UNWIND_S = 1.0  # how long the shell may take to give up a command whose processes are dead
ANSWER_S = 30.0  # how long a busy machine may take to give a new shell its variables back
SWEEP_S = 5.0
BACKGROUND_LOG = 1 << 20
BACKGROUND_FOLDER = Path("/tmp/playproof")
FIFO_FOLDERS = ("/dev/shm", "/tmp", "/home/agent", "/workspace")
DISKS = ("/workspace", "/tmp", "/home/agent", "/dev/shm")
STOP_SIGNAL = signal.SIGRTMIN + 7
CHILD_OOM_SCORE = 500

_HEAD = struct.Struct(">IB")
_PR_SET_DUMPABLE = 4

SHELL_ENV = {
    "PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat", "EDITOR": "true", "VISUAL": "true", "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0", "TERM": "dumb", "LANG": "C.UTF-8", "HOME": "/home/agent", "USER": "agent",
}  # fmt: skip

EVALUATE = 'builtin eval "$__pp_cmd" </dev/null >"$__pp_out" 2>&1 7<&- 8>&- 9<&-'

PRELUDE = """
builtin printf %s @OOM@ >/proc/self/oom_score_adj
__pp_exit() { { builtin printf '%s\\0' "$PWD"; builtin declare -px; builtin printf '\\0'; } >@DIR@/exit; } 2>/dev/null
__pp_last() { builtin return "$__pp_rc"; }
__pp_stop= __pp_rc=0
builtin trap '__pp_stop=1; set -T; trap "return 143 2>/dev/null" DEBUG; return 143 2>/dev/null' @SIGNAL@
builtin trap __pp_exit EXIT
while IFS= builtin read -r -d '' -u 8 __pp_out; do
  IFS= builtin read -r -d '' __pp_cmd </proc/self/fd/9 || builtin :
  for __pp_once in 1; do [[ $- == *e* ]] || __pp_last; builtin . /proc/self/fd/7; done
  __pp_rc=$?
  if [[ $__pp_stop ]]; then builtin trap - DEBUG; builtin set +T; __pp_stop=; fi
  { builtin printf '%s\\0%s\\0' "$__pp_rc" "$PWD"; builtin declare -px; builtin printf '\\0'; } >&8
done
"""


def frame(kind: int, payload: bytes = b"") -> bytes:
    return _HEAD.pack(len(payload), kind) + payload


def message(kind: int, body: Mapping[str, Any]) -> bytes:
    return frame(kind, json.dumps(body).encode())


class FrameParser:
    """Bytes in, whole frames out; everything before the first MAGIC is skipped, so that a new reader can join."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.synced = False

    def desync(self) -> None:
        self._buffer.clear()
        self.synced = False

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        self._buffer += data
        frames: list[tuple[int, bytes]] = []
        while True:
            if not self.synced and not self._sync():
                return frames
            if self._buffer.startswith(MAGIC):
                del self._buffer[: len(MAGIC)]
                continue
            if MAGIC.startswith(self._buffer[: len(MAGIC)]) or len(self._buffer) < _HEAD.size:
                return frames
            size, kind = _HEAD.unpack_from(self._buffer)
            if size > MAX_FRAME:
                self.synced = False
                continue
            if len(self._buffer) < _HEAD.size + size:
                return frames
            frames.append((kind, bytes(self._buffer[_HEAD.size : _HEAD.size + size])))
            del self._buffer[: _HEAD.size + size]

    def _sync(self) -> bool:
        at = self._buffer.find(MAGIC)
        if at < 0:
            del self._buffer[: max(0, len(self._buffer) - len(MAGIC) + 1)]
            return False
        del self._buffer[: at + len(MAGIC)]
        self.synced = True
        return True


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    group: int
    session: int
    start: int
    zombie: bool


def processes() -> dict[int, Process]:
    found: dict[int, Process] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - paths cost too much here
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123 - on the path of every command
                rest = stat.read().rpartition(b")")[2].split()
        except OSError:
            continue
        pid = int(name)
        zombie = rest[0] in (b"Z", b"X")
        found[pid] = Process(pid, int(rest[1]), int(rest[2]), int(rest[3]), int(rest[19]), zombie)
    return found


def started_by_command(now: Mapping[int, Process], older: Iterable[Process], shell: int) -> set[int]:
    """Who the running command started: all that is new and does not lead to an older background process."""
    kept = {(p.pid, p.start) for p in older if p.pid not in (1, shell)}
    kept_pids = {pid for pid, start in kept if pid in now and now[pid].start == start}
    known = kept_pids | {
        pid for pid, _ in kept if pid not in now
    }  # sessions and groups outlive their leaders
    mine: set[int] = set()
    for process in now.values():
        if process.pid in (1, shell) or process.zombie or process.pid in kept_pids:
            continue
        at: Process | None = process
        seen: set[int] = set()
        while at is not None and at.pid not in kept_pids and at.pid not in seen:
            seen.add(at.pid)
            at = now.get(at.parent)
        orphan_of_older = process.session in known or process.group in known
        if (at is None or at.pid not in kept_pids) and not orphan_of_older:
            mine.add(process.pid)
    return mine


def send_signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


class Gauge:
    """One number of a cgroup file (a `key N` line, or the only number), 0 where this host does not show it."""

    def __init__(self, paths: Iterable[str], key: str = "") -> None:
        self._pattern = re.compile(rf"^{key}\s*(\d+)$".encode(), re.MULTILINE)
        self._fd = -1
        for path in paths:
            with suppress(OSError):
                self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                break

    def read(self) -> int:
        try:
            found = self._pattern.search(os.pread(self._fd, 4096, 0))
        except OSError:
            return 0
        return int(found[1]) if found else 0


class CapGauges:
    """How often the container met its process and memory caps, and how near it is: cgroup v2 first, then v1."""

    def __init__(self) -> None:
        root = "/sys/fs/cgroup"
        self._pids_met = Gauge([f"{root}/pids.events", f"{root}/pids/pids.events"], "max")
        self._ooms = Gauge([f"{root}/memory.events", f"{root}/memory/memory.oom_control"], "oom_kill")
        self._pids = Gauge([f"{root}/pids.current", f"{root}/pids/pids.current"])
        self._pids_max = Gauge([f"{root}/pids.max", f"{root}/pids/pids.max"]).read()

    def met(self) -> tuple[int, int]:
        """(process cap met, processes killed for memory), both counted from the container's start."""
        return self._pids_met.read(), self._ooms.read()

    def crowded(self) -> bool:
        return bool(self._pids_max) and self._pids.read() >= self._pids_max * 0.9


def full_disks() -> set[str]:
    full: set[str] = set()
    for path in DISKS:
        with suppress(OSError):
            state = os.statvfs(path)
            if state.f_blocks and (
                state.f_bavail * state.f_frsize < 65536 or (state.f_files and not state.f_favail)
            ):
                full.add(path)
    return full


class Fifo:
    """One command's output: a path that bash opens, held open here so that neither side blocks or sees a false end."""

    def __init__(self, path: str) -> None:
        self.path = path
        os.mkfifo(path, 0o600)
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._writer = -1
        self.hold()

    def hold(self) -> None:
        if self._writer < 0:
            self._writer = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def release(self) -> None:
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1

    def intact(self) -> bool:
        try:
            return os.path.samestat(os.lstat(self.path), os.fstat(self.fd))
        except OSError:
            return False

    def read(self) -> bytes | None:
        """Some output; None when there is none now; empty when every writer is gone (after release)."""
        try:
            return os.read(self.fd, CHUNK)
        except BlockingIOError:
            return None

    def close(self) -> None:
        self.release()
        os.close(self.fd)
        with suppress(OSError):
            Path(self.path).unlink()


class Bash:
    """The persistent shell and the three ways into it: command text, control socket, output path."""

    def __init__(self, folder: str, cwd: str, environment: Mapping[str, str]) -> None:
        self._text = _high(os.memfd_create("command"))
        evaluate = _high(os.memfd_create("evaluate"))
        os.write(evaluate, EVALUATE.encode())
        ours, theirs = socket.socketpair()
        theirs_fd = _high(os.dup(theirs.fileno()))
        theirs.close()
        ours.setblocking(False)
        self.control = ours
        self.exit_note = Fifo(f"{folder}/exit")
        oom = min(1000, int(Path("/proc/self/oom_score_adj").read_text()) + CHILD_OOM_SCORE)
        script = PRELUDE.replace("@OOM@", str(oom)).replace("@DIR@", shlex.quote(folder))
        script = script.replace("@SIGNAL@", str(int(STOP_SIGNAL)))
        with suppress(OSError):
            os.chdir(cwd)
        self.pid = os.posix_spawn(
            "/bin/bash", ["bash", "--noprofile", "--norc", "-c", script, "bash"], dict(environment),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDWR, 0),
                (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2),
                (os.POSIX_SPAWN_DUP2, evaluate, 7), (os.POSIX_SPAWN_DUP2, theirs_fd, 8),
                (os.POSIX_SPAWN_DUP2, self._text, 9),
            ],
            setsid=True, setsigdef=list(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}), setsigmask=[],
        )  # fmt: skip
        os.close(evaluate)
        os.close(theirs_fd)
        self.status: int | None = None
        self._partial = bytearray()
        self._words = bytearray()

    def give(self, command: bytes, output: str) -> None:
        os.ftruncate(self._text, 0)
        os.pwrite(self._text, command, 0)
        with suppress(OSError):
            self.control.sendall(output.encode() + b"\0")

    def fields(self) -> list[bytes]:
        """The NUL-ended fields that have arrived: status, cwd, exported variables, in turn."""
        with suppress(BlockingIOError, ConnectionError):
            while data := self.control.recv(CHUNK):
                self._partial += data
        *whole, rest = bytes(self._partial).split(b"\0")
        self._partial = bytearray(rest)
        return whole

    def last_words(self) -> list[bytes]:
        """Cwd and exported variables as an exiting shell left them."""
        while data := self.exit_note.read():
            self._words += data
        return bytes(self._words).split(b"\0")[:-1]

    def close(self) -> None:
        self.control.close()
        os.close(self._text)
        self.exit_note.close()


def _high(fd: int) -> int:
    """The same file at a number that cannot collide with those given to bash."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 32)
    os.close(fd)
    return moved


@dataclass
class Job:
    """The command that is running now."""

    id: int
    output: Fifo
    cap: int
    begun: float
    deadline: float | None
    older: list[Process]
    status: int | None = None
    grace: float | None = None
    forwarded: int = 0
    dropped: int = 0
    stopped: str | None = None  # timeout | output | processes | cancel
    next_look: float = 0.0
    crowded_looks: int = 0
    restarted: str | None = None
    killed: int = 0
    left: int = 0
    full: set[str] = field(default_factory=set[str])
    notes: list[str] = field(default_factory=list[str])


class Supervisor:
    """The loop: frames in, one command at a time, frames out; and the end of everything when nobody listens."""

    def __init__(self, expires: float) -> None:
        self.expires = expires
        self.parser = FrameParser()
        self.stdin_open = True
        self.out = bytearray()
        self.live = False  # a harness is listening
        self.hello = b""  # how it greeted: it repeats that until it hears the answer
        self.resumed = False
        self.last_beat = 0.0
        self.bash: Bash | None = None
        self.job: Job | None = None
        self.spare: Fifo | None = None
        self.background: list[tuple[Fifo, Path, int]] = []
        self.logs = 0
        self.fifos = 0
        self.folder = ""
        self.cwd = "/workspace" if Path("/workspace").is_dir() else "/"
        self.exports = b""
        self.place = 0  # which of status, cwd, exports comes next from bash
        self.swept = 0  # background processes ended since the last command because they left no room
        self.unanswered = 0  # statuses to come that belong to no job
        self.gauges = CapGauges()
        self.met = self.gauges.met()
        self.woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        os.set_blocking(0, False)
        os.set_blocking(1, False)

    def serve(self) -> NoReturn:
        self.start_bash()
        while True:
            ready = self.wait(self.pause())
            if 0 in ready:
                self.hear()
            if 1 in ready:
                self.speak()
            if self.woken in ready:
                with suppress(BlockingIOError):
                    os.read(self.woken, 512)
            self.reap()
            if self.bash:
                self.bash.last_words()
                self.listen_to_bash()
            self.pump_job()
            self.pump_background()
            self.judge_time()

    def pause(self) -> float:
        now = time.monotonic()
        times = [now + 1.0] + ([self.last_beat + SILENCE_S] if self.live else [])
        if self.job:
            times += [t for t in (self.job.deadline, self.job.grace) if t is not None] + [now + LOOK_S]
        return max(0.0, min(times) - now)

    def wait(self, seconds: float) -> set[int]:
        poll = select.poll()
        poll.register(self.woken, select.POLLIN)
        if self.stdin_open:
            poll.register(0, select.POLLIN)
        if self.out:
            poll.register(1, select.POLLOUT)
        if self.bash:
            poll.register(self.bash.control, select.POLLIN)
            poll.register(self.bash.exit_note.fd, select.POLLIN)
        if self.job and len(self.out) < OUT_QUEUE:
            poll.register(self.job.output.fd, select.POLLIN)
        for fifo, _, _ in self.background:
            poll.register(fifo.fd, select.POLLIN)
        return {fd for fd, _ in poll.poll(seconds * 1000)}

    # -- the harness

    def hear(self) -> None:
        try:
            data = os.read(0, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.stdin_open = False
            self.abandon()
            return
        for kind, payload in self.parser.feed(data):
            self.last_beat = time.monotonic()
            if kind == HELLO:
                self.welcome(payload)
            elif kind == RUN and self.live:
                self.begin(json.loads(payload))
            elif kind == CANCEL and self.job and self.job.id == json.loads(payload)["id"]:
                self.stop(self.job, "cancel")

    def say(self, data: bytes) -> None:
        self.out += data
        self.speak()

    def speak(self) -> None:
        with suppress(BlockingIOError):
            while self.out:
                sent = os.write(1, memoryview(self.out)[:CHUNK].tobytes())
                del self.out[:sent]

    def welcome(self, payload: bytes) -> None:
        if self.live and payload != self.hello:
            self.abandon()
        if not self.live:
            self.out.clear()
            self.resumed = self.bash is None
        self.live, self.hello = True, payload
        self.start_bash()
        self.say(MAGIC + message(READY, {"hello": json.loads(payload), "resumed": self.resumed}))

    def abandon(self) -> None:
        """Nobody listens any more: nothing of the agent may run on."""
        was_live, self.live = self.live, False
        self.parser.desync()
        if self.bash:
            self.bash.close()
            self.bash = None
        end = time.monotonic() + SWEEP_S
        while time.monotonic() < end:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            self.reap()
            if all(p.zombie for p in processes().values() if p.pid != 1):
                break
            time.sleep(0.01)
        for fifo in [f for f, _, _ in self.background] + ([self.job.output] if self.job else []):
            fifo.close()
        self.background, self.job, self.unanswered = [], None, 0
        self.out.clear()
        if was_live:
            self.say(message(GONE, {}))

    def judge_time(self) -> None:
        now = time.monotonic()
        if self.live and now - self.last_beat > SILENCE_S:
            self.abandon()
        if not self.live and time.time() > self.expires:
            self.abandon()
            sys.exit(0)
        job = self.job
        if job is None:
            self.clear_crowd()
            return
        if now >= job.next_look:
            job.next_look = now + LOOK_S
            job.full |= full_disks()
            crowded = self.gauges.crowded() and self.gauges.met()[0] > self.met[0]
            job.crowded_looks = job.crowded_looks + 1 if crowded else 0
        if job.status is not None:
            return
        if job.crowded_looks * LOOK_S >= CROWDED_S:
            self.stop(job, "processes")
        elif job.deadline is not None and now >= job.deadline:
            self.stop(job, "timeout")

    # -- the shell

    def start_bash(self) -> None:
        """A shell, if there is none: where and with the exported variables with which the last one ended."""
        if self.bash:
            return
        self.folder = self.private_folder()
        given = {k: v for k, v in os.environ.items() if not k.startswith("PLAYPROOF_") and k != "LC_CTYPE"}
        environment = given | SHELL_ENV
        self.bash = Bash(self.folder, self.cwd, environment)
        self.place = 0
        if self.exports:
            self.unanswered += 1
            back = f"\ncd -- {shlex.quote(self.cwd)}".encode(errors="surrogateescape")
            self.bash.give(self.exports + back, "/dev/null")
            self.wait_for_answer(UNWIND_S)

    def private_folder(self) -> str:
        problem: OSError | None = None
        for base in FIFO_FOLDERS:
            folder = f"{base}/.playproof-{os.urandom(4).hex()}"
            try:
                Path(folder).mkdir(0o700)
                os.mkfifo(f"{folder}/try")
                Path(f"{folder}/try").unlink()
                return folder
            except OSError as error:
                problem = error
        raise SystemExit(f"no folder can hold a FIFO: {problem}")

    def output_path(self) -> Fifo:
        spare, self.spare = self.spare, None
        if spare and spare.intact():
            spare.hold()
            return spare
        if spare:
            spare.close()
        for _ in range(2):
            self.fifos += 1
            with suppress(OSError):
                return Fifo(f"{self.folder}/out-{self.fifos}")
            self.folder = self.private_folder()
        raise SystemExit("no FIFO can be made")

    def listen_to_bash(self) -> None:
        for part in self.bash.fields() if self.bash else []:
            if self.place == 0:
                if self.unanswered:
                    self.unanswered -= 1
                elif self.job:
                    self.job.status = int(part)
            elif self.place == 1:
                self.cwd = os.fsdecode(part)
            else:
                self.exports = part
            self.place = (self.place + 1) % 3

    def wait_for_answer(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while self.bash and (self.unanswered or self.place) and time.monotonic() < end:
            self.wait(0.05)
            self.listen_to_bash()
            self.reap()
        return not self.unanswered

    def reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self.bash and pid == self.bash.pid:
                self.bash_ended(os.waitstatus_to_exitcode(status))

    def bash_ended(self, code: int) -> None:
        bash, self.bash = self.bash, None
        if bash is None:
            return
        words = bash.last_words()
        if len(words) >= 2:
            self.cwd, self.exports = os.fsdecode(words[0]), words[1]
        bash.close()
        self.unanswered = 0
        if self.job and self.job.status is None:
            self.job.status = code if code >= 0 else 128 - code
            if self.job.restarted is None:
                self.job.restarted = f"exit {code}" if code >= 0 else f"signal {-code}"
        self.start_bash()

    # -- one command

    def begin(self, order: Mapping[str, Any]) -> None:
        if self.job or not self.bash:
            return
        now = time.monotonic()
        if self.unanswered:
            self.wait_for_answer(
                ANSWER_S
            )  # else its text would take the place of one that bash has yet to read
        self.clear_crowd()
        swept, self.swept = self.swept, 0
        timeout = order["timeout_s"]
        job = Job(
            order["id"], self.output_path(), order["output_cap"], now,
            None if timeout is None else now + timeout, list(processes().values()),
        )  # fmt: skip
        met = self.gauges.met()
        if met != self.met:
            job.notes.append(
                "since the last command a background process met the container's memory or process limit"
            )
        self.met = met
        if swept:
            job.notes.append(f"{swept} older background processes were ended: they filled the process limit")
        self.job = job
        self.bash.give(order["command"].encode(), job.output.path)

    def pump_job(self) -> None:
        job = self.job
        if job is None:
            return
        if job.status is not None:
            job.output.release()
        while len(self.out) < OUT_QUEUE:
            data = job.output.read()
            if data is None:
                break
            if not data:
                if job.status is not None:
                    self.finish(job, held=False)
                break
            self.forward(job, data)
            if job.forwarded >= job.cap and job.status is None and job.stopped is None:
                self.stop(job, "output")
        if self.job is job and job.status is not None:
            now = time.monotonic()
            job.grace = job.grace or now + GRACE_S
            if now >= job.grace and len(self.out) < OUT_QUEUE:
                self.finish(job, held=True)

    def forward(self, job: Job, data: bytes) -> None:
        room = max(0, job.cap - job.forwarded)
        job.forwarded += min(room, len(data))
        job.dropped += max(0, len(data) - room)
        if room and job.stopped is None:
            self.say(frame(OUTPUT, data[:room]))

    def stop(self, job: Job, why: str) -> None:
        """Ends all that this command started, and gets the shell out of it with its state if it lets itself."""
        job.stopped = why
        job.killed += self.sweep(job.older, unwind=job.status is None)
        now = time.monotonic()
        end, again = now + UNWIND_S, now + RESIGNAL_S
        while job.status is None and self.bash and (now := time.monotonic()) < end:
            self.wait(0.02)
            while job.output.read():
                pass
            self.listen_to_bash()
            self.reap()
            if job.status is None:
                job.killed += self.sweep(job.older, unwind=now > again)
                again = now + RESIGNAL_S if now > again else again
        if job.status is None and self.bash:
            job.restarted = "stuck"
            send_signal([self.bash.pid], signal.SIGKILL)
            while job.status is None and time.monotonic() < end + SWEEP_S:
                self.reap()
                time.sleep(0.002)
        elif self.bash:
            # A signal may have come after the command had ended: let it be spent on nothing.
            self.unanswered += 1
            self.bash.give(b":", "/dev/null")
            self.wait_for_answer(UNWIND_S)
        job.killed += self.sweep(job.older)
        if why == "processes":
            self.clear_crowd()
        job.left = len(self.targets(job.older))

    def targets(self, older: list[Process]) -> set[int]:
        return started_by_command(processes(), older, self.bash.pid if self.bash else 0)

    def clear_crowd(self) -> None:
        """Ends every background process when they leave no room for a command, or fight over what there is."""
        met = self.gauges.met()
        if met[0] > self.met[0] or self.gauges.crowded():
            self.swept += self.sweep([])
            self.met = (self.gauges.met()[0], self.met[1])

    def sweep(self, older: list[Process], unwind: bool = False) -> int:
        """Stops what is to die until a look finds no more of it, and only then kills: nothing forks meanwhile."""
        killed: set[int] = set()
        end = time.monotonic() + SWEEP_S
        while time.monotonic() < end:
            still: set[int] = set()
            while new := self.targets(older) - still:
                send_signal(new, signal.SIGSTOP)
                still |= new
            if unwind and self.bash:
                send_signal([self.bash.pid], STOP_SIGNAL)
                unwind = False
            if not still:
                break
            send_signal(still, signal.SIGKILL)
            killed |= still
            time.sleep(0.001)
            self.reap()
        return len(killed)

    def finish(self, job: Job, held: bool) -> None:
        caps = self.caps_met(job)
        if held and job.killed:
            while data := job.output.read():
                self.forward(job, data)
            held = data is None
        log = None
        if job.stopped or not held:
            self.keep_or_close(job, held)
        else:
            log = self.to_background(job)
        self.job = None
        self.say(message(DONE, {
            "id": job.id, "status": job.status, "stopped": job.stopped, "restarted": job.restarted, "caps": caps,
            "full": sorted(job.full), "killed": job.killed, "left": job.left, "log": log, "notes": job.notes,
            "dropped": job.dropped, "seconds": round(time.monotonic() - job.begun, 6),
        }))  # fmt: skip

    def caps_met(self, job: Job) -> list[str]:
        now, before = self.gauges.met(), self.met
        self.met = now
        met: list[str] = []
        if now[1] > before[1]:
            met.append("memory")
        if now[0] > before[0]:
            met.append("pids")
            if job.stopped is None:
                job.killed += self.sweep(job.older)
            self.met = self.gauges.met()
            time.sleep(GRACE_S)
            self.clear_crowd()
            if self.swept:
                job.killed, self.swept = job.killed + self.swept, 0
                job.notes.append("older background processes were ended too: they filled the process limit")
        job.full |= full_disks()
        return met

    def keep_or_close(self, job: Job, held: bool) -> None:
        if held or self.spare:
            job.output.close()
        else:
            self.spare = job.output

    def to_background(self, job: Job) -> str:
        self.logs += 1
        log = BACKGROUND_FOLDER / f"bg-{self.logs}.log"
        with suppress(OSError):
            BACKGROUND_FOLDER.mkdir(exist_ok=True)
            log.touch()
        self.background.append((job.output, log, BACKGROUND_LOG))
        return str(log)

    def pump_background(self) -> None:
        for place, (fifo, log, room) in reversed(list(enumerate(self.background))):
            data = fifo.read()
            if data is None:
                continue
            if not data:
                fifo.close()
                del self.background[place]
                continue
            if room > 0:
                with suppress(OSError):
                    flags = (
                        os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                    )
                    out = os.open(log, flags, 0o644)
                    try:
                        os.write(out, data[:room])
                    finally:
                        os.close(out)
            self.background[place] = (fifo, log, room - len(data))


def lay_out_workspace(game: Path, workspace: Path) -> None:
    """The pristine game into an empty workspace, all of it the agent's to change; node_modules stays a link."""
    if not game.is_dir() or not os.access(workspace, os.W_OK) or any(workspace.iterdir()):
        return
    for source in sorted(game.iterdir()):
        target = workspace / source.name
        if source.name == "node_modules":
            target.symlink_to(source)
        elif source.is_dir() and not source.is_symlink():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy2(source, target, follow_symlinks=False)
    (workspace / "vitexec").mkdir(exist_ok=True)
    for folder, _, files in os.walk(workspace):
        Path(folder).chmod(0o755)
        for name in files:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | 0o600)


def _note_child(_number: int, _frame: object) -> None:
    """Nothing to do: the wakeup descriptor ends the wait, and the loop reaps."""


def main() -> NoReturn:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, _note_child)
    lay_out_workspace(Path("/opt/game"), Path("/workspace"))
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0):
        raise OSError(ctypes.get_errno() or errno.EPERM, "prctl(PR_SET_DUMPABLE) failed")
    Supervisor(float(os.environ.get("PLAYPROOF_EXPIRES") or 0)).serve()


if __name__ == "__main__":
    main()
