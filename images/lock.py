"""images.lock: what each recipe was when it was last made, package by package and byte by byte.

The lock holds names, versions and hashes, never an address. A contract pins the digest of an image's pins, so
they hold nothing of the host or of the day. `requests` remembers which wishes
(Debian, npm, PyPI) the pins answer: a recipe that asks for something else has to be resolved anew, and one
that asks for the same may be built from the pins alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from contracts.errors import WrongInput
from images.files import write_atomic
from images.recipe import REPO, Recipe, Strict, canonical_sha256, describe

LOCK_PATH = REPO / "images" / "images.lock"

Pinned = Literal["pinned", "drifted"]


class DebPin(Strict):
    version: str
    architecture: str
    sha256: str


class NpmPin(Strict):
    """Keyed by its place under node_modules; the name is there for packages installed below another."""

    name: str
    version: str
    integrity: str


class WheelPin(Strict):
    version: str
    file: str
    sha256: str


class Pins(Strict):
    """Every package of an image."""

    requests: dict[str, str] = Field(default_factory=dict)
    debian: dict[str, DebPin] = Field(default_factory=dict)
    npm: dict[str, NpmPin] = Field(default_factory=dict)
    pypi: dict[str, WheelPin] = Field(default_factory=dict)


class LockedLayer(Strict):
    """One step of the build: `key` is the digest of all it was made from, `diff_id` of what came out."""

    step: str
    key: str
    diff_id: str


class Built(Strict):
    """What the recipe and the pins gave."""

    recipe_sha256: str
    layers: tuple[LockedLayer, ...]
    digest: str


class LockEntry(Strict):
    pins: Pins
    built: Built | None = None


class Lock(Strict):
    schema_version: Literal[1] = 1
    state: Pinned = "pinned"
    drifted_from: str = ""
    """The pins (by digest) that could no longer be had; a lock that drifted from others is out of date."""
    images: dict[str, LockEntry] = Field(default_factory=dict)
    games: dict[str, tuple[LockedLayer, ...]] = Field(default_factory=dict)
    """What each game's layers came out as: packages are pinned in the game's own recipe."""

    def pins_sha256(self) -> str:
        return canonical_sha256(
            {name: entry.pins.model_dump(mode="json") for name, entry in self.images.items()}
        )

    def with_entry(self, name: str, entry: LockEntry) -> Lock:
        return self.model_copy(update={"images": {**self.images, name: entry}})


def wishes(recipe: Recipe) -> dict[str, str]:
    """The digest of what the recipe asks of each package source."""
    wanted = {"debian": recipe.debian.model_dump(mode="json"), "npm": recipe.npm.install}
    if recipe.python:
        wanted["pypi"] = recipe.python.model_dump(mode="json")
    return {source: canonical_sha256(value) for source, value in wanted.items()}


def read_lock(path: Path = LOCK_PATH) -> Lock:
    try:
        return Lock.model_validate(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return Lock()
    except ValueError as error:
        what = describe(error) if isinstance(error, ValidationError) else "it is not JSON"
        raise WrongInput(f"{path}: {what}; restore the file from the repository.") from error


def write_lock(lock: Lock, path: Path = LOCK_PATH) -> None:
    text = json.dumps(lock.model_dump(mode="json"), indent=1, sort_keys=True) + "\n"
    write_atomic(path, text.encode())
