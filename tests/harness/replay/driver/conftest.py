"""One hardened container of the replay image for all of the driver's tests, with the driver of this tree in it, and a stand: one page
that stays open while tests play scripts in it."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import pytest

from harness.engine import Channel, Container, ContainerSpec, Engine, ExecResult, Limits
from images.store import ImageStore

HERE = Path(__file__).parent
DRIVER = Path(__file__).parents[4] / "harness" / "replay" / "driver"
LIMITS = Limits(memory_bytes=3 << 30, pids=1024, cpus=2.0)
PYTHON_PATH = "/tmp:/opt/playproof/python"
ANSWER_TIMEOUT_S = 180.0  # a busy machine starts a browser slowly

PRELUDE = """
import { keyboard, mouse } from "vitexec";
import { seen, state } from "/src/state.ts";
const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));
const until = async (test: () => boolean) => { for (let k = 0; k < 2000 && !test(); k++) await sleep(5); };
const refused = async (call: () => Promise<void>) => {
  try { await call(); return "no error"; } catch (error) { return (error as Error).message; }
};
const say = (value: unknown) => console.log(JSON.stringify(value));
const total = (axis: "dx" | "dy") => seen.reduce((sum, event) => sum + event[axis], 0);
const kinds = () => seen.filter((event) => event.type !== "mousemove").map((event) => `${event.type} ${event.detail}`);
seen.length = 0;
"""
"""What the tests' scripts have at hand."""


PROCESSES = """
import json, pathlib
found = [path.read_bytes().replace(b"\\0", b" ").decode() for path in pathlib.Path("/proc").glob("[0-9]*/cmdline")]
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Box:
    """The container, and commands in it."""

    container: Container

    def put_tree(self, source: Path, folder: str) -> None:
        files = {
            path: path.read_bytes()
            for path in source.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        self.container.put(folder, {str(path.relative_to(source)): data for path, data in files.items()})

    def put(self, path: str, text: str) -> None:
        folder, _, name = path.rpartition("/")
        self.container.put(folder, {name: text.encode()})

    def run(
        self,
        *command: str,
        folder: str = "/workspace",
        timeout_s: float = ANSWER_TIMEOUT_S,
        **environment: str,
    ) -> ExecResult:
        settings = [f"{name}={value}" for name, value in environment.items()]
        return self.container.exec(["env", "-C", folder, *settings, *command], timeout_s=timeout_s)

    def processes(self) -> list[str]:
        """The command lines that run in the container."""
        done = self.run("python3", "-c", PROCESSES)
        return [line for line in json.loads(done.stdout) if line]

    def vitexec(
        self, *words: str, folder: str = "/workspace", timeout_s: float = ANSWER_TIMEOUT_S, **environment: str
    ) -> ExecResult:
        return self.run(
            "python3", "-m", "driver.vitexec", *words, folder=folder, timeout_s=timeout_s, **environment
        )


@dataclass(frozen=True)
class Played:
    """What came of the scripts that were played."""

    results: list[dict[str, Any]]
    logs: list[str]
    dispatched: list[list[Any]]
    bypasses: list[str]

    @property
    def status(self) -> str:
        return self.results[0]["status"]

    @property
    def message(self) -> str:
        return self.results[0]["message"]

    @property
    def said(self) -> list[str]:
        """The lines of console.log, without their mark."""
        return [line.removeprefix("[log] ") for line in self.logs if line.startswith("[log] ")]

    @property
    def value(self) -> Any:
        """The last logged line, read as JSON."""
        assert self.said, (self.results, self.logs)
        return json.loads(self.said[-1])

    def sent(self, *kinds: str) -> list[list[Any]]:
        return [event[1:] for event in self.dispatched if not kinds or event[1] in kinds]


class Lines:
    """JSON lines to and from a program in the container."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._rest = b""

    def ask(self, order: dict[str, Any]) -> dict[str, Any]:
        self.channel.send(json.dumps(order).encode() + b"\n")
        answer = json.loads(self.line())
        assert "failure" not in answer, answer["failure"]
        return answer

    def line(self) -> bytes:
        errors = b""
        while b"\n" not in self._rest:
            got = self.channel.recv(ANSWER_TIMEOUT_S)
            assert got is not None, f"the program ended: {errors.decode()[-2000:]}"
            stream, data = got
            if stream == 1:
                self._rest += data
            else:
                errors += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line


class Stand:
    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def open(self, **options: str) -> None:
        self._lines.ask({"op": "open", "with": options})

    def play(self, *scripts: str, **limits: float) -> Played:
        return Played(
            **self._lines.ask({"op": "play", "scripts": scripts, "limits": {"timeout_s": 60, **limits}})
        )


@pytest.fixture(scope="session")
def box() -> Iterator[Box]:
    engine = Engine.connect()
    image = os.environ.get("PLAYPROOF_TEST_REPLAY_IMAGE")
    if image is None:
        image = ImageStore().ready("replay", None, docker.from_env()).engine_ref
    run_id = f"test-driver-{os.getpid()}"
    spec = ContainerSpec(
        image=image,
        role="browser",
        run_id=run_id,
        command=("sleep", "3600"),
        limits=LIMITS,
        env={"PYTHONPATH": PYTHON_PATH},
        tmpfs={"/workspace": 64 << 20},
        workdir="/workspace",
    )
    container = engine.create(spec)
    try:
        container.start()
        box = Box(container)
        box.put_tree(DRIVER, "/tmp/driver")
        box.put_tree(HERE / "project", "/workspace")
        box.put_tree(HERE / "page", "/tmp/page")
        container.put("/tmp", {"stand.py": (HERE / "stand.py").read_bytes()})
        yield box
    finally:
        container.kill()
        engine.remove_run(run_id)
        engine.close()


def start_stand(box: Box, **options: str) -> Iterator[Stand]:
    with box.container.open_exec(["python3", "/tmp/stand.py"]) as channel:
        stand = Stand(Lines(channel))
        stand.open(**options)
        yield stand


@pytest.fixture(scope="module")
def stand(box: Box) -> Iterator[Stand]:
    """A page of the Vite project, shared by a module's tests."""
    yield from start_stand(box)


@pytest.fixture(scope="module")
def static_stand(box: Box) -> Iterator[Stand]:
    """A page of plain files."""
    yield from start_stand(box, serve="static", page="/game/", root="/tmp/page")
