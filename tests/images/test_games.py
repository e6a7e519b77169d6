"""Game recipes: what of a package is taken, what a mistake says, what a game's digest covers."""

from pathlib import Path

import pytest

from contracts.canonical import folder_digest
from contracts.errors import WrongInput
from images.games import NpmSource, choose, game_names, layer_entries, load_game, matches, source_sha256
from images.layers import Entry
from images.pool import Pool

INTEGRITY = "sha512-" + "A" * 86 + "=="


def game(folder: Path, text: str, **files: str) -> Path:
    home = folder / "pong"
    (home / "source").mkdir(parents=True)
    (home / "recipe.yaml").write_text(text)
    for name, content in files.items():
        (home / "source" / name.replace("_", ".")).write_text(content)
    return folder


RECIPE = (
    'name: pong\nversion: "1"\nlicence: MIT\nserve: static\nentry: /index.html\nsource: {local: source}\n'
)


def test_every_recipe_of_the_repository_is_readable_and_has_a_digest() -> None:
    assert len({load_game(name).sha256 for name in game_names()}) == len(game_names()) >= 1


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("js/a.js", "js/**", True),
        ("js/deep/er/a.js", "js/**", True),
        ("a.js", "**", True),
        ("a.js", "**/*.js", True),
        ("js/a.js", "*.js", False),
        ("js/deep/a.js", "js/*", False),
        ("style/x/main.scss", "style/**/*.scss", True),
        ("style/main.scss", "style/**/*.scss", True),
        ("LICENSE", "LICENSE", True),
        ("LICENSE.txt", "LICENSE", False),
    ],
)
def test_a_star_stays_in_its_folder_and_two_do_not(path: str, pattern: str, fits: bool) -> None:
    assert matches(path, (pattern,)) is fits


def test_stripping_moves_one_folder_to_the_top_and_leaves_the_rest() -> None:
    source = NpmSource(npm="p@1.0.0", integrity=INTEGRITY, exclude=("x/y/audio/**",), strip="x/y")
    files = {"LICENSE": Entry(b""), "x/y/index.html": Entry(b""), "x/y/audio/a.ogg": Entry(b"")}
    assert sorted(choose(files, source)) == ["LICENSE", "index.html"]


def test_the_source_digest_is_the_folder_digest_of_the_design(tmp_path: Path) -> None:
    files = {"index.html": Entry(b"<!doctype html>"), "js/run": Entry(b"x", 0o755), "a-b": Entry(b"")}
    for path, entry in files.items():
        target = tmp_path / path
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(entry.data or b"")
        target.chmod(entry.mode)
    assert source_sha256(files) == folder_digest(tmp_path)


def test_a_game_says_what_it_is_in_its_image(tmp_path: Path) -> None:
    found = load_game("pong", game(tmp_path, RECIPE, index_html="hello"))
    entries = layer_entries(found.recipe, found.project(Pool(tmp_path)))
    assert sorted(entries) == ["opt/game.json", "opt/game/index.html"]
    assert b'"entry": "/index.html"' in (entries["opt/game.json"].data or b"")


def test_a_changed_file_changes_the_game_and_a_changed_note_does_not(tmp_path: Path) -> None:
    folder = game(tmp_path, RECIPE, index_html="hello")
    before = load_game("pong", folder).sha256
    (folder / "pong" / "recipe.yaml").write_text(RECIPE + "notes: a word to the reader\n")
    assert load_game("pong", folder).sha256 == before
    (folder / "pong" / "source" / "index.html").write_text("changed")
    assert load_game("pong", folder).sha256 != before


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (RECIPE.replace("/index.html", "/start.html"), "the entry /start.html is not among"),
        (RECIPE + "licence_file: COPYING\n", "the licence file COPYING is not among"),
        (RECIPE + "overlay: nowhere\n", "nowhere that a game's recipe names does not exist"),
    ],
)
def test_a_recipe_that_does_not_fit_its_files_is_told(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(WrongInput, match=told):
        load_game("pong", game(tmp_path, text, index_html="x")).project(Pool(tmp_path))


@pytest.mark.parametrize(
    "source",
    [
        "{npm: p, integrity: " + INTEGRITY + "}",
        "{npm: p@^1.0, integrity: " + INTEGRITY + "}",
        "{npm: p@1.0.0, integrity: sha1-x}",
    ],
)
def test_a_package_without_exact_version_and_full_integrity_is_refused(tmp_path: Path, source: str) -> None:
    text = RECIPE.replace("{local: source}", source)
    with pytest.raises(WrongInput, match="source"):
        load_game("pong", game(tmp_path, text))


def test_an_unknown_game_is_told_with_the_known_ones() -> None:
    with pytest.raises(WrongInput, match="There is no game 'no-such-game'; the games are: "):
        load_game("no-such-game")
