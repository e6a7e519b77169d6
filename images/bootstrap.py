"""A Debian root filesystem, as a tar, from package files alone.

mmdebstrap is given a small package archive made of the pool's files of exactly the pinned versions, so apt
has nothing to choose and no network to ask: what comes out depends on the pins and the recipe only. Python's
wheels are compiled inside the new root, because only its own interpreter can write bytecode for itself, and
taken out again, because they belong to another layer.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from contracts.errors import InfraFailure
from images.debian import plain_environment, run
from images.lock import DebPin
from images.pool import Pool
from images.recipe import Recipe, User

SHADOW_DAY = 20_000
"""Date of last password change, in days: any fixed number, so that the day of the build is not recorded."""

EXCLUDED_PATHS = (
    "/usr/share/doc/*",
    "/usr/share/man/*",
    "/usr/share/info/*",
    "/usr/share/locale/*",
    "/usr/share/lintian/*",
)
INCLUDED_PATHS = ("/usr/share/doc/*/copyright",)

TRACES = ('"$1"/etc/*-', '"$1"/etc/apt/sources.list')
"""Backup copies with dates in them, and the place of the package archive."""


@dataclass(frozen=True)
class Compile:
    """A folder (as a tar whose names are absolute paths without the first slash) to be compiled in the root."""

    source: Path
    folder: str
    target: Path


def make_root(
    recipe: Recipe, pins: dict[str, DebPin], pool: Pool, target: Path, compiled: Compile | None = None
) -> None:
    """Writes the root as a tar to `target`, and what was compiled in it to `compiled.target`."""
    with tempfile.TemporaryDirectory(
        prefix="playproof-root-", dir=os.environ.get("TMPDIR", "/var/tmp")
    ) as name:
        archive = Path(name)
        archive.chmod(0o755)
        write_archive(archive, pins, pool)
        options = [
            "--variant=apt",
            "--format=tar",
            f"--include={','.join(sorted(pins))}",
            '--aptopt=APT::Install-Recommends "false"',
            *(f"--dpkgopt=path-exclude={path}" for path in EXCLUDED_PATHS),
            *(f"--dpkgopt=path-include={path}" for path in INCLUDED_PATHS),
            *(f"--customize-hook={hook}" for hook in [*user_hooks(recipe.user), *compile_hooks(compiled)]),
        ]
        source = f"deb [trusted=yes] copy://{archive} ./"
        _mmdebstrap([*options, recipe.debian.suite, str(target), source], recipe.epoch)


def user_hooks(user: User | None) -> list[str]:
    fixed_day = f"s/^([^:]*:[^:]*):[0-9]*:/\\1:{SHADOW_DAY}:/"
    found = [
        f'sed -i -E {shlex.quote(fixed_day)} "$1/etc/shadow"',
        f"rm -f {' '.join(TRACES)}",
    ]
    if user:
        passwd = f"{user.name}:x:{user.id}:{user.id}:{user.name}:{user.home}:/bin/bash"
        shadow = f"{user.name}:*:{SHADOW_DAY}:0:99999:7:::"
        found.append(f'echo {shlex.quote(passwd)} >> "$1/etc/passwd"')
        found.append(f'echo {shlex.quote(f"{user.name}:x:{user.id}:")} >> "$1/etc/group"')
        found.append(f'echo {shlex.quote(shadow)} >> "$1/etc/shadow"')
    return found


def compile_hooks(compiled: Compile | None) -> list[str]:
    if compiled is None:
        return []
    folder = shlex.quote(compiled.folder)
    return [
        f"tar-in {shlex.quote(str(compiled.source))} /",
        f'chroot "$1" python3 -m compileall -q -j 1 --invalidation-mode unchecked-hash {folder}',
        f"tar-out {folder} {shlex.quote(str(compiled.target))}",
        f'rm -r "$1"{folder} && rmdir -p --ignore-fail-on-non-empty "$1"{shlex.quote(str(PurePosixPath(compiled.folder).parent))}',
    ]


def write_archive(folder: Path, pins: dict[str, DebPin], pool: Pool) -> None:
    """A flat package archive: the files and their `Packages` index."""
    paragraphs: list[str] = []
    for name, pin in sorted(pins.items()):
        path = pool.deb(name, pin)
        copy = folder / path.name.replace("%3a", "_")
        try:
            os.link(path, copy)
        except OSError:
            shutil.copyfile(path, copy)
        copy.chmod(0o644)
        control = run(["dpkg-deb", "--field", str(copy)]).rstrip("\n")
        paragraphs.append(
            f"{control}\nFilename: ./{copy.name}\nSize: {copy.stat().st_size}\nSHA256: {pin.sha256}\n"
        )
    (folder / "Packages").write_text("\n".join(paragraphs))


def _mmdebstrap(arguments: list[str], epoch: int) -> None:
    mode = "root" if os.geteuid() == 0 else "unshare"
    room = os.environ.get("TMPDIR", "/var/tmp")
    environment = {
        **plain_environment(),
        "SOURCE_DATE_EPOCH": str(epoch),
        "TMPDIR": room,
        "DPKG_FORCE": "unsafe-io",
    }
    command = ["mmdebstrap", f"--mode={mode}", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    except FileNotFoundError:
        raise InfraFailure(
            "mmdebstrap is not installed on this host; install the packages of images/host_needs.txt."
        ) from None
    if done.returncode != 0:
        errors = [
            line for line in done.stderr.splitlines() if line.startswith("E:")
        ] or done.stderr.splitlines()[-1:]
        raise InfraFailure(
            f"mmdebstrap could not make the Debian root: {errors[0] if errors else 'no message'}"
        )
