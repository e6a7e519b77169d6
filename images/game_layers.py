"""Making a game's two layers: its files, and the optimiser cache that fits the server which will read it.

The files come from the pool and this repository; bundles and the cache are made in a container of the replay
image, without network, and only what was asked for is copied out of it. The cache's key holds the driver, so
a changed server never meets a cache that another one wrote.
"""

from __future__ import annotations

import io
import json
import tarfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker import DockerClient
from docker.errors import DockerException
from requests.exceptions import RequestException

from contracts.errors import InfraFailure
from images import npm
from images.build import BUILDER, Build, Layers, Progress
from images.games import Bundle, Game, layer_entries
from images.layers import Entry, write_entries
from images.lock import LockedLayer
from images.pool import Pool
from images.recipe import canonical_sha256

CACHE = "opt/game-cache"
WORK = "/workspace"
MADE_CACHE = "/tmp/cache"
STEP_TIMEOUT_S = 300
"""A bundle or an optimiser pass takes seconds; five minutes mean that it hangs."""

STANDING_CLOCK = "data:text/javascript,Date.now=()=>{epoch}"


@dataclass(frozen=True)
class GameBuild:
    """The layers of one game, made with one replay image."""

    game: Game
    replay: Build
    pool: Pool
    layers: Layers
    locked: tuple[LockedLayer, ...] = ()

    @property
    def files_key(self) -> str:
        built_with = self.replay.steps()[:-1][-1].key if self.game.recipe.build else ""
        return canonical_sha256([BUILDER, "game", self.replay.recipe.epoch, self.game.sha256, built_with])

    @property
    def cache_key(self) -> str:
        below = [step.key for step in self.replay.steps()[:-1]]
        return canonical_sha256([BUILDER, "game-cache", self.files_key, below, self.replay.server_sha256])

    @property
    def steps(self) -> list[tuple[str, str]]:
        """The game's layers as (step, key)."""
        cache = [("game-cache", self.cache_key)] if self.game.recipe.serve == "vite" else []
        return [("game", self.files_key), *cache]

    def foreseen(self) -> list[LockedLayer] | None:
        found: list[LockedLayer] = []
        for step, key in self.steps:
            diff_id = self.known(key)
            if diff_id is None:
                return None
            found.append(LockedLayer(step=step, key=key, diff_id=diff_id))
        return found

    def known(self, key: str) -> str | None:
        return self.layers.known(key) or next(
            (layer.diff_id for layer in self.locked if layer.key == key), None
        )

    def made(self, key: str) -> str | None:
        diff_id = self.known(key)
        return diff_id if diff_id and self.layers.file(diff_id).exists() else None

    def missing(self) -> bool:
        return any(self.made(key) is None for _, key in self.steps)

    def source_sha256(self) -> str:
        """The digest of the game's files, read from their layer."""
        made = self.made(self.files_key)
        if made is None:
            raise InfraFailure(
                f"The game {self.game.recipe.name} is not built; run `playproof images build` with it."
            )
        with tarfile.open(self.layers.file(made)) as layer:
            stream = layer.extractfile("opt/game.json")
            return json.loads(stream.read() if stream else b"{}")["source_sha256"]

    def make_files(self, client: DockerClient | None, replay_ref: str, progress: Progress) -> None:
        recipe = self.game.recipe
        if self.made(self.files_key):
            return
        progress(f"{recipe.name}: making the layer game")
        npm.fetch(self.game.npm_pins(), self.pool)
        files = self.game.project(self.pool)
        if recipe.build:
            if client is None:
                raise InfraFailure(
                    f"The game {recipe.name} is bundled in a container; start the engine first."
                )
            files.update(bundle(client, replay_ref, files, recipe.build))
        self._keep("game", self.files_key, layer_entries(recipe, files))

    def make_cache(self, client: DockerClient, game_ref: str, progress: Progress) -> None:
        """Runs the optimiser in an image that holds the files already."""
        if self.game.recipe.serve != "vite" or self.made(self.cache_key):
            return
        progress(f"{self.game.recipe.name}: making the layer game-cache")
        server = [
            "node",
            "/opt/playproof/driver/server.mjs",
            "--root",
            WORK,
            "--cache-dir",
            MADE_CACHE,
            "--optimize-only",
        ]
        clock = STANDING_CLOCK.replace("{epoch}", f"{self.replay.recipe.epoch}000")
        with Box(client, game_ref, server, {"NODE_OPTIONS": f"--import={clock}"}) as box:
            box.run(f"optimising {self.game.recipe.name}")
            made = box.take(MADE_CACHE)
        self._keep("game-cache", self.cache_key, {f"{CACHE}/{path}": entry for path, entry in made.items()})

    def _keep(self, step: str, key: str, entries: Mapping[str, Entry]) -> None:
        def make(target: Path) -> str:
            with target.open("wb") as out:
                return write_entries(out, entries, self.replay.recipe.epoch)

        self.layers.keep(step, key, make)


