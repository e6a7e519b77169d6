"""One container of ours: its processes, its files and its end.

What is hard is that the engine's word comes late or wrong at the edges: a freeze can miss, an OOM is told after
the exit, a kill may find nothing left to kill. Each method hides one of these and says the plain truth.
"""

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from contracts.errors import InfraFailure
from harness.engine import commands, copying, exits
from harness.engine.api import Api, segment
from harness.engine.channel import STDOUT, Channel
from harness.engine.faults import EngineRefused, EngineTimeout
from harness.engine.spec import ArtifactRefused, ContainerSpec, ExecResult, ExitState, TreeCaps, TreeReport
from harness.engine.tarstream import TarStream
from harness.engine.unpack import read_single, unpack

COPY_TIMEOUT_S = 120.0
WAIT_SLICE_S = 30.0
FREEZE_TRIES_S = 10.0
OOM_NEWS_S = 1.0


class Container:
    """A container that exists; `start` it once, `remove` it in the end."""

    def __init__(self, api: Api, container_id: str, spec: ContainerSpec) -> None:
        self.id = container_id
        self.spec = spec
        self._api = api
        self._path = f"/containers/{segment(container_id)}"
        self._killed = False

    def __repr__(self) -> str:
        return f"Container({self.spec.role} {self.id[:12]} of {self.spec.run_id})"

    def attach(self) -> Channel:
        """PID 1's stdin, stdout and stderr; before `start`, so that nothing it says is missed."""
        raw, first = self._api.hijack(
            f"{self._path}/attach",
            f"attach to the {self.spec.role} container",
            params={"stream": "1", "stdin": "1", "stdout": "1", "stderr": "1"},
        )
        return Channel(raw, first)

    def start(self) -> None:
        self._api.call("POST", f"{self._path}/start", f"start the {self.spec.role} container")

    def exec(
        self,
        command: Sequence[str],
        *,
        timeout_s: float,
        stdin: bytes | None = None,
        max_output: int = commands.DEFAULT_OUTPUT_BYTES,
    ) -> ExecResult:
        """Runs a command beside PID 1 to its end, or kills it and its children at the deadline."""
        return commands.run(
            self._api, self.id, command, timeout_s=timeout_s, stdin=stdin, max_output=max_output
        )

    def open_exec(self, command: Sequence[str]) -> Channel:
        """A command's channel; closing it ends the command's stdin, not the command."""
        return commands.begin(self._api, self.id, command)

    def put(self, folder: str, files: Mapping[str, bytes], mode: int = 0o644) -> None:
        """Writes files (names relative to `folder`, which is made) as our user's own, in a running container."""
        folder = copying.clean_path(folder)
        mount = copying.volume_above(self.spec, folder)
        if mount is not None and not copying.on_plain_tmpfs(self.spec, folder):
            below = str(PurePosixPath(folder).relative_to(mount))
            copying.put_archive(self._api, self.id, mount, copying.tar_of(files, mode, below))
            return
        archive = copying.tar_of(files, mode)
        done = self.exec(["sh", "-c", copying.UNPACK, "put", folder], timeout_s=COPY_TIMEOUT_S, stdin=archive)
        if done.code != 0:
            said = done.stderr.decode("utf-8", "replace").strip()[-300:] or f"exit status {done.code}"
            raise InfraFailure(
                f"Files cannot be put into {folder} of the {self.spec.role} container: {said}."
            )

    def get_file(self, path: str, max_bytes: int) -> bytes:
        """One regular file, whole; ArtifactRefused says why there is none."""
        path = copying.clean_path(path)
        with self._archive(path) as chunks:
            return read_single(TarStream(chunks), path, max_bytes)

    def get_tree(self, path: str, dest: Path, caps: TreeCaps) -> TreeReport:
        """A folder's regular files and folders, into the empty folder `dest` on the host."""
        path = copying.clean_path(path)
        with self._archive(path) as chunks:
            return unpack(TarStream(chunks), dest, caps)

    def freeze(self) -> None:
        """Stops every process in it where it stands; files can still be taken out.

        A version 1 freezer misses its moment while processes are being born, so it is tried again for a while.
        """
        deadline = time.monotonic() + FREEZE_TRIES_S
        while True:
            try:
                return self._state_call("pause", f"freeze the {self.spec.role} container", "already paused")
            except EngineRefused as error:
                if "unable to freeze" not in error.reason.lower() or time.monotonic() > deadline:
                    raise

    def thaw(self) -> None:
        self._state_call("unpause", f"thaw the {self.spec.role} container", "not paused")

    def kill(self) -> None:
        """Ends every process in it at once, frozen or not. What was on its tmpfs is lost."""
        self._killed = True
        self._state_call("kill", f"kill the {self.spec.role} container", "not running")

    def remove(self) -> None:
        """Kills and removes the container; one that is gone already is fine."""
        remove_container(self._api, self.id)

    def state(self) -> ExitState:
        """How it is now. The engine hears of an OOM kill a moment later than of the exit, so a kill that was not
        ours is asked about again before it is called one."""
        deadline = time.monotonic() + OOM_NEWS_S
        while True:
            found = exits.state_of(self._inspect())
            count = None
            if found.get("Running") and self._api.endpoint.local:
                count = exits.oom_kills(self.id, int(found.get("Pid") or 0))
            state = exits.classify(found, count)
            if state.kind != "killed" or self._killed or time.monotonic() > deadline:
                return state
            time.sleep(0.05)

    def wait(self, timeout_s: float) -> ExitState | None:
        """How it ended, or None when it still runs after `timeout_s`."""
        deadline = time.monotonic() + timeout_s
        while True:
            left = deadline - time.monotonic()
            try:
                self._api.call(
                    "POST",
                    f"{self._path}/wait",
                    f"wait for the {self.spec.role} container",
                    timeout_s=max(0.05, min(left, WAIT_SLICE_S)),
                )
            except EngineTimeout:
                if time.monotonic() < deadline:
                    continue
                state = self.state()
                return None if state.running else state
            return self.state()

    @contextmanager
    def _archive(self, path: str) -> Generator[Iterator[bytes]]:
        if not copying.on_plain_tmpfs(self.spec, path):
            mount = copying.volume_above(self.spec, path) or "/"
            with copying.archive_of(self._api, self.id, path, mount) as chunks:
                yield chunks
            return
        place = PurePosixPath(path)
        with self.open_exec(["sh", "-c", copying.PACK, "pack", str(place.parent), place.name]) as channel:
            first = next(_stdout(channel), None)
            if first is None:
                raise ArtifactRefused(
                    path, "missing", f"There is no {path} in the container, or it lies behind a link."
                )
            yield _after(first, channel)

    def _inspect(self) -> Any:
        return self._api.json("GET", f"{self._path}/json", f"look at the {self.spec.role} container")

    def _state_call(self, verb: str, doing: str, fine: str) -> None:
        try:
            self._api.call("POST", f"{self._path}/{verb}", doing)
        except EngineRefused as error:
            if fine not in error.reason.lower():
                raise


def remove_container(api: Api, container_id: str) -> None:
    """Removes by force; one that is gone, or being removed by someone else, is fine."""
    try:
        api.call(
            "DELETE",
            f"/containers/{segment(container_id)}",
            "remove a container",
            params={"force": "1", "v": "1"},
        )
    except EngineRefused as error:
        if error.status != 404 and "already in progress" not in error.reason:
            raise


def _stdout(channel: Channel) -> Iterator[bytes]:
    while (piece := channel.recv(COPY_TIMEOUT_S)) is not None:
        if piece[0] == STDOUT:
            yield piece[1]


def _after(first: bytes, channel: Channel) -> Iterator[bytes]:
    yield first
    yield from _stdout(channel)
