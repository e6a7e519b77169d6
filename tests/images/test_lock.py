"""images.lock: it answers the recipes, holds no address, and is told when it is broken."""

import re
import subprocess
from pathlib import Path

import pytest

from contracts.errors import InfraFailure, WrongInput
from images import debian
from images.files import sha256_file
from images.lock import LOCK_PATH, DebPin, Lock, LockEntry, Pins, read_lock, wishes, write_lock
from images.pinning import pinned
from images.pool import Pool
from images.recipe import Debian, Recipe, load_recipe, recipe_names
from images.store import ImageStore

RECIPE = Recipe(name="tiny", debian=Debian(suite="trixie", packages=("tool",)))
ENTRY = LockEntry(
    pins=Pins(
        requests=wishes(RECIPE),
        debian={"tool": DebPin(version="1.0-1", architecture="amd64", sha256="a" * 64)},
    )
)


def silent(_: str) -> None:
    return None


def test_the_lock_of_the_repository_answers_its_recipes() -> None:
    lock = read_lock()
    assert lock.state == "pinned"
    for name in recipe_names():
        assert lock.images[name].pins.requests == wishes(load_recipe(name))


def test_the_lock_of_the_repository_is_of_the_files_that_are_in_it() -> None:
    store = ImageStore()
    for name, entry in read_lock().images.items():
        assert entry.built
        assert entry.built.recipe_sha256 == store.resolve(name).recipe_sha256, (
            "run `playproof images build` and commit"
        )


def test_agent_and_replay_share_every_package_that_both_have() -> None:
    lock = read_lock()
    agent, replay = lock.images["agent"].pins, lock.images["replay"].pins
    assert replay.debian.items() <= agent.debian.items()
    assert agent.npm == replay.npm
    assert agent.pypi == replay.pypi


def test_the_lock_of_the_repository_holds_hashes_and_no_address() -> None:
    text = LOCK_PATH.read_text()
    assert re.search(r"://|\.(org|com|net|io|dev)\b", text) is None
    assert len(re.findall(r'"sha256": "[0-9a-f]{64}"', text)) > 300


def test_a_written_lock_reads_the_same(tmp_path: Path) -> None:
    lock = Lock().with_entry("tiny", ENTRY)
    write_lock(lock, tmp_path / "images.lock")
    assert read_lock(tmp_path / "images.lock") == lock


@pytest.mark.parametrize(
    "text", ["{", '{"schema_version": 2}', '{"images": {"a": {"pins": {"debian": {"x": {}}}}}}']
)
def test_a_broken_lock_is_told_in_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "images.lock"
    path.write_text(text)
    with pytest.raises(WrongInput, match="restore the file from the repository") as caught:
        read_lock(path)
    assert "\n" not in str(caught.value)


@pytest.fixture
def moved_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package archive that has the next version of the locked package."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    paragraphs = [deb(tmp_path, folder, "tool", "1.0-2"), deb(tmp_path, folder, "apt", "3.0")]
    (folder / "Packages").write_text("\n".join(paragraphs))
    monkeypatch.setattr(debian, "source_line", lambda _: f"deb [trusted=yes] copy://{folder} ./\n")


def deb(tmp_path: Path, folder: Path, name: str, version: str) -> str:
    """Builds an empty, essential package; returns its paragraph of the index."""
    root = tmp_path / name
    (root / "DEBIAN").mkdir(parents=True)
    control = f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nEssential: yes\n"
    control += "Maintainer: Nobody <nobody@localhost>\nDescription: a test\n"
    (root / "DEBIAN" / "control").write_text(control)
    path = folder / f"{name}_{version}_amd64.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "--build", str(root), str(path)], check=True, capture_output=True
    )
    return f"{control}Filename: ./{path.name}\nSize: {path.stat().st_size}\nSHA256: {sha256_file(path)}\n"


@pytest.mark.usefixtures("moved_mirror")
def test_a_locked_package_that_the_mirror_lost_stops_the_build_by_name(tmp_path: Path) -> None:
    with pytest.raises(InfraFailure, match=r"no longer has tool 1\.0-1 of images\.lock"):
        pinned(Lock().with_entry("tiny", ENTRY), [RECIPE], Pool(tmp_path / "pool"), False, silent)


@pytest.mark.usefixtures("moved_mirror")
def test_accepted_drift_takes_what_there_is_and_says_so(tmp_path: Path) -> None:
    old, pool = Lock().with_entry("tiny", ENTRY), Pool(tmp_path / "pool")
    new = pinned(old, [RECIPE], pool, True, silent)
    assert (new.state, new.drifted_from) == ("drifted", old.pins_sha256())
    pins = new.images["tiny"].pins
    assert {name: pin.version for name, pin in pins.debian.items()} == {"tool": "1.0-2", "apt": "3.0"}
    assert pool.missing(pool.files(pins)) == []


@pytest.mark.usefixtures("moved_mirror")
def test_what_the_pool_has_needs_no_mirror(tmp_path: Path) -> None:
    pool = Pool(tmp_path / "pool")
    lock = pinned(Lock().with_entry("tiny", ENTRY), [RECIPE], pool, True, silent)
    (tmp_path / "mirror" / "Packages").write_text("")
    assert pinned(lock, [RECIPE], pool, False, silent) == lock


def test_a_drifted_lock_counts_only_while_the_repository_has_the_pins_it_came_from(tmp_path: Path) -> None:
    store = ImageStore(tmp_path, tmp_path / "images.lock")
    pinned_lock = Lock().with_entry("tiny", ENTRY)
    own = pinned_lock.model_copy(update={"state": "drifted", "drifted_from": pinned_lock.pins_sha256()})
    write_lock(pinned_lock, store.lock_path)
    write_lock(own, store.drift_path)
    assert store.lock() == own
    write_lock(Lock().with_entry("other", ENTRY), store.lock_path)
    assert store.lock().state == "pinned"
