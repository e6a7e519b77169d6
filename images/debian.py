"""Debian packages: which ones a list of names means today, and the files of exactly those.

Both questions are asked of apt with a state folder of its own, so the host's installed packages and sources
play no part; only its mirror, proxy and certificate settings do. apt checks the archive's signature, the lock
checks the bytes. What is hard is time: a live mirror keeps only the newest version of each package, so a
locked version can be gone, and that is reported as drift, by name, never papered over.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import InfraFailure
from images.files import sha256_file
from images.lock import DebPin
from images.pool import Pool
from images.recipe import Debian

ARCHITECTURE = "amd64"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
MIRROR_VARIABLE = "PLAYPROOF_DEBIAN_MIRROR"
NEEDED_COMMANDS = ("mmdebstrap", "apt-get", "apt-cache", "dpkg-deb")


@dataclass(frozen=True)
class Apt:
    """apt with sources and state of its own in one folder."""

    root: Path

    def run(self, command: str, *arguments: str, check: bool = True) -> str:
        options = {
            "Dir::State": self.root / "state",
            "Dir::State::status": self.root / "status",
            "Dir::Cache": self.root / "cache",
            "Dir::Etc::SourceList": self.root / "sources.list",
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::Etc::PreferencesParts": "/dev/null",
            "APT::Architecture": ARCHITECTURE,
            "APT::Architectures": ARCHITECTURE,
            "APT::Install-Recommends": "false",
            "APT::Sandbox::User": "",
            "Acquire::Languages": "none",
            "Acquire::Retries": 3,
        }
        flags = [part for key, value in options.items() for part in ("-o", f"{key}={value}")]
        return run([command, *flags, *arguments], cwd=self.root, check=check)


@contextmanager
def apt_for(debian: Debian) -> Generator[Apt]:
    with tempfile.TemporaryDirectory(prefix="playproof-apt-") as name:
        root = Path(name)
        for folder in ("state/lists/partial", "cache/archives/partial"):
            (root / folder).mkdir(parents=True)
        (root / "status").touch()
        (root / "sources.list").write_text(source_line(debian))
        apt = Apt(root)
        apt.run("apt-get", "--error-on=any", "update")
        yield apt


def resolve(debian: Debian, pool: Pool) -> dict[str, DebPin]:
    """Everything the wanted packages need on an empty machine, fetched into the pool, as pins."""
    with apt_for(debian) as apt:
        archives = apt.root / "cache" / "archives"
        install = ["-y", "install", "?essential", "apt", *debian.packages]
        names = re.findall(
            r"^'[^']+' (\S+\.deb) ", apt.run("apt-get", "--print-uris", *install), re.MULTILINE
        )
        for name in names:
            if (pool.root / "deb" / name).exists():
                shutil.copyfile(pool.root / "deb" / name, archives / name)
        apt.run("apt-get", "--download-only", *install)
        pins: dict[str, DebPin] = {}
        for path in (archives / name for name in sorted(names)):
            fields = run(
                ["dpkg-deb", "--show", "--showformat=${Package} ${Version} ${Architecture}", str(path)]
            )
            package, version, architecture = fields.split()
            pins[package] = DebPin(version=version, architecture=architecture, sha256=sha256_file(path))
            place = pool.deb(package, pins[package])
            if pool.missing({place: pins[package].sha256}):
                pool.take(path, place, pins[package].sha256)
        return pins


def fetch(debian: Debian, pins: dict[str, DebPin], pool: Pool) -> list[str]:
    """Fetches the exact versions that the pool lacks; returns those the mirror no longer has."""
    lacking = set(pool.missing({pool.deb(name, pin): pin.sha256 for name, pin in pins.items()}))
    wanted = {name: pin for name, pin in pins.items() if pool.deb(name, pin) in lacking}
    if not wanted:
        return []
    with apt_for(debian) as apt:
        offered = _offered(apt, sorted(wanted))
        gone = sorted(name for name, pin in wanted.items() if (name, pin.version) not in offered)
        if gone:
            return [f"{name} {wanted[name].version}" for name in gone]
        apt.run("apt-get", "download", *(f"{name}={pin.version}" for name, pin in wanted.items()))
        for name, pin in wanted.items():
            pool.take(apt.root / pool.deb(name, pin).name, pool.deb(name, pin), pin.sha256)
    return []


def _offered(apt: Apt, names: Sequence[str]) -> set[tuple[str, str]]:
    rows = [line.split("|") for line in apt.run("apt-cache", "madison", *names, check=False).splitlines()]
    return {(row[0].strip(), row[1].strip()) for row in rows if len(row) >= 3}


def source_line(debian: Debian) -> str:
    return f"deb [signed-by={KEYRING}] {mirror(debian)} {debian.suite} {' '.join(debian.components)}\n"


def mirror(debian: Debian) -> str:
    """The operator's mirror, else the one a Debian host itself uses, else mmdebstrap's own default."""
    if chosen := os.environ.get(MIRROR_VARIABLE):
        return chosen
    return _host_mirror() or _default_mirror(debian.suite)


def _host_mirror() -> str | None:
    release = dict(
        line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line
    )
    if release.get("ID", "").strip('"') != "debian":
        return None
    codename = release.get("VERSION_CODENAME", "").strip('"')
    rows = run(["apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)"], check=False)
    for row in rows.splitlines():
        *about, address = row.split()
        if codename in about and "main" in about:
            return address
    return None


def _default_mirror(suite: str) -> str:
    with tempfile.TemporaryDirectory(prefix="playproof-apt-") as name:
        found = Path(name) / "sources.list"
        copy_and_stop = f'cat "$1/etc/apt/sources.list" > {shlex.quote(str(found))}; exit 1'
        run(
            ["mmdebstrap", "--variant=custom", f"--setup-hook={copy_and_stop}", suite, "/dev/null"],
            check=False,
        )
        words = found.read_text().split() if found.exists() else []
    address = next((word for word in words if "://" in word), None)
    if address is None:
        raise InfraFailure(
            f"No Debian mirror is known on this host; set {MIRROR_VARIABLE} to the address of one."
        )
    return address


def run(command: Sequence[str], *, cwd: Path | None = None, check: bool = True) -> str:
    """A host command's output; a failure becomes one sentence with the command's own last word."""
    try:
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, check=False, env=plain_environment()
        )
    except FileNotFoundError:
        raise InfraFailure(
            f"{command[0]} is not installed on this host; install the packages of images/host_needs.txt."
        ) from None
    if check and done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        raise InfraFailure(f"{command[0]} failed with exit {done.returncode}: {lines[-1].strip()}")
    return done.stdout


def plain_environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
