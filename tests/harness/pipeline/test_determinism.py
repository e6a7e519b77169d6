"""The same script on the same images gives the same tape and the same result, whatever the host does beside it: each game's canonical script, ten
times with each seed of its contract, half of them beside two busy programs. Hours on two cores: run by name, one game or seed at a time
(`-k arena`, `-k "arena and 11"`)."""

import multiprocessing
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts.contract import Contract, all_contracts
from contracts.record import ReplayRecord
from harness.archive.secrets import Secrets
from harness.archive.store import Store
from harness.engine import Engine
from harness.pipeline.appliance import Appliance
from harness.pipeline.replays import Playable, jobs_for
from harness.replay.replay import play_once
from images import ImageStore

CANARIES = Path(__file__).parents[3] / "evaluators" / "canaries"
GAMES = [
    (contract, seed)
    for contract in all_contracts()
    if contract.replays.clock == "virtual"
    for seed in contract.replays.seeds
]
REPLAYS = 10


def spin() -> None:
    while True:
        pass


@contextmanager
def busy_host(programs: int) -> Generator[None]:
    hogs = [multiprocessing.get_context("spawn").Process(target=spin, daemon=True) for _ in range(programs)]
    for hog in hogs:
        hog.start()
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()


@pytest.mark.long
@pytest.mark.docker
@pytest.mark.browser
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("contract", "seed"), GAMES, ids=lambda value: getattr(value, "label", value))
def test_ten_replays_give_one_tape_and_one_result(
    engine: Engine, tmp_path: Path, contract: Contract, seed: int
) -> None:
    appliance = Appliance(
        engine, ImageStore(), Store(tmp_path / "runs"), Secrets.from_environment(), say=lambda _: None
    )
    script = CANARIES / contract.game.name / "win.ts"
    what = Playable(script.read_bytes(), script.name, contract)
    rules = contract.replays.model_copy(update={"seeds": (seed,) * REPLAYS, "count": REPLAYS})
    records: list[ReplayRecord] = []
    for job in jobs_for(appliance, what, rules, "off", journal=False):
        folder = tmp_path / str(job.index)
        folder.mkdir()
        with busy_host(2 if job.index > REPLAYS // 2 else 0):
            records.append(play_once(engine, job, folder, lambda _: None))
    assert all(record.outcome == "cleared" for record in records), [record.detail for record in records]
    assert len({record.tape_sha256 for record in records}) == 1
    assert len({record.result_sha256 for record in records}) == 1
