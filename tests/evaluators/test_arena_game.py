"""Our own game: its recipe keeps its promises, its rules hold, and its canaries end as they must.

The rules are played by Node in the replay image, without a picture; the canaries are real replays: the game's
own container, Chromium in the other, the trusted evaluator.
"""

import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker
import pytest
import yaml

from contracts.contract import Caps, ContainerLimits, Replays
from harness.engine import ContainerSpec, Engine, Limits
from harness.replay.job import ReplayJob
from harness.replay.project import Project
from harness.replay.replay import play_once
from images.games import load_game
from images.store import ImageStore

REPO = Path(__file__).resolve().parents[2]
GAME = REPO / "images/games/arena"
SOURCE = GAME / "source"
CANARIES = REPO / "evaluators/canaries/arena"
EVALUATOR = REPO / "evaluators/games/arena-1.ts"
RULES = Path(__file__).with_name("arena_rules.mjs")
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((CANARIES / "canaries.yaml").read_text())["scripts"]
TEXTS = [path for path in sorted(SOURCE.rglob("*")) if path.is_file()]


def test_the_recipe_bakes_the_very_dependencies_that_the_package_names() -> None:
    package = json.loads((SOURCE / "package.json").read_text())
    recipe = load_game("arena").recipe
    baked = {name: wanted.version for name, wanted in recipe.dependencies.items()}
    assert baked == package["dependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in package["devDependencies"].values())


def test_the_game_asks_nothing_of_the_network() -> None:
    for path in TEXTS:
        assert not re.search(r"https?:|\bfetch\(|XMLHttpRequest|WebSocket", path.read_text()), path


def test_chance_comes_from_one_module_only() -> None:
    users = [path.name for path in TEXTS if "Math.random" in path.read_text()]
    assert users == ["rng.ts"]


def test_every_canary_is_listed_with_how_it_ends() -> None:
    assert sorted(EXPECTED) == sorted(path.name for path in CANARIES.glob("*.ts"))
    assert sum(expected["cleared"] and expected["honest"] for expected in EXPECTED.values()) == 1


def test_honest_canaries_write_nothing_into_the_game() -> None:
    assignment = re.compile(r"\b(?:gameState|player|enemy|target)(?:\.\w+)+\s*(?:[-+*/]?=)(?!=)")
    for name, expected in EXPECTED.items():
        assert bool(assignment.search((CANARIES / name).read_text())) is not expected["honest"], name


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    connected = Engine.connect()
    yield connected
    connected.close()


@pytest.fixture(scope="module")
def images() -> tuple[str, str]:
    """The replay image with the game in it, and without."""
    store = ImageStore()
    client = docker.from_env()
    game = store.ready("replay", "arena", client)
    browser = store.ready("replay", None, client)
    return game.engine_ref, browser.engine_ref


@pytest.fixture
def run_id(engine: Engine) -> Iterator[str]:
    made = f"test-arena-{secrets.token_hex(4)}"
    yield made
    engine.remove_run(made)


@pytest.mark.docker
@pytest.mark.timeout(600)
def test_the_rules_of_the_game_hold(engine: Engine, images: tuple[str, str], run_id: str) -> None:
    spec = ContainerSpec(
        image=images[0],
        role="game",
        run_id=run_id,
        command=("sleep", "300"),
        limits=Limits(memory_bytes=512 << 20, pids=64, cpus=1, file_bytes=None),
        workdir="/tmp",
    )
    container = engine.create(spec)
    container.start()
    command = ("node", "--input-type=module", "--test-reporter=tap", "-")
    done = container.exec(command, timeout_s=120, stdin=RULES.read_bytes())
    told = done.stdout.decode() + done.stderr.decode()
    assert done.code == 0, told
    assert "# fail 0" in told
    assert "# pass 0" not in told


@pytest.mark.docker
@pytest.mark.timeout(600)
@pytest.mark.browser
@pytest.mark.parametrize("script", sorted(EXPECTED))
def test_a_canary_ends_as_it_must(
    engine: Engine, images: tuple[str, str], run_id: str, script: str, tmp_path: Path
) -> None:
    job = ReplayJob(
        run_id=run_id,
        index=1,
        script=(CANARIES / script).read_bytes(),
        script_name=script,
        project=Project(image=images[0]),
        browser_image=images[1],
        evaluator=EVALUATOR.read_text(),
        seed=None,
        replays=Replays(count=1, seeds=(1,)),
        caps=Caps(),
        limits=ContainerLimits(),
        video="off",
    )
    found = play_once(engine, job, tmp_path, lambda _: None)
    assert found.outcome == ("cleared" if EXPECTED[script]["cleared"] else "not_cleared"), found
    assert (found.level_time_ms is not None) is EXPECTED[script]["cleared"]
    if script == "win.ts":
        assert found.evidence is not None
        assert found.evidence["kills"] == found.evidence["enemiesTotal"]
        assert found.level_time_ms is not None
        assert 3_000 < found.level_time_ms < 40_000
