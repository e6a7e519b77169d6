"""The images of this home: which image a name means now, made if missing, in the engine when needed.

A name (`agent`, `replay`, with or without a game) means what the recipe, the repository's files and the lock
say at this moment, and that is a digest known before anything is built. So a changed file gives another
digest, never the same one with other contents. What is hard is that a game's cache layer is made by running
the image below it: the digest of an image with a game is known from its first build on, and `ready` is the
one call that always answers with a digest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, MutableSequence, Sequence
from dataclasses import replace
from pathlib import Path

from docker import DockerClient

from contracts.errors import InfraFailure, WrongInput
from images import saved
from images.archive import Image, compose
from images.build import Build, Layers, Progress, plan
from images.engine_load import engine_reference, keeps_whole_images, load_image
from images.files import alone, write_atomic
from images.game_layers import GameBuild
from images.games import game_names, load_game
from images.lock import LOCK_PATH, Built, Lock, LockedLayer, LockEntry, Pins, read_lock, write_lock
from images.pinning import accepted, answers, pinned
from images.pool import Pool
from images.recipe import REPO, canonical_sha256, load_recipe, recipe_names
from images.ref import ImageRef, Listed, ListedState, full_name
from images.saved import Problem, verify_layers

HOME_VARIABLE = "PLAYPROOF_HOME"
GAMES_RUN_ON = "replay"


def default_home() -> Path:
    return Path(os.environ.get(HOME_VARIABLE) or REPO / ".playproof")


def silent(_: str) -> None:
    return None


class ImageStore:
    """Everything under <home>/images: the pool, the layers, this home's own lock."""

    def __init__(self, home: Path | None = None, lock_path: Path = LOCK_PATH) -> None:
        self.root = (home or default_home()) / "images"
        self.pool = Pool(self.root / "pool")
        self.layers = Layers(self.root)
        self.lock_path = lock_path
        self.drift_path = self.root / "images.lock"
        self.current_path = self.root / "current.json"

    def lock(self) -> Lock:
        """The repository's lock, or this home's own while that is what became of just these pins."""
        lock, own = read_lock(self.lock_path), read_lock(self.drift_path)
        return own if own.state == "drifted" and own.drifted_from == lock.pins_sha256() else lock

    def resolve(self, name: str, game: str | None = None) -> ImageRef:
        """What the name means now; nothing is built."""
        lock = self.lock()
        build = self._plan(name, lock)
        image = self._foreseen(build, self._game(game, lock) if game else None)
        return self._ref(build, lock, image, game)

    def is_built(self, name: str, game: str | None = None) -> bool:
        """Whether the image's layers lie in this home."""
        digest = self.resolve(name, game).digest
        image = self._image_of(name, game) if digest else None
        return image is not None and all(self.layers.file(layer).exists() for layer in image.layers)

    def ensure(self, ref: ImageRef, client: DockerClient, progress: Progress = silent) -> ImageRef:
        """The image in the engine, built when it is missing; the answer always has its digest."""
        current = self.resolve(ref.name, ref.game)
        found = engine_reference(client, current.digest, full_name(ref)) if current.digest else None
        if found:
            return replace(current, engine_ref=found)
        with alone(self.root / "building"):
            return self._make_ready(ref.name, ref.game, client, progress)

    def _write(self, lock: Lock) -> None:
        if lock != self.lock():
            write_lock(lock, self.drift_path if lock.state == "drifted" else self.lock_path)

    def _make_ready(self, name: str, game: str | None, client: DockerClient, progress: Progress) -> ImageRef:
        if not self.is_built(name):
            self._build([name], False, progress)
        if game:
            self._build_game(game, client, progress)
        image = self._image_of(name, game)
        if image is None:
            raise InfraFailure(f"The files of image {name} changed while it was being built; try again.")
        found = engine_reference(client, image.digest, image.name)
        reference = found or load_image(client, image, self.layer_files(image), progress)
        return replace(self.resolve(name, game), engine_ref=reference)

    def ready(
        self, name: str, game: str | None, client: DockerClient, progress: Progress = silent
    ) -> ImageRef:
        return self.ensure(self.resolve(name, game), client, progress)

    def build(
        self, names: Iterable[str], *, accept_drift: bool = False, progress: Progress = silent
    ) -> Sequence[ImageRef]:
        """Makes the layers of these images and writes what they are into the lock."""
        with alone(self.root / "building"):
            return self._build(names, accept_drift, progress)

    def _build(self, names: Iterable[str], accept_drift: bool, progress: Progress) -> Sequence[ImageRef]:
        wanted = [found for name in names for found in self._with_lower(name)]
        names = list(dict.fromkeys(wanted))
        lock = self.lock()
        lacking = [load_recipe(name) for name in names if not self._has_packages(name, lock)]
        lock = pinned(lock, lacking, self.pool, accept_drift, progress)
        for name in names:
            build = self._plan(name, lock)
            layers = build.make(progress)
            if unlike := build.unlike_the_lock(layers):
                lock = accepted(lock, name, unlike, accept_drift, progress)
            digest = build.image(layers).digest
            built = Built(recipe_sha256=build.files_sha256, layers=tuple(layers), digest=digest)
            lock = lock.with_entry(name, LockEntry(pins=lock.images[name].pins, built=built))
            progress(f"{name}: {digest}")
        self._write(lock)
        refs = [self.resolve(name) for name in names]
        known: dict[str, str] = (
            json.loads(self.current_path.read_text()) if self.current_path.exists() else {}
        )
        told = {**known, **{ref.name: ref.digest for ref in refs}}
        write_atomic(self.current_path, json.dumps(told, indent=1).encode())
        return refs

    def _build_game(self, game: str, client: DockerClient, progress: Progress) -> None:
        """Makes the game's layers, in containers of the replay image where that takes running something."""
        build = self._game(game, self.lock())
        if build.missing():
            replay = self._make_ready(GAMES_RUN_ON, None, client, progress)
            build.make_files(client, replay.engine_ref, progress)
        if build.missing():
            files = LockedLayer(step="game", key=build.files_key, diff_id=build.known(build.files_key) or "")
            image = self._compose(build.replay, build, [*(build.replay.foreseen() or []), files])
            reference = load_image(client, image, self.layer_files(image), progress, tag=False)
            build.make_cache(client, reference, progress)
        lock = self.lock()
        self._write(lock.model_copy(update={"games": {**lock.games, game: tuple(build.foreseen() or ())}}))

    def game_source(self, game: str) -> str:
        """The digest of a game's files as they lie in its image."""
        build = self._game(game, self.lock())
        build.make_files(None, "", silent)
        return build.source_sha256()

    def list(self) -> Sequence[Listed]:
        """Every image and every image with a game, as they are now; then images known by digest only."""
        refs = [self.resolve(name, game) for name in recipe_names() for game in (None, *game_names())]
        rows = [self._listed(ref) for ref in refs]
        named = {row.digest for row in rows}
        for path in sorted((self.root / "configs").glob("*.json")):
            digest = f"sha256:{path.stem}"
            if digest not in named:
                rows.append(Listed("", None, digest, "by digest only", 0, False))
        return rows

    def verify(self) -> Sequence[Problem]:
        """Every file of this home that is not what its name or the lock says."""
        problems = verify_layers(self.layers)
        lock = self.lock()
        files = {
            path: found
            for entry in lock.images.values()
            for path, found in self.pool.files(entry.pins).items()
        }
        for path in self.pool.missing({path: found for path, found in files.items() if path.exists()}):
            problems.append(Problem(str(path), "damaged", f"the lock says {files[path]}; delete the file"))
        for name, entry in lock.images.items():
            ref = self.resolve(name)
            if (
                entry.built
                and entry.built.recipe_sha256 == ref.recipe_sha256
                and entry.built.digest != ref.digest
            ):
                told = f"{name} comes out as {ref.digest} where the lock says {entry.built.digest}; build it again"
                problems.append(Problem(str(self.lock_path), "other digest", told))
        return problems

    def save(self, names: Iterable[str], path: Path, progress: Progress = silent) -> None:
        """Images into one file; a game stands after a colon (`agent:breakout`)."""
        images: MutableSequence[Image] = []
        for wanted in names:
            name, _, game = wanted.partition(":")
            self.build([name], progress=progress)
            if not self.is_built(name, game or None):
                raise WrongInput(
                    f"The image {wanted} is not built in this home; run `playproof images build` first."
                )
            image = self._image_of(name, game or None)
            images += [image] if image else []
        saved.save(images, self.layers, path, progress)

    def load(self, path: Path, client: DockerClient | None, progress: Progress = silent) -> Sequence[str]:
        """Takes a saved file in, and into the engine when there is one; returns the images' digests."""
        images = saved.load(path, self.layers, progress)
        if client is None:
            return [image.digest for image in images]
        for image in images:
            load_image(client, image, self.layer_files(image), progress, tag=keeps_whole_images(client))
        return [image.digest for image in images]

    def _has_packages(self, name: str, lock: Lock) -> bool:
        """Whether the layers that packages are in lie here, so that only our own files may be missing."""
        build = self._plan(name, lock)
        layers = build.foreseen() if answers(lock, build.recipe) else None
        return layers is not None and all(self.layers.file(layer.diff_id).exists() for layer in layers[:-1])

    def _listed(self, ref: ImageRef) -> Listed:
        image = self._image_of(ref.name, ref.game)
        files = [self.layers.file(layer) for layer in image.layers] if image else []
        there = [path for path in files if path.exists()]
        state: ListedState = (
            "built"
            if files and there == files
            else "out of date"
            if self._has_packages(ref.name, self.lock())
            else "not built"
        )
        return Listed(
            ref.name, ref.game, ref.digest, state, sum(path.stat().st_size for path in there), ref.drifted
        )

    def layer_files(self, image: Image) -> dict[str, Path]:
        return {diff_id: self.layers.file(diff_id) for diff_id in image.layers}

    def image(self, ref: ImageRef) -> Image | None:
        return self._image_of(ref.name, ref.game)

    def _with_lower(self, name: str) -> Sequence[str]:
        lower = load_recipe(name).extends
        return [*(self._with_lower(lower) if lower else []), name]

    def _plan(self, name: str, lock: Lock) -> Build:
        return plan(
            name, lambda which: lock.images.get(which) or LockEntry(pins=Pins()), self.pool, self.layers
        )

    def _game(self, game: str, lock: Lock) -> GameBuild:
        locked = lock.games.get(game, ())
        return GameBuild(load_game(game), self._plan(GAMES_RUN_ON, lock), self.pool, self.layers, locked)

    def _image_of(self, name: str, game: str | None) -> Image | None:
        lock = self.lock()
        return self._foreseen(self._plan(name, lock), self._game(game, lock) if game else None)

    def _foreseen(self, build: Build, game: GameBuild | None) -> Image | None:
        lower = build.foreseen() if build.entry.pins.requests else None
        upper = game.foreseen() if game else []
        return self._compose(build, game, [*lower, *upper]) if lower and upper is not None else None

    def _compose(self, build: Build, game: GameBuild | None, layers: Sequence[LockedLayer]) -> Image:
        labels = {"org.playproof.recipe": build.files_sha256}
        name = build.recipe.name
        if game:
            recipe = game.game.recipe
            name = f"{name}-{recipe.name}"
            labels["org.playproof.game"] = f"{recipe.name}@{recipe.version}"
            labels["org.playproof.game.recipe"] = game.game.sha256
        return compose(name, build.recipe, [(layer.step, layer.diff_id) for layer in layers], labels)

    def _ref(self, build: Build, lock: Lock, image: Image | None, game: str | None) -> ImageRef:
        return ImageRef(
            name=build.recipe.name,
            digest=image.digest if image else "",
            recipe_sha256=build.files_sha256,
            lock_sha256=canonical_sha256(build.entry.pins.model_dump(mode="json")),
            drifted=lock.state == "drifted",
            labels=image.labels if image else {},
            game=game,
        )
