"""Images: recipes of the pinned containers, their locks, and the games baked into them."""

from images.ref import ImageRef
from images.store import ImageStore

__all__ = ["ImageRef", "ImageStore"]
