"""The package files that images were made of, kept so that a rebuild needs no network.

The pool lies beside the images (<home>/images/pool) and holds exactly what the package sources gave: .deb,
.tgz and .whl. A file is taken in only when it has the hash that the lock or the source promised, and its hash
is checked again whenever it is used: the pool is a cache, the lock is the truth.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import InfraFailure
from images.files import integrity_file, sha256_file, written_whole
from images.lock import DebPin, NpmPin, Pins, WheelPin


@dataclass(frozen=True)
class Pool:
    root: Path

    def deb(self, name: str, pin: DebPin) -> Path:
        version = pin.version.replace(":", "%3a")
        return self.root / "deb" / f"{name}_{version}_{pin.architecture}.deb"

    def npm(self, pin: NpmPin) -> Path:
        return self.root / "npm" / f"{pin.name.replace('/', '+')}-{pin.version}.tgz"

    def wheel(self, pin: WheelPin) -> Path:
        return self.root / "pypi" / pin.file

    def take(self, source: Path, place: Path, expected: str) -> None:
        """Copies a fetched file in; `expected` is a SHA-256 or an npm integrity."""
        found = hash_like(source, expected)
        if found != expected:
            raise InfraFailure(
                f"{source.name} was fetched with hash {found} where {expected} was expected; "
                "the package source gave other bytes than the lock knows, so nothing was built from them."
            )
        with written_whole(place) as temporary:
            shutil.copyfile(source, temporary)

    def missing(self, files: dict[Path, str]) -> list[Path]:
        """Which of these files (path → expected hash) are absent or damaged."""
        return [
            path
            for path, expected in files.items()
            if not path.is_file() or hash_like(path, expected) != expected
        ]

    def files(self, pins: Pins) -> dict[Path, str]:
        return {
            **{self.deb(name, pin): pin.sha256 for name, pin in pins.debian.items()},
            **{self.npm(pin): pin.integrity for pin in pins.npm.values()},
            **{self.wheel(pin): pin.sha256 for pin in pins.pypi.values()},
        }


def hash_like(path: Path, expected: str) -> str:
    return integrity_file(path) if expected.startswith("sha512-") else sha256_file(path)
