"""Images, volumes and refusals of a real engine."""

from pathlib import Path

import pytest

from contracts.errors import InfraFailure, WrongInput
from harness.engine import ContainerSpec, Engine, Limits

pytestmark = pytest.mark.docker

LIMITS = Limits(memory_bytes=64 << 20, pids=32, cpus=1.0)


def test_an_image_is_known_by_its_id_only_when_the_engine_holds_it(engine: Engine, tiny_image: str) -> None:
    assert engine.has_image(tiny_image)
    assert not engine.has_image("sha256:" + "0" * 64)


def test_a_container_of_an_absent_image_is_one_sentence_with_the_remedy(engine: Engine, run_id: str) -> None:
    with pytest.raises(InfraFailure, match=r"no such image .*playproof images build"):
        engine.create(ContainerSpec("sha256:" + "0" * 64, "game", run_id, ("true",), LIMITS))


def test_a_runtime_the_engine_does_not_have_is_one_sentence(
    engine: Engine, tiny_image: str, run_id: str
) -> None:
    with pytest.raises(InfraFailure, match="runtime"):
        engine.create(ContainerSpec(tiny_image, "game", run_id, ("true",), LIMITS, runtime="no-such")).start()


def test_an_image_can_be_saved_removed_and_loaded_again(
    engine: Engine, tiny_image: str, tmp_path: Path
) -> None:
    archive = tmp_path / "image.tar"
    archive.write_bytes(engine.api.call("GET", f"/images/{tiny_image}/get", "save").content)
    engine.load_image(archive)
    assert engine.has_image(tiny_image)


def test_what_is_no_image_archive_is_not_loaded(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match=r"cannot be read .*playproof images build"):
        engine.load_image(tmp_path / "none.tar")
    (tmp_path / "bad.tar").write_bytes(b"not a tar at all" * 100)
    with pytest.raises(InfraFailure, match=r"could not load bad\.tar"):
        engine.load_image(tmp_path / "bad.tar")


def test_a_volume_too_small_to_hold_anything_is_refused(engine: Engine, run_id: str) -> None:
    with pytest.raises(WrongInput, match="too small"):
        engine.tmpfs_volume(run_id, "w", 10)


def test_everything_made_carries_the_four_labels(engine: Engine, tiny_image: str, run_id: str) -> None:
    volume = engine.tmpfs_volume(run_id, "w", 1 << 20)
    container = engine.create(ContainerSpec(tiny_image, "game", run_id, ("true",), LIMITS, expires=77.0))
    there = engine.api.json("GET", f"/containers/{container.id}/json", "look")["Config"]["Labels"]
    assert there == {
        "playproof.run": run_id,
        "playproof.role": "game",
        "playproof.owner": str(engine.owner),
        "playproof.expires": "77",
    }
    assert engine.api.json("GET", f"/volumes/{volume}", "look")["Labels"]["playproof.expires"] == "run"


def test_more_cores_than_the_machine_has_are_not_asked_for(
    engine: Engine, tiny_image: str, run_id: str
) -> None:
    greedy = Limits(memory_bytes=64 << 20, pids=32, cpus=4096.0)
    container = engine.create(ContainerSpec(tiny_image, "game", run_id, ("true",), greedy))
    assert container.spec.limits.cpus == engine.cores
