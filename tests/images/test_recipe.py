"""Recipes: what they inherit, what changes their digest, how a mistake in one is told."""

from pathlib import Path

import pytest

from contracts.errors import WrongInput
from images.recipe import load_recipe, recipe_names, recipe_sha256, repo_files

BASE = "name: base\ndebian: {suite: trixie, packages: [python3]}\nfiles: [{from: driver, to: /opt/driver}]\n"


def write(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder


def test_the_recipes_of_the_repository_are_agent_and_replay() -> None:
    assert recipe_names() == ["agent", "replay"]
    assert set(load_recipe("replay").debian.packages) < set(load_recipe("agent").debian.packages)


def test_an_extending_recipe_adds_to_the_lower_one(tmp_path: Path) -> None:
    more = "name: more\nextends: base\ndebian: {suite: trixie, packages: [git]}\nenv: {A: b}\n"
    recipe = load_recipe("more", write(tmp_path, base=BASE, more=more))
    assert recipe.debian.packages == ("python3", "git")
    assert recipe.env == {"A": "b"}
    assert recipe.files[0].to == "/opt/driver"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: base\ndebian: {suite: trixie, packages: [a], colour: red}", "debian.colour"),
        ("name: base\n  debian: [", "not readable YAML"),
        ("name: other\ndebian: {suite: trixie, packages: [a]}", "must be the same"),
    ],
)
def test_a_mistake_in_a_recipe_is_one_sentence_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(WrongInput, match=told) as caught:
        load_recipe("base", write(tmp_path, base=text))
    assert "\n" not in str(caught.value)


def test_an_unknown_recipe_is_told_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match="no image recipe 'x'; the recipes are: base"):
        load_recipe("x", write(tmp_path, base=BASE))


def test_a_changed_repository_file_is_a_changed_recipe(tmp_path: Path) -> None:
    recipe = load_recipe("base", write(tmp_path, base=BASE))
    source = tmp_path / "driver"
    source.mkdir()
    (source / "a.py").write_text("one")
    before = recipe_sha256(recipe, repo_files(recipe, tmp_path))
    (source / "__pycache__").mkdir()
    (source / "__pycache__" / "a.pyc").write_text("noise")
    assert recipe_sha256(recipe, repo_files(recipe, tmp_path)) == before
    (source / "a.py").write_text("two")
    assert recipe_sha256(recipe, repo_files(recipe, tmp_path)) != before


def test_links_in_the_repository_are_not_followed_into_an_image(tmp_path: Path) -> None:
    recipe = load_recipe("base", write(tmp_path, base=BASE))
    (tmp_path / "driver").mkdir()
    (tmp_path / "driver" / "passwd").symlink_to("/etc/passwd")
    assert repo_files(recipe, tmp_path) == []
