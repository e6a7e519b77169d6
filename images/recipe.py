"""What an image is made of, as written by hand in images/recipes/<name>.yaml.

A recipe says what is wanted (names and exact versions); images.lock says what that was, byte for byte. The
recipe's digest covers the repository files it copies in as well, so that a changed driver is a changed
recipe: nothing that ends up in an image can change while its recipe keeps its digest. What is hard is only
inheritance: `extends` means the same lower layers, so the lists are added to, never replaced.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated

import rfc8785
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contracts.errors import WrongInput

REPO = Path(__file__).resolve().parent.parent
RECIPES = REPO / "images" / "recipes"
IGNORED_NAMES = frozenset({"__pycache__", ".pytest_cache", ".ruff_cache", "node_modules", ".DS_Store"})


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Debian(Strict):
    """The operating system part: one suite and the packages asked for (their dependencies follow)."""

    suite: str
    components: tuple[str, ...] = ("main",)
    packages: tuple[str, ...]


class Npm(Strict):
    """Global modules under /usr/local/lib/node_modules, and the commands they give."""

    install: dict[str, str] = Field(default_factory=dict)
    binaries: dict[str, str] = Field(default_factory=dict)
    """Command → file of a package that is moved to /usr/local/bin; the rest of that package is left out."""
    commands: dict[str, str] = Field(default_factory=dict)
    """Command → file of a package that /usr/local/bin/<command> links to."""


class Python(Strict):
    """Wheels unpacked into one folder of the image."""

    version: str
    target: str
    wheels: dict[str, str]
    exclude: tuple[str, ...] = ()
    """Files of the wheels that the image does without."""


class RepoFile(Strict):
    """A file or folder of this repository and where it goes."""

    source: Annotated[str, Field(alias="from")]
    to: str
    mode: str = "644"


class Folder(Strict):
    path: str
    owner: int = 0
    mode: str = "755"


class User(Strict):
    name: str
    id: int
    home: str


class Recipe(Strict):
    """One image, with what it extends already merged in (`lower` tells what came from there)."""

    name: str
    extends: str | None = None
    epoch: int = 0
    """Unix time written into every file date and into the image's `created`."""
    debian: Debian
    npm: Npm = Field(default_factory=Npm)
    python: Python | None = None
    files: tuple[RepoFile, ...] = ()
    folders: tuple[Folder, ...] = ()
    user: User | None = None
    env: dict[str, str] = Field(default_factory=dict)
    workdir: str = "/"


@dataclass(frozen=True)
class SourceFile:
    """One repository file as it will stand in the image."""

    path: str
    mode: int
    data: bytes


def recipe_names() -> list[str]:
    return sorted(path.stem for path in RECIPES.glob("*.yaml"))


def load_recipe(name: str, folder: Path = RECIPES) -> Recipe:
    path = folder / f"{name}.yaml"
    try:
        recipe = Recipe.model_validate(yaml.safe_load(path.read_text()))
    except FileNotFoundError:
        known = ", ".join(sorted(found.stem for found in folder.glob("*.yaml")))
        raise WrongInput(f"There is no image recipe {name!r}; the recipes are: {known}.") from None
    except yaml.YAMLError as error:
        raise WrongInput(f"{path} is not readable YAML ({first_line(error)}); mend that line.") from error
    except ValidationError as error:
        raise WrongInput(f"{path}: {describe(error)}.") from error
    if recipe.name != path.stem:
        raise WrongInput(f"{path} names itself {recipe.name!r}; name and file name must be the same.")
    return _merge(load_recipe(recipe.extends, folder), recipe) if recipe.extends else recipe


def _merge(lower: Recipe, upper: Recipe) -> Recipe:
    for part in ("npm", "python", "user"):
        if part in upper.model_fields_set:
            raise WrongInput(f"Recipe {upper.name!r} extends {lower.name!r} and so cannot set {part!r}.")
    packages = (*lower.debian.packages, *upper.debian.packages)
    if upper.debian.suite != lower.debian.suite or len(set(packages)) != len(packages):
        raise WrongInput(
            f"Recipe {upper.name!r} must keep the suite of {lower.name!r} and add new packages only."
        )
    return lower.model_copy(
        update={
            "name": upper.name,
            "extends": lower.name,
            "debian": lower.debian.model_copy(update={"packages": packages}),
            "files": (*lower.files, *upper.files),
            "folders": (*lower.folders, *upper.folders),
            "env": {**lower.env, **upper.env},
            "workdir": upper.workdir if "workdir" in upper.model_fields_set else lower.workdir,
        }
    )


def repo_files(recipe: Recipe, repo: Path = REPO) -> list[SourceFile]:
    """The repository files the recipe copies in, sorted by their path in the image; absent ones are left out."""
    found: dict[str, SourceFile] = {}
    for entry in recipe.files:
        source = repo / entry.source
        mode = int(entry.mode, 8)
        if source.is_file():
            found[entry.to] = SourceFile(entry.to, mode, source.read_bytes())
        for path in sorted(source.rglob("*")) if source.is_dir() else []:
            inner = path.relative_to(source)
            if path.is_file() and not path.is_symlink() and not IGNORED_NAMES.intersection(inner.parts):
                target = str(PurePosixPath(entry.to) / inner.as_posix())
                found[target] = SourceFile(target, mode, path.read_bytes())
    return [found[path] for path in sorted(found)]


def recipe_sha256(recipe: Recipe, files: list[SourceFile]) -> str:
    return canonical_sha256(
        {
            "recipe": recipe.model_dump(mode="json", by_alias=True),
            "files": [[item.path, item.mode, hashlib.sha256(item.data).hexdigest()] for item in files],
        }
    )


def canonical_sha256(value: object) -> str:
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()  # pyright: ignore[reportArgumentType]


def describe(error: ValidationError) -> str:
    """The first complaint of pydantic as half a sentence: place and what is wrong there."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"]) or "the document"
    return f"{place}: {first['msg']}"


def first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
