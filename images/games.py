"""Games as thin layers: /opt/game, /opt/game.json and Vite's pristine cache over any of our images.

A game's recipe names a published package by version and integrity (or a folder of ours), what to take of it,
and a few files of our own to lay over it; none of the package is kept in this repository. The files' layer
depends on the recipe alone. The cache's layer has to be made by the very server that will use it, at the very
path, in a container; Vite writes the time of day into it, so that server runs with a clock that stands still.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

import yaml
from pydantic import Field, ValidationError

from contracts.canonical import sha256_json
from contracts.errors import WrongInput
from images import npm
from images.layers import Entry
from images.lock import NpmPin
from images.pool import Pool
from images.recipe import IGNORED_NAMES, REPO, Strict, describe, first_line

GAMES = REPO / "images" / "games"
GAME = "opt/game"
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
Integrity = Annotated[str, Field(pattern=r"^sha512-[A-Za-z0-9+/]{86}==$")]


class NpmSource(Strict):
    """Files of a published package; `strip` is a folder whose content moves to the top."""

    npm: Annotated[str, Field(pattern=r"^(@[^/@]+/)?[^/@]+@[0-9][^@]*$")]
    integrity: Integrity
    include: tuple[str, ...] = ("**",)
    exclude: tuple[str, ...] = ()
    strip: str = ""

    def pin(self) -> NpmPin:
        name, _, version = self.npm.rpartition("@")
        return NpmPin(name=name, version=version, integrity=self.integrity)


class LocalSource(Strict):
    """A folder beside the recipe."""

    local: str


class Dependency(Strict):
    version: str
    integrity: Integrity


class Bundle(Strict):
    """One esbuild run inside the image, without network, before the source is sealed."""

    entry: str
    out: str
    format: Literal["iife", "esm"] = "iife"
    global_name: str = ""
    options: tuple[str, ...] = ()


class GameRecipe(Strict):
    name: Name
    version: str
    licence: str
    licence_file: str = ""
    serve: Literal["vite", "static"]
    entry: Annotated[str, Field(pattern=r"^/")]
    source: NpmSource | LocalSource
    dependencies: dict[str, Dependency] = Field(default_factory=dict[str, Dependency])
    overlay: str = ""
    build: tuple[Bundle, ...] = ()
    notes: str = ""


@dataclass(frozen=True)
class Game:
    """A recipe, where it lies, and what it says of itself."""

    recipe: GameRecipe
    folder: Path

    @property
    def sha256(self) -> str:
        """The digest of the recipe and of our own files that it uses."""
        ours = {
            path: [f"{entry.mode:o}", hashlib.sha256(entry.data or b"").hexdigest()]
            for path, entry in self._own_files().items()
        }
        return sha256_json({"recipe": self.recipe.model_dump(mode="json", exclude={"notes"}), "files": ours})

    def _own_files(self) -> dict[str, Entry]:
        source = self.recipe.source
        local = {f"source/{path}": item for path, item in self._local_source().items()}
        overlay = {f"overlay/{path}": item for path, item in self._overlay().items()}
        return {**local, **overlay} if isinstance(source, LocalSource) else overlay

    def _local_source(self) -> dict[str, Entry]:
        source = self.recipe.source
        return read_folder(self.folder / source.local) if isinstance(source, LocalSource) else {}

    def _overlay(self) -> dict[str, Entry]:
        return read_folder(self.folder / self.recipe.overlay) if self.recipe.overlay else {}

    def npm_pins(self) -> dict[str, NpmPin]:
        pins = {
            name: NpmPin(name=name, version=wanted.version, integrity=wanted.integrity)
            for name, wanted in self.recipe.dependencies.items()
        }
        source = self.recipe.source
        return {**pins, "the game's package": source.pin()} if isinstance(source, NpmSource) else pins

    def project(self, pool: Pool) -> dict[str, Entry]:
        """The files of /opt/game before any bundle is built, by their path in it."""
        source = self.recipe.source
        files = (
            choose(npm.unpack(pool.npm(source.pin())), source)
            if isinstance(source, NpmSource)
            else self._local_source()
        )
        for name, pin in self.npm_pins().items():
            if name in self.recipe.dependencies:
                files.update(
                    {f"node_modules/{name}/{path}": item for path, item in npm.unpack(pool.npm(pin)).items()}
                )
        files.update(self._overlay())
        self._check(files)
        return files

    def _check(self, files: Mapping[str, Entry]) -> None:
        where = self.folder / "recipe.yaml"
        built = {bundle.out for bundle in self.recipe.build}
        entry = self.recipe.entry.lstrip("/") or "index.html"
        if entry not in files and entry not in built:
            raise WrongInput(f"{where}: the entry {self.recipe.entry} is not among the game's files.")
        if self.recipe.licence_file and self.recipe.licence_file not in files:
            raise WrongInput(
                f"{where}: the licence file {self.recipe.licence_file} is not among the game's files."
            )


def game_names() -> list[str]:
    return sorted(path.parent.name for path in GAMES.glob("*/recipe.yaml"))


def load_game(name: str, games: Path = GAMES) -> Game:
    path = games / name / "recipe.yaml"
    if name not in {found.parent.name for found in games.glob("*/recipe.yaml")}:
        raise WrongInput(f"There is no game {name!r}; the games are: {', '.join(game_names()) or 'none'}.")
    try:
        recipe = GameRecipe.model_validate(yaml.safe_load(path.read_text()))
    except yaml.YAMLError as error:
        raise WrongInput(f"{path} is not readable YAML ({first_line(error)}); mend that line.") from error
    except ValidationError as error:
        raise WrongInput(f"{path}: {describe(error)}.") from error
    if recipe.name != name:
        raise WrongInput(f"{path} names itself {recipe.name!r}; name and folder must be the same.")
    return Game(recipe, path.parent)


def read_folder(folder: Path) -> dict[str, Entry]:
    """The regular files of a folder of this repository."""
    if not folder.is_dir():
        raise WrongInput(f"The folder {folder} that a game's recipe names does not exist.")
    found: dict[str, Entry] = {}
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if path.is_file() and not path.is_symlink() and not IGNORED_NAMES.intersection(inner.parts):
            mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            found[inner.as_posix()] = Entry(path.read_bytes(), mode)
    return found


def choose(files: Mapping[str, Entry], source: NpmSource) -> dict[str, Entry]:
    """The wanted files of a package; `**` in a pattern also stands for no folder at all."""
    chosen: dict[str, Entry] = {}
    for path, entry in files.items():
        if matches(path, source.include) and not matches(path, source.exclude):
            inner = PurePosixPath(path)
            moved = inner.is_relative_to(source.strip) if source.strip else False
            chosen[str(inner.relative_to(source.strip)) if moved else path] = entry
    return chosen


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Globs in the usual sense: `*` stays within a folder, `**` does not."""
    return any(_matches(PurePosixPath(path).parts, PurePosixPath(pattern).parts) for pattern in patterns)


def _matches(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_matches(path[skipped:], pattern[1:]) for skipped in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and _matches(path[1:], pattern[1:])


def source_sha256(files: Mapping[str, Entry]) -> str:
    """A folder's digest in the design's sense, taken before it lies in any folder."""
    rows = [
        {
            "path": path,
            "mode": f"{entry.mode:o}",
            "size": len(entry.data or b""),
            "sha256": hashlib.sha256(entry.data or b"").hexdigest(),
        }
        for path, entry in sorted(files.items())
    ]
    return sha256_json(rows)


def layer_entries(recipe: GameRecipe, files: Mapping[str, Entry]) -> dict[str, Entry]:
    """The members of the game's layer."""
    about = {
        "name": recipe.name,
        "version": recipe.version,
        "serve": recipe.serve,
        "entry": recipe.entry,
        "source_sha256": source_sha256(files),
    }
    told = json.dumps(about, sort_keys=True, indent=1).encode() + b"\n"
    return {**{f"{GAME}/{path}": entry for path, entry in files.items()}, "opt/game.json": Entry(told)}
