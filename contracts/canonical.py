"""Digests of documents, files and folders: one way to name content, used by every pin and record.

JSON is digested in its canonical form (RFC 8785), a folder as the canonical list of its files, so that the
same content has the same name on every machine, whatever wrote it.
"""

import hashlib
import json
import math
import stat
from pathlib import Path
from typing import Any, cast

import rfc8785

READ_BYTES = 1 << 20


def sha256_bytes(data: bytes) -> str:
    """The SHA-256 of `data` in lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """The SHA-256 of a file's content in lower-case hex, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(READ_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def canonical_json(value: Any) -> bytes:
    """`value` (JSON types only) as RFC 8785 bytes."""
    return rfc8785.dumps(value)


def sha256_json(value: Any) -> str:
    """The SHA-256 of `value` in canonical JSON."""
    return sha256_bytes(canonical_json(value))


def plain_json(text: bytes | str) -> Any:
    """Parse JSON that came from outside into what canonical JSON can hold; raises ValueError for what it cannot.

    Integers beyond 2^53 become the doubles they are in JavaScript (RFC 8785 knows no others), half characters (lone
    surrogates) become U+FFFD; NaN, infinities and nesting too deep to read are refused.
    """

    def refuse(word: str) -> None:
        raise ValueError(f"JSON may not hold {word}")

    def whole(digits: str) -> int | float:
        number = float(digits)
        if math.isinf(number):
            refuse(f"a number of {len(digits)} digits")
        return int(digits) if abs(number) < 2**53 else number

    def fraction(digits: str) -> float:
        number = float(digits)
        if math.isinf(number):
            refuse(digits[:40])
        return number

    try:
        return _whole_characters(
            json.loads(text, parse_constant=refuse, parse_int=whole, parse_float=fraction)
        )
    except RecursionError:
        raise ValueError("JSON may not be nested so deeply") from None


def _whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole_characters(one) for one in cast(list[Any], value)]
    if isinstance(value, dict):
        return {
            _whole_characters(key): _whole_characters(one) for key, one in cast(dict[str, Any], value).items()
        }
    return value


def folder_listing(folder: Path) -> list[dict[str, str | int]]:
    """Each regular file below `folder` as path, mode, size and SHA-256, sorted by path; links are not followed."""
    rows: list[dict[str, str | int]] = []
    for path in folder.rglob("*"):
        info = path.lstat()
        if stat.S_ISREG(info.st_mode):
            mode = "755" if info.st_mode & 0o100 else "644"
            rows.append(
                {
                    "path": path.relative_to(folder).as_posix(),
                    "mode": mode,
                    "size": info.st_size,
                    "sha256": sha256_file(path),
                }
            )
    return sorted(rows, key=lambda row: str(row["path"]))


def folder_digest(folder: Path) -> str:
    """The name of a folder's content: SHA-256 over the canonical list of (path, mode, size, SHA-256)."""
    return sha256_json(folder_listing(folder))
