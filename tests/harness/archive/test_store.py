import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.contract import find_contract
from contracts.errors import WrongInput
from contracts.record import RunRecord, StackUsed
from harness.archive.secrets import Secrets
from harness.archive.store import RUN_ID, Store, new_run_id, read_record, write_record


def record(run_id: str) -> RunRecord:
    return RunRecord(
        run_id=run_id,
        contract="arena@1",
        contract_digest="0" * 64,
        created="2026-11-30T00:00:00.000+00:00",
        stack=StackUsed(agent="bash", model="m"),
        prompt_sha256="0" * 64,
        evaluator_sha256="0" * 64,
        images={},
        game={},
    )


IDS = ["20261130-120000-arena-1-aaaaaa", "20261130-120001-arena-1-aaabbb", "20261130-120002-arena-1-bbbbbb"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    for run_id in IDS:
        write_record(tmp_path / run_id, record(run_id), Secrets(()))
    (tmp_path / "not-a-run").mkdir()
    return Store(tmp_path)


def test_a_key_in_a_record_is_not_written(tmp_path: Path) -> None:
    """Case: a server's error that echoed the key became the run's exit reason, and so stood in run.json."""
    secrets = Secrets.from_environment({"A_API_KEY": 'sk-"quoted"-1234'})
    echoed = record(IDS[0]).model_copy(update={"exit_reason": 'bad key sk-"quoted"-1234'})
    written = write_record(tmp_path / IDS[0], echoed, secrets)
    assert written.exit_reason == "bad key [removed: A_API_KEY]"
    assert read_record(tmp_path / IDS[0]) == written


def test_a_new_run_id_is_one() -> None:
    assert RUN_ID.match(new_run_id(find_contract("arena")))


def test_records_come_newest_first(store: Store) -> None:
    assert [one.run_id for one in store.records()[0]] == IDS[::-1]


def test_a_run_is_found_by_a_beginning_or_as_the_last(store: Store) -> None:
    assert store.find(IDS[0]).name == IDS[0]
    assert store.find("20261130-120002").name == IDS[2]
    assert store.find("last").name == IDS[2]


@pytest.mark.parametrize("name", ["20261130", "nope", "", "..", "../etc"])
def test_a_name_that_is_not_one_run_is_refused(store: Store, name: str) -> None:
    with pytest.raises(WrongInput):
        store.find(name)


@given(st.text())
def test_no_text_leads_out_of_the_store(text: str) -> None:
    root = Path("/store")
    try:
        folder = Store(root).folder(text)
    except WrongInput:
        return
    assert folder.parent == root


def test_a_damaged_record_is_reported_and_the_others_are_listed(store: Store) -> None:
    (store.root / IDS[1] / "run.json").write_text('{"run_id": 3')
    (store.root / IDS[2] / "run.json").unlink()
    records, problems = store.records()
    assert [one.run_id for one in records] == [IDS[0]]
    assert len(problems) == 2


def test_a_record_of_a_later_schema_is_refused_in_one_sentence(store: Store) -> None:
    path = store.root / IDS[0] / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 99}))
    with pytest.raises(WrongInput, match="schema version 99"):
        read_record(store.root / IDS[0])