def bundle(
    client: DockerClient, image: str, files: Mapping[str, Entry], bundles: Sequence[Bundle]
) -> dict[str, Entry]:
    """What esbuild makes of the files, by path."""
    found: dict[str, Entry] = {}
    for wanted in bundles:
        flags = [f"--format={wanted.format}", *wanted.options]
        flags += [f"--global-name={wanted.global_name}"] if wanted.global_name else []
        command = [
            "esbuild",
            wanted.entry,
            "--bundle",
            f"--outfile={wanted.out}",
            "--log-level=error",
            *flags,
        ]
        with Box(client, image, command, {}) as box:
            box.give(WORK, files)
            box.run(f"bundling {wanted.entry}")
            found[wanted.out] = box.take(f"{WORK}/{wanted.out}")[wanted.out.rpartition("/")[2]]
    return found


class Box:
    """A container for one command of ours on untrusted files: no network, no rights, gone afterwards."""

    def __init__(
        self, client: DockerClient, image: str, command: list[str], environment: Mapping[str, str]
    ) -> None:
        try:
            self._container = client.containers.create(
                image,
                command,
                name=f"playproof-build-{uuid.uuid4().hex[:12]}",
                environment=dict(environment),
                network_mode="none",
                cap_drop=["ALL"],
                security_opt=["no-new-privileges"],
                user="1000:1000",
                working_dir=WORK,
                pids_limit=256,
                mem_limit="2g",
                init=True,
                labels={"org.playproof.build": "1"},
            )
        except (DockerException, RequestException) as error:
            raise InfraFailure(
                f"The engine could not make a container of {image} to build in: {error}"
            ) from error

    def __enter__(self) -> Box:
        return self

    def __exit__(self, *_: object) -> None:
        self._container.remove(force=True, v=True)

    def give(self, folder: str, files: Mapping[str, Entry]) -> None:
        buffer = io.BytesIO()
        write_entries(
            buffer, {path: Entry(item.data, item.mode, 1000) for path, item in files.items()}, 0, 1000
        )
        container: Any = self._container
        container.put_archive(folder, buffer.getvalue())

    def run(self, what: str) -> None:
        try:
            self._container.start()
            code = self._container.wait(timeout=STEP_TIMEOUT_S)["StatusCode"]
            said = self._container.logs(tail=5).decode(errors="replace").strip()
        except (DockerException, RequestException) as error:
            raise InfraFailure(f"The container for {what} did not end well: {error}") from error
        if code != 0:
            raise InfraFailure(
                f"The step {what} failed with exit {code}: {said.splitlines()[-1] if said else 'no message'}"
            )

    def take(self, path: str) -> dict[str, Entry]:
        """The regular files at or below `path`, by their path below it (a single file by its name)."""
        try:
            pieces, _ = self._container.get_archive(path)
        except DockerException as error:
            raise InfraFailure(f"The build left no {path} in its container: {error}") from error
        found: dict[str, Entry] = {}
        with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isreg() else None
                if stream:
                    inner = member.name.partition("/")[2] or member.name
                    found[inner] = Entry(stream.read(), 0o755 if member.mode & 0o100 else 0o644)
        return found
