"""What the store answers: an image by digest, and a line of its list.

A record keeps these values, so they say what the image was made from and not where it lies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class ImageRef:
    """An image by digest and what it was made from."""

    name: str
    digest: str
    """Empty while it cannot be known without building."""
    recipe_sha256: str
    """Of the base recipe and the repository files in it; a game's own recipe is in the labels."""
    lock_sha256: str
    """Of the base image's pinned packages."""
    drifted: bool
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    game: str | None = None
    engine_ref: str = ""
    """What to hand to the engine: the digest, or a name that holds it where the engine counts ids otherwise."""


ListedState = Literal["built", "out of date", "not built", "by digest only"]
"""`out of date`: the packages' layers are there, the repository's files have changed since."""


@dataclass(frozen=True)
class Listed:
    """A line of the list."""

    name: str
    game: str | None
    digest: str
    state: ListedState
    size_bytes: int
    drifted: bool


def full_name(ref: ImageRef) -> str:
    return f"{ref.name}-{ref.game}" if ref.game else ref.name
