import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.replay.driver.errors import DriverFailure
from harness.replay.driver.pixels import SIGNATURE, png_digest


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, rows: list[bytes], level: int = 6, pieces: int = 1) -> bytes:
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 0, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), level)
    step = max(1, -(-len(data) // pieces))
    parts = b"".join(chunk(b"IDAT", data[at : at + step]) for at in range(0, len(data), step))
    return SIGNATURE + chunk(b"IHDR", header) + parts + chunk(b"IEND", b"")


pictures = st.integers(1, 12).flatmap(
    lambda width: st.lists(st.binary(min_size=width, max_size=width), min_size=1, max_size=12)
)


@given(pictures, st.integers(0, 9), st.integers(1, 4))
def test_the_digest_does_not_depend_on_how_the_picture_was_compressed(
    rows: list[bytes], level: int, pieces: int
) -> None:
    assert png_digest(png(len(rows[0]), rows, level, pieces)) == png_digest(png(len(rows[0]), rows))


@given(pictures, st.data())
def test_one_changed_pixel_changes_the_digest(rows: list[bytes], data: st.DataObject) -> None:
    y, x = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, len(rows[0]) - 1))
    changed = list(rows)
    changed[y] = rows[y][:x] + bytes([rows[y][x] ^ 1]) + rows[y][x + 1 :]
    assert png_digest(png(len(rows[0]), changed)) != png_digest(png(len(rows[0]), rows))


def test_the_same_bytes_in_another_shape_are_another_picture() -> None:
    assert png_digest(png(1, [b"a", b"b"])) != png_digest(png(2, [b"ab"]))


@pytest.mark.parametrize("broken", [b"", b"GIF89a", png(2, [b"ab"] * 9)[:-20], png(2, [b"ab"])[:40]])
def test_what_is_no_whole_png_is_refused(broken: bytes) -> None:
    with pytest.raises(DriverFailure, match="picture of the page"):
        png_digest(broken)
