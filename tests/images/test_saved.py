"""A file of saved images is taken whole or not at all, and never decides what a name means."""

import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from contracts.errors import WrongInput
from images import saved
from images.archive import Image, compose
from images.build import Layers
from images.layers import Entry, write_entries
from images.recipe import Debian, Recipe

RECIPE = Recipe(name="tiny", epoch=1_700_000_000, debian=Debian(suite="trixie", packages=()))


def silent(_: str) -> None:
    return None


def image_in(layers: Layers, name: str = "tiny", content: bytes = b"hello") -> Image:
    def make(target: Path) -> str:
        with target.open("wb") as out:
            return write_entries(out, {"etc/greeting": Entry(content)}, RECIPE.epoch)

    layers.root.mkdir(parents=True, exist_ok=True)
    diff_id = layers.keep("app", hashlib.sha256(content).hexdigest(), make)
    return compose(name, RECIPE, [("app", diff_id)], {})


def rewritten(path: Path, change: Callable[[str, bytes], tuple[str, bytes] | None]) -> Path:
    """The same saved file with its members passed through `change`."""
    plain = zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(plain)) as old, tarfile.open(fileobj=buffer, mode="w") as new:
        for member in old:
            stream = old.extractfile(member)
            changed = change(member.name, stream.read() if stream else b"")
            if changed:
                made = tarfile.TarInfo(changed[0])
                made.size = len(changed[1])
                new.addfile(made, io.BytesIO(changed[1]))
    path.write_bytes(zstandard.ZstdCompressor().compress(buffer.getvalue()))
    return path


@pytest.fixture
def saved_file(tmp_path: Path) -> Path:
    layers = Layers(tmp_path / "here")
    path = tmp_path / "images.tar.zst"
    saved.save([image_in(layers), image_in(layers, "other", b"bye")], layers, path, silent)
    return path


def test_what_is_saved_here_loads_there_with_the_same_digests(tmp_path: Path, saved_file: Path) -> None:
    there = Layers(tmp_path / "there")
    images = saved.load(saved_file, there, silent)
    assert [image.digest for image in images] == [
        image_in(Layers(tmp_path / "again"), name, content).digest
        for name, content in (("tiny", b"hello"), ("other", b"bye"))
    ]
    assert all(there.file(layer).exists() for image in images for layer in image.layers)
    assert saved.verify_layers(there) == []


def test_loading_gives_no_build_step_a_result(tmp_path: Path, saved_file: Path) -> None:
    there = Layers(tmp_path / "there")
    saved.load(saved_file, there, silent)
    assert there.known(hashlib.sha256(b"hello").hexdigest()) is None


def corrupt_layer(name: str, data: bytes) -> tuple[str, bytes]:
    return name, data.replace(b"hello", b"hullo") if name.startswith("layers/") else data


def corrupt_config(name: str, data: bytes) -> tuple[str, bytes]:
    return name, data.replace(b"amd64", b"arm64") if name.startswith("configs/") else data


def without_layers(name: str, data: bytes) -> tuple[str, bytes] | None:
    return None if name.startswith("layers/") else (name, data)


def without_index(name: str, data: bytes) -> tuple[str, bytes] | None:
    return None if name == saved.INDEX else (name, data)


def climbing(name: str, data: bytes) -> tuple[str, bytes]:
    return ("layers/../../../escape" if name.startswith("layers/") else name), data


def other_layers(name: str, data: bytes) -> tuple[str, bytes]:
    if name != saved.INDEX:
        return name, data
    index = json.loads(data)
    index["images"][0]["layers"] = index["images"][1]["layers"]
    return name, json.dumps(index).encode()


def digest_with_a_path(name: str, data: bytes) -> tuple[str, bytes]:
    return name, data.replace(
        b'"digest": "sha256:', b'"digest": "sha256:../'
    ) if name == saved.INDEX else data


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (corrupt_layer, "missing or not what its name says"),
        (corrupt_config, "missing or not what its name says"),
        (without_layers, "missing or not what its name says"),
        (without_index, "not made by"),
        (climbing, "which saved images never do"),
        (other_layers, "names other layers"),
        (digest_with_a_path, "is not a SHA-256 digest"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused_and_leaves_nothing(
    tmp_path: Path, saved_file: Path, change: Callable[[str, bytes], tuple[str, bytes] | None], told: str
) -> None:
    there = Layers(tmp_path / "there")
    with pytest.raises(WrongInput, match=told):
        saved.load(rewritten(saved_file, change), there, silent)
    assert [path for path in there.root.rglob("*") if path.is_file()] == []
    assert not (tmp_path / "escape").exists()


def test_half_a_file_and_no_file_are_told_apart(tmp_path: Path, saved_file: Path) -> None:
    saved_file.write_bytes(saved_file.read_bytes()[:100])
    with pytest.raises(WrongInput, match="not a whole file of saved images"):
        saved.load(saved_file, Layers(tmp_path / "there"), silent)
    with pytest.raises(WrongInput, match="no file"):
        saved.load(tmp_path / "nothing", Layers(tmp_path / "there"), silent)


def test_a_damaged_layer_in_the_store_is_found(tmp_path: Path) -> None:
    layers = Layers(tmp_path)
    image = image_in(layers)
    path = layers.file(image.layers[0])
    path.write_bytes(path.read_bytes().replace(b"hello", b"hullo"))
    assert [(problem.file, problem.kind) for problem in saved.verify_layers(layers)] == [
        (str(path), "damaged")
    ]
