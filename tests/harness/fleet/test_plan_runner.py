import threading
from pathlib import Path

import pytest

from contracts.errors import InfraFailure
from contracts.plan import Cell, load_plan
from contracts.record import RunRecord, StackUsed
from harness.archive.secrets import Secrets
from harness.archive.store import Store, new_run_id, write_record
from harness.fleet.plan_runner import run_plan


@pytest.fixture
def cells(tmp_path: Path) -> list[Cell]:
    path = tmp_path / "plan.yaml"
    path.write_text("contracts: [arena]\nstacks: [{model: a}, {model: b}]\nrepeats: 2\n")
    return load_plan(path)


class Runner:
    """Runs cells by writing a finished record, as the pipeline does at its end; counts what it did."""

    def __init__(self, root: Path, failing: str | None = None) -> None:
        self.store = Store(root / "runs")
        self.ran: list[tuple[str, str | None]] = []
        self.failing = failing
        self.lock = threading.Lock()
        self.now = self.most = 0

    def __call__(self, cell: Cell, run_id: str | None) -> RunRecord:
        with self.lock:
            self.ran.append((cell.name, run_id))
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            if cell.stack.model == self.failing:
                raise InfraFailure("The engine is gone.")
            return self.write(cell, "done", "submitted")
        finally:
            with self.lock:
                self.now -= 1

    def write(self, cell: Cell, stage: str, exit_: str) -> RunRecord:
        record = RunRecord.model_validate(
            {
                "run_id": new_run_id(cell.contract),
                "contract": cell.contract.label,
                "contract_digest": cell.contract.digest,
                "created": "2026-11-30T00:00:00+00:00",
                "stack": StackUsed(agent="bash", model=cell.stack.model),
                "prompt_sha256": "",
                "evaluator_sha256": "",
                "images": {},
                "game": {},
                "cell": cell.name,
                "stage": stage,
                "exit": exit_,
            }
        )
        write_record(self.store.folder(record.run_id), record, Secrets(()))
        return record


def quiet(cell: Cell, what: str) -> None:
    pass


def test_every_cell_runs_once_and_never_again(tmp_path: Path, cells: list[Cell]) -> None:
    runner = Runner(tmp_path)
    first = run_plan(cells, runner.store, 2, runner, quiet)
    again = run_plan(cells, runner.store, 2, runner, quiet)
    assert len(runner.ran) == len(cells)
    assert [one.run_id for one in first] == [one.run_id for one in again]


def test_no_more_cells_run_at_once_than_asked(tmp_path: Path, cells: list[Cell]) -> None:
    runner = Runner(tmp_path)
    run_plan(cells, runner.store, 1, runner, quiet)
    assert runner.most == 1


def test_a_failing_cell_leaves_the_others_run_and_stays_open(tmp_path: Path, cells: list[Cell]) -> None:
    runner = Runner(tmp_path, failing="b")
    with pytest.raises(InfraFailure, match="2 of 4 cells"):
        run_plan(cells, runner.store, 1, runner, quiet)
    runner.failing = None
    assert len(run_plan(cells, runner.store, 1, runner, quiet)) == 4
    assert len(runner.ran) == 6


def test_a_run_that_our_side_spoiled_does_not_fill_its_cell(tmp_path: Path, cells: list[Cell]) -> None:
    runner = Runner(tmp_path)
    runner.write(cells[0], "done", "infra_error")
    run_plan(cells, runner.store, 1, runner, quiet)
    assert (cells[0].name, None) in runner.ran


def test_a_run_stopped_after_its_session_is_continued(tmp_path: Path, cells: list[Cell]) -> None:
    runner = Runner(tmp_path)
    stopped = runner.write(cells[0], "evaluate", "submitted")
    run_plan(cells[:1], runner.store, 1, runner, quiet)
    assert runner.ran == [(cells[0].name, stopped.run_id)]
