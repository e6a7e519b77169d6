"""Images as one file to carry to another machine, and the checks that make such a file safe to take.

The file is a zstd-compressed tar: an index, the images' configurations, their layers, each named by its
digest. What comes in is written aside and believed only when every digest has been recomputed; then its
layers join the others, which are named by content and so cannot replace anything. No name of this home ever
comes to mean something from the file: an image that no recipe here leads to is known by its digest alone.
"""

from __future__ import annotations

import json
import os
import re
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

import zstandard
from pydantic import ValidationError

from contracts.errors import WrongInput
from images.archive import Image, file_member, small_member
from images.build import Layers, Progress
from images.files import sha256_file, write_atomic, written_whole
from images.recipe import Strict, describe

INDEX = "images.json"
ZSTD_LEVEL = 3
MEMBER = re.compile(r"(?:configs/[0-9a-f]{64}\.json|layers/[0-9a-f]{64}\.tar)")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
BY_DIGEST = "by-digest"
"""What an image from outside is called here, whatever it calls itself."""
MAX_CONFIG_BYTES = 1 << 20
MAX_LAYER_BYTES = 8 << 30
"""Our largest layer is about one GB; anything near this size is not ours."""


class SavedImage(Strict):
    name: str
    digest: str
    layers: tuple[str, ...]


class Index(Strict):
    schema_version: Literal[1] = 1
    images: tuple[SavedImage, ...]


@dataclass(frozen=True)
class Problem:
    """One file that is not what it should be."""

    file: str
    kind: str
    message: str


def save(images: Sequence[Image], layers: Layers, path: Path, progress: Progress) -> None:
    index = Index(images=tuple(SavedImage(name=i.name, digest=i.digest, layers=i.layers) for i in images))
    wanted = dict.fromkeys(layer for image in images for layer in image.layers)
    with written_whole(path) as temporary, temporary.open("wb") as raw:
        compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL, threads=-1)
        with compressor.stream_writer(raw, closefd=False) as out:
            for piece in small_member(INDEX, json.dumps(index.model_dump(mode="json"), indent=1).encode()):
                out.write(piece)
            for image in images:
                for piece in small_member(f"configs/{hexdigits(image.digest)}.json", image.config):
                    out.write(piece)
            for layer in wanted:
                progress(f"saving the layer {layer[:19]}")
                for piece in file_member(f"layers/{hexdigits(layer)}.tar", layers.file(layer)):
                    out.write(piece)
            out.write(bytes(2 * tarfile.BLOCKSIZE))


def load(path: Path, layers: Layers, progress: Progress) -> list[Image]:
    """Takes a saved file in, or refuses it whole."""
    (layers.root / "layers").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".part-", dir=layers.root / "layers") as name:
        folder = Path(name)
        progress(f"unpacking {path.name}")
        index = _unpack(path, folder)
        progress("checking every digest")
        images = [_checked(path, folder, saved) for saved in index.images]
        for layer in dict.fromkeys(layer for image in images for layer in image.layers):
            (folder / "layers" / f"{hexdigits(layer)}.tar").replace(layers.file(layer))
        for image in images:
            write_atomic(foreign_config(layers, image.digest), image.config)
    return images


def _unpack(path: Path, folder: Path) -> Index:
    try:
        with path.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as plain:
            return _unpack_tar(path, plain, folder)
    except FileNotFoundError:
        raise WrongInput(f"There is no file {path} to load images from.") from None
    except (zstandard.ZstdError, tarfile.TarError, EOFError) as error:
        raise WrongInput(f"{path} is not a whole file of saved images ({error}); fetch it again.") from error


def _unpack_tar(path: Path, plain: IO[bytes], folder: Path) -> Index:
    index: Index | None = None
    with tarfile.open(fileobj=plain, mode="r|") as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isreg() else None
            allowed = MAX_CONFIG_BYTES if not member.name.startswith("layers/") else MAX_LAYER_BYTES
            if (
                stream is None
                or member.size > allowed
                or not (member.name == INDEX or MEMBER.fullmatch(member.name))
            ):
                raise WrongInput(
                    f"{path} holds {member.name!r}, which saved images never do; do not use that file."
                )
            if member.name == INDEX:
                index = _index(path, stream.read())
                continue
            target = folder / member.name
            target.parent.mkdir(exist_ok=True)
            with target.open("wb") as out:
                while piece := stream.read(1 << 20):
                    out.write(piece)
    if index is None:
        raise WrongInput(f"{path} has no {INDEX}; it was not made by `playproof images save`.")
    return index


def _index(path: Path, text: bytes) -> Index:
    try:
        return Index.model_validate_json(text)
    except ValidationError as error:
        raise WrongInput(f"{path}, {INDEX}: {describe(error)}.") from error


def _checked(path: Path, folder: Path, saved: SavedImage) -> Image:
    for digest in (saved.digest, *saved.layers):
        if not DIGEST.fullmatch(digest):
            raise WrongInput(f"{path}: {digest!r} in its {INDEX} is not a SHA-256 digest.")
    config = folder / "configs" / f"{hexdigits(saved.digest)}.json"
    files = [(config, saved.digest), *((folder / "layers" / f"{hexdigits(d)}.tar", d) for d in saved.layers)]
    for file, digest in files:
        if not file.exists() or f"sha256:{sha256_file(file)}" != digest:
            inner = file.relative_to(folder)
            raise WrongInput(
                f"{path}: {inner} is missing or not what its name says; nothing was taken from the file."
            )
    data = config.read_bytes()
    try:
        diff_ids = tuple(json.loads(data)["rootfs"]["diff_ids"])
    except (ValueError, KeyError, TypeError):
        diff_ids = ()
    if diff_ids != saved.layers:
        raise WrongInput(f"{path}: the configuration of {saved.name!r} names other layers than the {INDEX}.")
    return Image(BY_DIGEST, data, saved.layers)


def verify_layers(layers: Layers) -> list[Problem]:
    """Layers and configurations whose content is not what their names say."""
    problems: list[Problem] = []
    files = [*(layers.root / "layers").glob("*.tar"), *(layers.root / "configs").glob("*.json")]
    for path in sorted(files):
        found = sha256_file(path)
        if found != path.stem:
            problems.append(
                Problem(os.fspath(path), "damaged", f"its content has the digest {found}; delete the file")
            )
    return problems


def foreign_config(layers: Layers, digest: str) -> Path:
    return layers.root / "configs" / f"{hexdigits(digest)}.json"


def hexdigits(digest: str) -> str:
    return digest.removeprefix("sha256:")
