from pathlib import Path

import pytest

from contracts.errors import WrongInput
from contracts.plan import load_plan


def plan(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    return path


def test_a_plan_falls_into_contracts_times_stacks_times_repeats(tmp_path: Path) -> None:
    cells = load_plan(plan(tmp_path, "contracts: [arena]\nstacks: [{model: a}, {model: b}]\nrepeats: 3\n"))
    assert [(cell.stack.model, cell.repeat) for cell in cells] == [(m, r) for r in (1, 2, 3) for m in "ab"]
    assert len({cell.name for cell in cells}) == 6


def test_more_repeats_keep_the_names_of_the_cells_that_were_there(tmp_path: Path) -> None:
    few = load_plan(plan(tmp_path, "contracts: [arena]\nstacks: [{model: a}]\nrepeats: 1\n"))
    many = load_plan(plan(tmp_path, "contracts: [arena]\nstacks: [{model: a}]\nrepeats: 2\n"))
    assert few[0].name == many[0].name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("contracts: [arena]\nstacks: []\n", ":2: stacks"),
        ("contracts: [nope]\nstacks: [{model: a}]\n", "no contract 'nope'"),
        ("contracts: [arena]\nstacks: [{model: a}, {model: a}]\n", "listed twice"),
        ("contracts: [arena]\nstacks: [{model: 'scripted:no.yaml'}]\n", "does not exist beside the plan"),
        ("contracts: [arena]\nstacks: [{model: a, base_url: 'ftp://x'}]\n", "http"),
        ("contracts: [arena]\nstacks: [{model: a}]\nrepeat: 2\n", ":3: repeat"),
    ],
)
def test_a_mistake_in_a_plan_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(WrongInput, match=message):
        load_plan(plan(tmp_path, text))
