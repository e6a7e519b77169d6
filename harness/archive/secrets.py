"""Keeping keys out of the archive: every file of a run is searched for their values before it is final.

A key never enters a container, but a server may echo it in an error and a library may log it. So the exact
values of all key variables are looked for, plain, URL-encoded and base64-encoded. The hard part is base64:
the same key looks different at each of three offsets inside a longer text, so the part of the encoding that
depends on the key alone is searched for at each.
"""

import base64
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, quote_plus

from harness.archive.files import write_bytes

KEY_NAME = re.compile(r"(API_?KEY|_TOKEN|_SECRET|PASSWORD|ACCESS_KEY)", re.IGNORECASE)
"""What the names of variables that hold keys have in common."""

MIN_SECRET = 8
"""Shorter values (flags, `none`) would be found everywhere and protect nothing."""

READ_BYTES = 1 << 20


@dataclass(frozen=True)
class Secrets:
    """The byte patterns that no file may hold, each with the variable it came from."""

    patterns: tuple[tuple[str, bytes], ...]

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Secrets":
        """All key variables of the process (or of `environment`)."""
        found: dict[bytes, str] = {}
        for name, value in (os.environ if environment is None else environment).items():
            if KEY_NAME.search(name) and len(value.strip()) >= MIN_SECRET:
                for form in _forms(value.strip()):
                    found.setdefault(form, name)
        longest_first = sorted(found.items(), key=lambda item: -len(item[0]))
        return cls(tuple((name, form) for form, name in longest_first))

    def clean(self, data: bytes) -> bytes:
        """`data` with every key replaced by the name of its variable."""
        for name, pattern in self.patterns:
            if pattern in data:
                data = data.replace(pattern, f"[removed: {name}]".encode())
        return data

    def clean_text(self, text: str) -> str:
        """`text` with every key replaced by the name of its variable."""
        return self.clean(text.encode(errors="surrogatepass")).decode(errors="replace")

    def names_in(self, path: Path) -> set[str]:
        """The variables whose values stand in a file, which is read in pieces."""
        longest = max((len(pattern) for _, pattern in self.patterns), default=0)
        names: set[str] = set()
        tail = b""
        with path.open("rb") as file:
            while piece := file.read(READ_BYTES):
                window = tail + piece
                names.update(name for name, pattern in self.patterns if pattern in window)
                tail = window[-longest:] if longest else b""
        return names

    def clean_folder(self, folder: Path) -> dict[str, list[str]]:
        """Rewrite each file below `folder` that holds a key; returns path → variables removed from it."""
        cleaned: dict[str, list[str]] = {}
        if not self.patterns:
            return cleaned
        for path in sorted(folder.rglob("*")):
            if path.is_symlink() or not path.is_file():
                continue
            names = self.names_in(path)
            if names:
                write_bytes(path, self.clean(path.read_bytes()))
                cleaned[path.relative_to(folder).as_posix()] = sorted(names)
        return cleaned


def _forms(value: str) -> set[bytes]:
    raw = value.encode()
    forms = {
        raw,
        json.dumps(value)[1:-1].encode(),
        quote(value, safe="").encode(),
        quote_plus(value).encode(),
    }
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for offset in range(3):
            forms.add(_base64_core(encode(bytes(offset) + raw), offset, len(raw)))
    return {form for form in forms if len(form) >= MIN_SECRET}


def _base64_core(encoded: bytes, offset: int, length: int) -> bytes:
    """The characters of `encoded` that no byte before or after the key can change."""
    first = -(-offset * 8 // 6)
    last = (offset + length) * 8 // 6
    return encoded[first:last]
