"""Images written by hand: the configuration, whose SHA-256 is the image's id, and the archive engines load.

Because every byte of the configuration is ours, the id is known before an engine has seen the image and is
the same on every host. The archive is the form `docker save` writes. Layers that an engine already has may be
left out of it: it then takes seconds instead of a minute to load a changed last layer.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from images.files import CHUNK
from images.recipe import Recipe

TAG_DIGITS = 12
REPOSITORY = "playproof"
LABEL = "org.playproof.image"


@dataclass(frozen=True)
class Image:
    """An image as its configuration tells it."""

    name: str
    config: bytes
    layers: tuple[str, ...]
    labels: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def digest(self) -> str:
        return "sha256:" + hashlib.sha256(self.config).hexdigest()

    @property
    def tag(self) -> str:
        """A name that holds the id, so it can never come to mean another image."""
        return f"{REPOSITORY}/{self.name}:{self.digest.removeprefix('sha256:')[:TAG_DIGITS]}"


def compose(name: str, recipe: Recipe, layers: Sequence[tuple[str, str]], labels: Mapping[str, str]) -> Image:
    """The image of these layers, given as (step, diff id) from the lowest up."""
    created = datetime.fromtimestamp(recipe.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    all_labels = {LABEL: name, **labels}
    config = {
        "architecture": "amd64",
        "os": "linux",
        "created": created,
        "config": {
            "Env": [f"{key}={value}" for key, value in sorted(recipe.env.items())],
            "User": f"{recipe.user.id}:{recipe.user.id}" if recipe.user else "",
            "WorkingDir": recipe.workdir,
            "Cmd": ["/bin/bash"],
            "Labels": all_labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [diff_id for _, diff_id in layers]},
        "history": [{"created": created, "created_by": f"playproof {step}"} for step, _ in layers],
    }
    text = json.dumps(config, sort_keys=True, separators=(",", ":"))
    return Image(name, text.encode(), tuple(diff_id for _, diff_id in layers), all_labels)


def stream(
    image: Image, layer_files: Mapping[str, Path], *, known: Collection[str] = (), tag: bool
) -> Iterator[bytes]:
    """The archive to load, piece by piece, without the layers named in `known`."""
    yield from small_member(f"{image.digest.removeprefix('sha256:')}.json", image.config)
    for diff_id in dict.fromkeys(image.layers):
        if diff_id not in known:
            yield from file_member(layer_name(diff_id), layer_files[diff_id])
    manifest = [
        {
            "Config": f"{image.digest.removeprefix('sha256:')}.json",
            "RepoTags": [image.tag] if tag else None,
            "Layers": [layer_name(diff_id) for diff_id in image.layers],
        }
    ]
    yield from small_member("manifest.json", json.dumps(manifest).encode())
    yield bytes(2 * tarfile.BLOCKSIZE)


def layer_name(diff_id: str) -> str:
    return f"{diff_id.removeprefix('sha256:')}/layer.tar"


def small_member(name: str, data: bytes) -> Iterator[bytes]:
    yield _header(name, len(data))
    yield data + _padding(len(data))


def file_member(name: str, path: Path) -> Iterator[bytes]:
    size = path.stat().st_size
    yield _header(name, size)
    with path.open("rb") as source:
        while piece := source.read(CHUNK):
            yield piece
    yield _padding(size)


def _header(name: str, size: int) -> bytes:
    member = tarfile.TarInfo(name)
    member.size = size
    return member.tobuf(tarfile.GNU_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % tarfile.BLOCKSIZE)


class Joined(io.RawIOBase):
    """An iterator of pieces as a readable stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = piece
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
