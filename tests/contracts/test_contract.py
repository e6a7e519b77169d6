from pathlib import Path
from typing import Any

import pytest
import yaml

from contracts.canonical import sha256_file
from contracts.contract import SHELF, Contract, all_contracts, find_contract
from contracts.document import load
from contracts.errors import WrongInput
from contracts.prompt import pinned_prompt, prompt_sha256, render

ARENA = SHELF / "arena-1.yaml"


def changed(tmp_path: Path, **fields: Any) -> Path:
    """A copy of a shipped contract with some fields replaced."""
    value = yaml.safe_load(ARENA.read_text()) | fields
    path = tmp_path / "changed.yaml"
    path.write_text(yaml.safe_dump(value))
    return path


@pytest.mark.parametrize("contract", all_contracts(), ids=lambda contract: contract.label)
def test_a_shipped_contract_pins_what_is_here(contract: Contract) -> None:
    assert prompt_sha256(pinned_prompt(contract)) == contract.prompt.sha256
    assert sha256_file(contract.evaluator.path) == contract.evaluator.sha256
    assert contract.evaluator_source()


def test_four_games_are_on_the_shelf_and_three_are_not_ours() -> None:
    games = {contract.game.name for contract in all_contracts()}
    assert len(games) >= 4
    assert "arena" in games


def test_the_prompt_is_the_same_bytes_each_time_and_names_no_model() -> None:
    contract = find_contract("arena")
    assert render(contract) == render(contract)
    assert "{{" not in render(contract)


def test_comments_do_not_change_a_contracts_digest_but_any_field_does(tmp_path: Path) -> None:
    plain = load(changed(tmp_path), Contract).digest
    assert plain == load(ARENA, Contract).digest
    assert load(changed(tmp_path, title="Other"), Contract).digest != plain


def test_a_changed_prompt_stops_before_the_start(tmp_path: Path) -> None:
    contract = load(changed(tmp_path, goal="Another goal altogether."), Contract)
    with pytest.raises(WrongInput, match="the prompt renders to digest"):
        pinned_prompt(contract)


def test_a_changed_evaluator_stops_before_the_start(tmp_path: Path) -> None:
    pin = {"file": "evaluators/games/arena-1.ts", "sha256": "0" * 64}
    contract = load(changed(tmp_path, evaluator=pin), Contract)
    with pytest.raises(WrongInput, match="evaluator"):
        contract.evaluator_source()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"evaluator": {"file": "../x.ts", "sha256": "0" * 64}}, "inside the repository"),
        ({"replays": {"count": 3, "seeds": [1]}}, "need 3 seeds"),
        ({"caps": {"session_s": 0}}, "greater than 0"),
        ({"schema_version": 2}, "schema_version"),
        ({"clok": "real"}, "clok"),
    ],
)
def test_a_mistake_in_a_contract_is_one_sentence(
    tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(WrongInput, match=message):
        load(changed(tmp_path, **fields), Contract)


def test_the_newest_version_is_found_by_name_and_any_by_label() -> None:
    assert find_contract("arena@1").version == 1
    assert find_contract("arena").version == max(c.version for c in all_contracts() if c.name == "arena")


def test_an_unknown_contract_is_answered_with_the_known_ones() -> None:
    with pytest.raises(WrongInput, match="arena@1"):
        find_contract("chess")
