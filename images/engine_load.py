"""Getting an image into an engine, and finding it there again.

Engines with the classic store know an image by the digest of its configuration and accept an archive without
the layers they already have. Engines with containerd's store do neither: they get the whole archive, and the
image is found by the name that holds its digest and checked by its layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docker import DockerClient
from docker.errors import APIError, DockerException, ImageNotFound
from requests.exceptions import RequestException

from contracts.errors import InfraFailure
from images.archive import REPOSITORY, TAG_DIGITS, Image, stream
from images.build import Progress


def engine_reference(client: DockerClient, digest: str, name: str) -> str | None:
    """How the engine calls this image, or None when it has not got it."""
    tag = f"{REPOSITORY}/{name}:{digest.removeprefix('sha256:')[:TAG_DIGITS]}"
    for reference in (digest, tag):
        try:
            client.images.get(reference)
            return reference
        except ImageNotFound:
            continue
        except (DockerException, RequestException) as error:
            raise InfraFailure(f"The engine did not answer when asked for an image: {error}") from error
    return None


def load_image(
    client: DockerClient, image: Image, files: Mapping[str, Path], progress: Progress, tag: bool = True
) -> str:
    """Loads the image, thinly where the engine has its lower layers; returns how the engine calls it."""
    known: set[str] = set() if keeps_whole_images(client) else layers_in_engine(client, image)
    if known:
        new = len(image.layers) - len(known)
        progress(f"{image.name}: loading {new} new {'layer' if new == 1 else 'layers'}")
        try:
            _load(client, image, files, known, tag)
        except (APIError, InfraFailure):
            known = set()
    if not known:
        size = sum(files[layer].stat().st_size for layer in image.layers) >> 20
        progress(f"{image.name}: loading {size} MB into the engine")
        _load(client, image, files, set(), tag)
    reference = engine_reference(client, image.digest, image.name)
    if reference is None:
        raise InfraFailure(
            f"The engine loaded {image.name} and does not know {image.digest}; look at its log."
        )
    return reference


def layers_in_engine(client: DockerClient, image: Image) -> set[str]:
    """The longest run of the image's lowest layers that some image in the engine starts with."""
    best = 0
    for other in client.images.list(filters={"label": "org.playproof.image"}):
        theirs: list[str] = other.attrs.get("RootFS", {}).get("Layers") or []
        same = 0
        for ours, their in zip(image.layers, theirs, strict=False):
            if ours != their:
                break
            same += 1
        best = max(best, same)
    return set(image.layers[:best])


def keeps_whole_images(client: DockerClient) -> bool:
    status: Any = client.info().get("DriverStatus") or []
    return any("containerd" in str(value) for _, value in status)


def _load(client: DockerClient, image: Image, files: Mapping[str, Path], known: set[str], tag: bool) -> None:
    try:
        api: Any = client.api
        told: list[Any] = list(
            api.load_image(data=stream(image, files, known=known, tag=tag), quiet=True) or []
        )
    except APIError:
        raise
    except (DockerException, RequestException) as error:
        raise InfraFailure(f"The engine broke off while loading {image.name}: {error}") from error
    for line in told:
        if "error" in line:
            raise InfraFailure(f"The engine refused {image.name}: {line['error']}")
