"""npm packages without npm's installer: resolved once, pinned by integrity, unpacked by us.

`npm` itself is only asked two things, what a set of names needs (a lock file, nothing installed) and for the
tarballs, so no package's install script ever runs. A host without npm gets one from a wheel of the pool's
kind, used for fetching only. What is hard is hostile archives: a tarball may hold links and `..`, so only
regular files are taken, by a path that is checked.
"""

from __future__ import annotations

import json
import posixpath
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from contracts.errors import InfraFailure
from images import wheels
from images.debian import plain_environment
from images.layers import Entry
from images.lock import NpmPin
from images.pool import Pool
from images.recipe import Npm

MODULES = "usr/local/lib/node_modules"
COMMANDS = "usr/local/bin"
PLATFORM = {"os": "linux", "cpu": "x64", "libc": "glibc"}
NAMES_A_CALL = 40


def resolve(wanted: Mapping[str, str], pool: Pool) -> dict[str, NpmPin]:
    """The packages that the wanted ones need on the image's platform, by their place under node_modules."""
    if not wanted:
        return {}
    with tempfile.TemporaryDirectory(prefix="playproof-npm-") as name:
        folder = Path(name)
        (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": dict(wanted)}))
        platform = [f"--{key}={value}" for key, value in PLATFORM.items()]
        run_npm(
            pool,
            folder,
            "install",
            "--package-lock-only",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            *platform,
        )
        packages: dict[str, dict[str, Any]] = json.loads((folder / "package-lock.json").read_text())[
            "packages"
        ]
    reached = needed(packages, set(wanted))
    return {
        place.removeprefix("node_modules/"): NpmPin(
            name=packages[place].get("name") or place.rpartition("node_modules/")[2],
            version=packages[place]["version"],
            integrity=packages[place]["integrity"],
        )
        for place in sorted(reached)
        if not packages[place].get("inBundle")
    }


def _wanted_here(package: Mapping[str, Any]) -> bool:
    def fits(key: str, here: str) -> bool:
        listed = package.get(key) or [here]
        return here in ([listed] if isinstance(listed, str) else listed)

    return all(fits(key, here) for key, here in PLATFORM.items())


def needed(packages: Mapping[str, Mapping[str, Any]], roots: set[str]) -> set[str]:
    """What the roots need here: npm's lock also lists packages of other platforms and what those need."""
    reached: set[str] = set()
    waiting = [f"node_modules/{name}" for name in roots]
    while waiting:
        place = waiting.pop()
        if place in reached or place not in packages or not _wanted_here(packages[place]):
            continue
        reached.add(place)
        for kind in ("dependencies", "optionalDependencies"):
            waiting += [
                found for name in packages[place].get(kind, {}) if (found := _place(packages, place, name))
            ]
    return reached


def _place(packages: Mapping[str, object], importer: str, name: str) -> str | None:
    folder = importer
    while True:
        candidate = f"{folder}/node_modules/{name}".lstrip("/")
        if candidate in packages:
            return candidate
        if not folder:
            return None
        folder = folder.rpartition("node_modules/")[0].rstrip("/")


def fetch(pins: Mapping[str, NpmPin], pool: Pool) -> None:
    """Fetches the tarballs that the pool lacks."""
    by_path = {pool.npm(pin): pin for pin in pins.values()}
    lacking = pool.missing({path: pin.integrity for path, pin in by_path.items()})
    for start in range(0, len(lacking), NAMES_A_CALL):
        part = {path: by_path[path] for path in lacking[start : start + NAMES_A_CALL]}
        with tempfile.TemporaryDirectory(prefix="playproof-npm-") as name:
            names = [f"{pin.name}@{pin.version}" for pin in part.values()]
            told = json.loads(run_npm(pool, Path(name), "pack", "--json", "--ignore-scripts", *names))
            files = {(entry["name"], entry["version"]): Path(name) / entry["filename"] for entry in told}
            for path, pin in part.items():
                pool.take(files[pin.name, pin.version], path, pin.integrity)


def run_npm(pool: Pool, folder: Path, *arguments: str) -> str:
    command = [shutil.which("npm") or str(wheels.npm_command(pool)), *arguments, "--loglevel=error"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=plain_environment()
    )
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        raise InfraFailure(
            f"npm {arguments[0]} failed: {said[0].strip()}; is the package registry reachable?"
        )
    return done.stdout


def unpack(tarball: Path) -> dict[str, Entry]:
    """The regular files of a package by their path inside it."""
    files: dict[str, Entry] = {}
    with tarfile.open(tarball) as archive:
        for member in archive:
            path = PurePosixPath(posixpath.normpath(member.name))
            if not member.isreg() or path.is_absolute() or ".." in path.parts or len(path.parts) < 2:
                continue
            stream = archive.extractfile(member)
            mode = 0o755 if member.mode & 0o111 else 0o644
            files["/".join(path.parts[1:])] = Entry(stream.read() if stream else b"", mode)
    return files


def entries(npm: Npm, pins: Mapping[str, NpmPin], pool: Pool) -> dict[str, Entry]:
    """The global modules and their commands as members of a layer."""
    moved = {source.partition("/")[0] for source in npm.binaries.values()}
    found: dict[str, Entry] = {}
    for place, pin in pins.items():
        for inner, entry in unpack(pool.npm(pin)).items():
            full = f"{place}/{inner}"
            for command, source in npm.binaries.items():
                if full == source:
                    found[f"{COMMANDS}/{command}"] = Entry(entry.data, 0o755)
            if place not in moved or inner.upper().startswith("LICENSE"):
                found[f"{MODULES}/{full}"] = entry
    for command, source in npm.commands.items():
        target = f"{MODULES}/{source}"
        found[target] = Entry(found[target].data, 0o755)
        found[f"{COMMANDS}/{command}"] = Entry(link=posixpath.relpath(target, COMMANDS))
    return found
