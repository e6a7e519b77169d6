"""How a recipe and its pins become layers, step by step.

Each step has a key, the digest of everything it is made from, so a step is done once for a key and only what
changed is done again: an edited driver costs the last, small layer. A key that images.lock knows should give
the layer that the lock knows; where it does not (another version of a build tool on this host), that is drift
like any other: said, and used only when the operator accepts it. The agent's Debian layer is the difference of two whole roots, which is what lets the
agent and the replay share all that lies below it.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from contracts.errors import InfraFailure
from images import bootstrap, npm, wheels
from images.archive import Image, compose
from images.files import write_atomic
from images.layers import Entry, write_difference, write_entries, write_root
from images.lock import LockedLayer, LockEntry, Pins
from images.pool import Pool
from images.recipe import Recipe, canonical_sha256, load_recipe, recipe_sha256, repo_files

Progress = Callable[[str], None]
MakeLayer = Callable[[Path], str]

BUILDER = 2
"""Raised when a step comes to make other bytes from the same pins."""

SERVER_SUFFIXES = (".mjs", ".js")


@dataclass(frozen=True)
class Layers:
    """The layers on disk, and which step each was made by."""

    root: Path

    def file(self, diff_id: str) -> Path:
        return self.root / "layers" / f"{diff_id.removeprefix('sha256:')}.tar"

    def known(self, key: str) -> str | None:
        record = self.root / "steps" / f"{key}.json"
        return json.loads(record.read_text())["diff_id"] if record.exists() else None

    def made(self, key: str) -> str | None:
        diff_id = self.known(key)
        return diff_id if diff_id and self.file(diff_id).exists() else None

    def keep(self, step: str, key: str, make: MakeLayer) -> str:
        (self.root / "layers").mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=self.root / "layers") as folder:
            temporary = Path(folder) / "layer.tar"
            diff_id = make(temporary)
            temporary.replace(self.file(diff_id))
        self.record(step, key, diff_id)
        return diff_id

    def record(self, step: str, key: str, diff_id: str) -> None:
        write_atomic(
            self.root / "steps" / f"{key}.json", json.dumps({"step": step, "diff_id": diff_id}).encode()
        )


@dataclass(frozen=True)
class Step:
    """One layer to be: what it is called, what it depends on, how it is made."""

    name: str
    key: str
    make: MakeLayer


@dataclass
class Build:
    """The steps of one image."""

    recipe: Recipe
    entry: LockEntry
    pool: Pool
    layers: Layers
    lower: Build | None = None
    files_sha256: str = field(init=False)
    server_sha256: str = field(init=False)
    """Of the part of the driver that runs in Node: what an optimiser cache depends on."""
    app: bytes = field(init=False, repr=False)
    app_id: str = field(init=False)

    def __post_init__(self) -> None:
        files = repo_files(self.recipe)
        self.files_sha256 = recipe_sha256(self.recipe, files)
        self.server_sha256 = canonical_sha256(
            [
                [item.path, hashlib.sha256(item.data).hexdigest()]
                for item in files
                if item.path.endswith(SERVER_SUFFIXES)
            ]
        )
        entries = {item.path.lstrip("/"): Entry(item.data, item.mode) for item in files}
        for folder in self.recipe.folders:
            entries[folder.path.lstrip("/")] = Entry(mode=int(folder.mode, 8), owner=folder.owner)
        buffer = io.BytesIO()
        self.app_id = write_entries(buffer, entries, self.recipe.epoch)
        self.app = buffer.getvalue()

    @property
    def pins(self) -> Pins:
        return self.entry.pins

    def steps(self) -> list[Step]:
        """From the lowest layer up."""
        shared = self.lower.steps()[:-1] if self.lower else [self._base(), self._python(), self._npm()]
        own = [self._difference(shared[0])] if self.lower else []
        return [*shared, *own, Step("app", canonical_sha256([BUILDER, "app", self.app_id]), self._make_app)]

    def _key(self, step: str, *parts: object) -> str:
        return canonical_sha256([BUILDER, step, self.recipe.epoch, *parts])

    def _root_parts(self) -> list[object]:
        user = self.recipe.user.model_dump(mode="json") if self.recipe.user else None
        debs = {name: pin.model_dump(mode="json") for name, pin in self.pins.debian.items()}
        return [self.recipe.debian.suite, user, debs]

    def _base(self) -> Step:
        return Step("debian", self._key("debian", *self._root_parts()), self._make_base)

    def _python(self) -> Step:
        pins = {name: pin.model_dump(mode="json") for name, pin in self.pins.pypi.items()}
        key = self._key(
            "python",
            self._base().key,
            pins,
            self.recipe.python and self.recipe.python.model_dump(mode="json"),
        )
        return Step("python", key, self._make_python)

    def _npm(self) -> Step:
        pins = {place: pin.model_dump(mode="json") for place, pin in self.pins.npm.items()}
        return Step("npm", self._key("npm", pins, self.recipe.npm.model_dump(mode="json")), self._make_npm)

    def _difference(self, base: Step) -> Step:
        return Step(
            "debian-more",
            self._key("debian-more", base.key, *self._root_parts()),
            self._make_difference(base),
        )

    def _make_base(self, target: Path) -> str:
        """The root, and on the way the wheels compiled by its Python, kept as the layer of the next step."""
        python = self.recipe.python
        with tempfile.TemporaryDirectory(prefix=".part-", dir=self.layers.root) as name:
            root, wheel_tar, compiled_tar = (
                Path(name) / part for part in ("root.tar", "wheels.tar", "compiled.tar")
            )
            compiled = bootstrap.Compile(wheel_tar, python.target, compiled_tar) if python else None
            if python:
                with wheel_tar.open("wb") as out:
                    write_entries(out, wheels.entries(python, self.pins.pypi, self.pool), self.recipe.epoch)
            bootstrap.make_root(self.recipe, self.pins.debian, self.pool, root, compiled)
            if python:
                above = str(PurePosixPath(python.target).parent)
                self.layers.keep(
                    "python", self._python().key, lambda path: self._rewrite(compiled_tar, path, above)
                )
            return self._rewrite(root, target)

    def _make_python(self, target: Path) -> str:
        """Reached when the base is there and its compiled wheels are not: the base is made again for them."""
        with tempfile.TemporaryDirectory(prefix=".part-", dir=self.layers.root) as name:
            self._make_base(Path(name) / "again.tar")
        made = self.layers.made(self._python().key)
        if made is None:
            raise InfraFailure(
                f"Recipe {self.recipe.name!r} has wheels but gave no Python layer; build it again."
            )
        target.write_bytes(self.layers.file(made).read_bytes())
        return made

    def _make_npm(self, target: Path) -> str:
        with target.open("wb") as out:
            return write_entries(
                out, npm.entries(self.recipe.npm, self.pins.npm, self.pool), self.recipe.epoch
            )

    def _make_difference(self, base: Step) -> MakeLayer:
        def make(target: Path) -> str:
            with tempfile.TemporaryDirectory(prefix=".part-", dir=self.layers.root) as name:
                root = Path(name) / "root.tar"
                bootstrap.make_root(self.recipe, self.pins.debian, self.pool, root)
                smaller = self.layers.made(base.key)
                if smaller is None:
                    raise InfraFailure(
                        f"The Debian layer below {self.recipe.name!r} is missing; build that image first."
                    )
                with target.open("wb") as out:
                    return write_difference(self.layers.file(smaller), root, out, self.recipe.epoch)

        return make

    def _make_app(self, target: Path) -> str:
        target.write_bytes(self.app)
        return self.app_id

    def _rewrite(self, source: Path, target: Path, folder: str = "") -> str:
        with target.open("wb") as out:
            return write_root(source, out, self.recipe.epoch, folder)

    def locked(self, step: Step) -> str | None:
        """The layer that the lock promises for this very key."""
        locked = self.entry.built.layers if self.entry.built else ()
        return next((layer.diff_id for layer in locked if layer.key == step.key), None)

    def foreseen(self) -> list[LockedLayer] | None:
        """The layers as far as they are known without making any; None when one is not known."""
        found: list[LockedLayer] = []
        for step in self.steps():
            diff_id = self.app_id if step.name == "app" else self.layers.known(step.key) or self.locked(step)
            if diff_id is None:
                return None
            found.append(LockedLayer(step=step.name, key=step.key, diff_id=diff_id))
        return found

    def make(self, progress: Progress) -> list[LockedLayer]:
        self.layers.root.mkdir(parents=True, exist_ok=True)
        done: list[LockedLayer] = []
        for step in self.steps():
            promised = self.locked(step)
            diff_id = self.layers.made(step.key) or (
                promised if promised and self.layers.file(promised).exists() else None
            )
            if diff_id is None:
                progress(f"{self.recipe.name}: making the layer {step.name}")
                diff_id = self.layers.keep(step.name, step.key, step.make)
            done.append(LockedLayer(step=step.name, key=step.key, diff_id=diff_id))
        return done

    def unlike_the_lock(self, layers: list[LockedLayer]) -> list[str]:
        """The steps that made other bytes than the lock has for the same key."""
        return [
            layer.step
            for step, layer in zip(self.steps(), layers, strict=True)
            if (promised := self.locked(step)) and promised != layer.diff_id
        ]

    def image(self, layers: list[LockedLayer]) -> Image:
        labels = {"org.playproof.recipe": self.files_sha256}
        return compose(
            self.recipe.name, self.recipe, [(layer.step, layer.diff_id) for layer in layers], labels
        )


def plan(name: str, entries: Callable[[str], LockEntry], pool: Pool, layers: Layers) -> Build:
    """The build of one image and, below it, of the one it extends."""
    recipe = load_recipe(name)
    lower = plan(recipe.extends, entries, pool, layers) if recipe.extends else None
    return Build(recipe, entries(name), pool, layers, lower)
