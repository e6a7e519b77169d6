"""The whole promise of the lock: from the pool alone, without network, every layer comes out the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from images.lock import LOCK_PATH, Built, Lock, LockEntry, read_lock, write_lock
from images.recipe import REPO
from images.store import ImageStore

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

BUILD = "import sys; from pathlib import Path; from images import ImageStore; "
BUILD += "ImageStore(Path(sys.argv[1]), Path(sys.argv[2])).build(['replay', 'agent'])"
NOWHERE = "http://127.0.0.1:9"


def test_a_rebuild_from_the_pool_without_network_gives_the_locked_layers(tmp_path: Path) -> None:
    store = ImageStore()
    store.build(["replay", "agent"])
    home, lock_path = tmp_path / "home", tmp_path / "images.lock"
    (home / "images").mkdir(parents=True)
    (home / "images" / "pool").symlink_to(store.pool.root)
    promised = read_lock(LOCK_PATH)
    write_lock(Lock(images={n: LockEntry(pins=e.pins) for n, e in promised.images.items()}), lock_path)
    unreachable = {"http_proxy": NOWHERE, "https_proxy": NOWHERE, "PLAYPROOF_DEBIAN_MIRROR": NOWHERE}
    subprocess.run(
        [sys.executable, "-c", BUILD, str(home), str(lock_path)],
        cwd=REPO,
        env={**os.environ, **unreachable},
        check=True,
    )
    rebuilt = read_lock(lock_path)
    for name, entry in promised.images.items():
        found = rebuilt.images[name].built
        assert found and entry.built
        assert packages(found) == packages(entry.built)


def packages(built: Built) -> list[tuple[str, str]]:
    """The layers that packages are in: our own files may be edited while this test runs."""
    return [(layer.step, layer.diff_id) for layer in built.layers if layer.step != "app"]
