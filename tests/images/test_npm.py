"""npm packages: which ones a lock file means for the image's platform, and what of a tarball is taken."""

import io
import tarfile
from pathlib import Path

from images import npm
from images.files import integrity_file
from images.lock import NpmPin
from images.pool import Pool
from images.recipe import Npm


def tarball(path: Path, members: list[tuple[tarfile.TarInfo, bytes]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for member, data in members:
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode = kind, link, mode
    return made


def test_only_regular_files_within_the_package_are_unpacked(tmp_path: Path) -> None:
    path = tarball(
        tmp_path / "p.tgz",
        [
            (member("package/index.js"), b"1"),
            (member("package/bin/run", mode=0o775), b"2"),
            (member("package/link", tarfile.SYMTYPE, "/etc/passwd"), b""),
            (member("package/hard", tarfile.LNKTYPE, "/etc/passwd"), b""),
            (member("package/../../up"), b"3"),
            (member("/absolute/file"), b"4"),
            (member("package/device", tarfile.CHRTYPE), b""),
        ],
    )
    assert {name: (entry.data, entry.mode) for name, entry in npm.unpack(path).items()} == {
        "index.js": (b"1", 0o644),
        "bin/run": (b"2", 0o755),
    }


def test_packages_of_other_platforms_and_what_only_they_need_are_left_out() -> None:
    packages = {
        "": {},
        "node_modules/vite": {"dependencies": {"rolldown": "1"}, "optionalDependencies": {"fsevents": "1"}},
        "node_modules/fsevents": {"os": ["darwin"]},
        "node_modules/rolldown": {"optionalDependencies": {"wasm": "1", "gnu": "1", "musl": "1"}},
        "node_modules/rolldown/node_modules/gnu": {"os": ["linux"], "cpu": ["x64"], "libc": ["glibc"]},
        "node_modules/gnu": {},
        "node_modules/musl": {"os": ["linux"], "libc": ["musl"]},
        "node_modules/wasm": {"cpu": ["wasm32"], "dependencies": {"emnapi": "1"}},
        "node_modules/emnapi": {},
    }
    assert npm.needed(packages, {"vite"}) == {
        "node_modules/vite",
        "node_modules/rolldown",
        "node_modules/rolldown/node_modules/gnu",
    }


def test_a_binary_is_moved_and_a_command_is_linked(tmp_path: Path) -> None:
    pool = Pool(tmp_path)
    pins: dict[str, NpmPin] = {}
    for name, files in {"node-x": ["bin/node", "LICENSE", "include/v8.h"], "tool": ["cli.js"]}.items():
        draft = NpmPin(name=name, version="1.0.0", integrity="")
        path = tarball(pool.npm(draft), [(member(f"package/{file}"), file.encode()) for file in files])
        pins[name] = draft.model_copy(update={"integrity": integrity_file(path)})
    recipe = Npm(binaries={"node": "node-x/bin/node"}, commands={"tool": "tool/cli.js"})
    entries = npm.entries(recipe, pins, pool)
    assert sorted(entries) == [
        "usr/local/bin/node",
        "usr/local/bin/tool",
        "usr/local/lib/node_modules/node-x/LICENSE",
        "usr/local/lib/node_modules/tool/cli.js",
    ]
    assert entries["usr/local/bin/node"].mode == 0o755
    assert entries["usr/local/bin/tool"].link == "../lib/node_modules/tool/cli.js"
    assert entries["usr/local/lib/node_modules/tool/cli.js"].mode == 0o755
