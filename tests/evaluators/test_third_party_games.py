"""The games nobody here wrote: nothing of them is kept here, their judges are sound, their canaries end as they must.

A canary is a real replay: the game's server in one container, Chromium in the other, the trusted evaluator. The
winning scripts play against chance and the clock of a busy machine, so nothing is asserted about how long they take.
"""

import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker
import pytest
import yaml

from contracts.contract import Caps, ContainerLimits, Replays
from harness.engine import Engine
from harness.replay.job import ReplayJob
from harness.replay.project import Project
from harness.replay.replay import play_once
from images.games import NpmSource, load_game
from images.store import ImageStore

REPO = Path(__file__).resolve().parents[2]
GAMES = sorted(
    path.parent.name
    for path in (REPO / "images/games").glob("*/recipe.yaml")
    if isinstance(load_game(path.parent.name).recipe.source, NpmSource)
)
CANARIES = REPO / "evaluators/canaries"
OPEN_LICENCES = {"MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"}
WIN_TIMEOUT_S = 600
OVERLAY_MAX_BYTES = 2000
ARRAY_METHODS = re.compile(
    r"\.(?:map|filter|forEach|some|every|find|findIndex|reduce|includes|indexOf|push|join|slice|sort|concat|flat)\("
)
PAGE_NATIVES = re.compile(
    r"\b(?:localStorage\.|JSON\.|performance\.now|requestAnimationFrame|Date\.now|setTimeout)"
)


def canaries(game: str) -> dict[str, Any]:
    return yaml.safe_load((CANARIES / game / "canaries.yaml").read_text())


def evaluator(game: str) -> Path:
    return REPO / str(canaries(game)["evaluator"])


SCRIPTS = [(game, script) for game in GAMES for script in sorted(canaries(game)["scripts"])]


def test_there_are_at_least_three_of_them() -> None:
    assert len(GAMES) >= 3


@pytest.mark.parametrize("game", GAMES)
def test_a_recipe_names_one_published_version_and_its_licence(game: str) -> None:
    recipe = load_game(game).recipe
    assert isinstance(recipe.source, NpmSource)
    assert recipe.source.npm.rpartition("@")[2] == recipe.version
    assert recipe.licence in OPEN_LICENCES
    assert recipe.licence_file in recipe.source.include
    assert recipe.notes


@pytest.mark.parametrize("game", GAMES)
def test_nothing_but_small_files_of_ours_is_kept_of_a_game(game: str) -> None:
    folder = REPO / "images/games" / game
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "recipe.yaml":
            assert path.is_relative_to(folder / "overlay")
            assert path.suffix in {".html", ".js"}
            assert path.stat().st_size < OVERLAY_MAX_BYTES


@pytest.mark.parametrize("game", GAMES)
def test_an_evaluator_is_named_after_the_version_it_judges(game: str) -> None:
    listed = canaries(game)
    recipe = load_game(game).recipe
    assert (listed["game"], listed["version"]) == (recipe.name, recipe.version)
    assert evaluator(game).name == f"{recipe.name}-{recipe.version}.ts"


@pytest.mark.parametrize("game", GAMES)
def test_an_evaluator_imports_only_the_games_own_modules(game: str) -> None:
    for line in evaluator(game).read_text().splitlines():
        if line.startswith("import"):
            assert re.fullmatch(r'import (?:\* as \w+|\{ [\w, ]+ \}) from "/[\w./-]+";', line), line


@pytest.mark.parametrize("game", GAMES)
def test_an_evaluator_uses_nothing_that_the_page_can_replace_later(game: str) -> None:
    functions = evaluator(game).read_text().partition("\nfunction ")[2]
    assert not ARRAY_METHODS.search(functions)
    assert not PAGE_NATIVES.search(functions)


@pytest.mark.parametrize("game", GAMES)
def test_every_canary_is_listed_with_how_it_ends(game: str) -> None:
    scripts = canaries(game)["scripts"]
    assert set(scripts) == {path.name for path in (CANARIES / game).glob("*.ts")}
    assert {"win.ts", "idle.ts", "lose.ts", "cheat.ts"} <= set(scripts)
    for name, expected in scripts.items():
        assert expected["cleared"] is (name in {"win.ts", "cheat.ts"})
        assert expected["honest"] is (name != "cheat.ts")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    connected = Engine.connect()
    yield connected
    connected.close()


@pytest.fixture
def run_id(engine: Engine) -> Iterator[str]:
    made = f"test-games-{secrets.token_hex(4)}"
    yield made
    engine.remove_run(made)


@pytest.mark.docker
@pytest.mark.browser
@pytest.mark.timeout(WIN_TIMEOUT_S + 120)
@pytest.mark.parametrize(("game", "script"), SCRIPTS)
def test_a_canary_ends_as_it_must(
    engine: Engine, run_id: str, game: str, script: str, tmp_path: Path
) -> None:
    store = ImageStore()
    client = docker.from_env()
    job = ReplayJob(
        run_id=run_id,
        index=1,
        script=(CANARIES / game / script).read_bytes(),
        script_name=script,
        project=Project(image=store.ready("replay", game, client).engine_ref),
        browser_image=store.ready("replay", None, client).engine_ref,
        evaluator=evaluator(game).read_text(),
        seed=None,
        replays=Replays(count=1, seeds=(1,)),
        caps=Caps(replay_s=WIN_TIMEOUT_S),
        limits=ContainerLimits(),
        video="off",
    )
    found = play_once(engine, job, tmp_path, lambda _: None)
    expected = canaries(game)["scripts"][script]
    assert found.outcome == ("cleared" if expected["cleared"] else "not_cleared"), found
    assert (found.level_time_ms is not None) is expected["cleared"]
    assert found.evidence is not None
