"""The page's pixels as one digest: equal exactly when the pictures are. Hard part: the same picture may be compressed differently on
another processor, so what is hashed is inside the PNG: its header and its inflated scanlines."""

import base64
import hashlib
import struct
import zlib
from collections.abc import Iterator

from .cdp import Cdp
from .errors import DriverFailure

SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEADER_BYTES = 8


async def take_png(cdp: Cdp) -> bytes:
    """The viewport as it is now, quickly compressed. Draws the page first, so that nothing older is seen."""
    answer = await cdp.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
    return base64.b64decode(answer["data"])


async def pixel_digest(cdp: Cdp) -> str:
    """SHA-256 (hex) of the page's picture now."""
    return png_digest(await take_png(cdp))


def png_digest(png: bytes) -> str:
    """SHA-256 of size, pixel format and scanlines. Scanlines stay filtered: one encoder filters equal pictures equally."""
    digest = hashlib.sha256()
    inflate = zlib.decompressobj()
    try:
        for kind, body in _chunks(png):
            if kind == b"IHDR":
                digest.update(body)
            elif kind == b"IDAT":
                digest.update(inflate.decompress(body))
        digest.update(inflate.flush())
    except (zlib.error, struct.error) as error:
        raise DriverFailure(f"the browser's picture of the page cannot be read: {error}") from error
    if not inflate.eof:
        raise DriverFailure("the browser's picture of the page is cut off")
    return digest.hexdigest()


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not png.startswith(SIGNATURE):
        raise DriverFailure("the browser's picture of the page is no PNG")
    at = len(SIGNATURE)
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        yield kind, png[at + HEADER_BYTES : at + HEADER_BYTES + length]
        at += HEADER_BYTES + length + 4
