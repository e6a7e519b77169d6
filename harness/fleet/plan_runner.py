"""Running a plan: its open cells, so many at once, each cell once.

A cell counts as filled when a run of it is in the store whose session ended by its own doing; a run that our
side spoiled (`infra_error`) does not fill it. A run that was stopped after its session is continued, not
begun again. Each cell is claimed by a lock file while it runs, so that two runners of one plan share it.
"""

import fcntl
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from contracts.errors import InfraFailure, PlayproofError
from contracts.plan import Cell
from contracts.record import RunRecord
from harness.archive.store import Store

RunCell = Callable[[Cell, str | None], RunRecord]
"""Runs a cell, or continues the run whose id is given."""

Report = Callable[[Cell, str], None]


def run_plan(
    cells: list[Cell], store: Store, at_once: int, run_cell: RunCell, report: Report
) -> list[RunRecord]:
    """Fill the open cells of a plan; returns the records of all its filled cells, in the plan's order.

    A cell that fails is reported and left open; the others go on. Raises InfraFailure at the end where a cell
    stayed open.
    """
    results: dict[str, RunRecord] = {}
    failed: list[str] = []
    lock = threading.Lock()

    def fill(cell: Cell) -> None:
        with _claim(store.root, cell) as mine:
            if not mine:
                report(cell, "is being run by another process")
                return
            done, unfinished = _standing(store, cell)
            if done is not None:
                report(cell, f"was run already ({done.run_id})")
            try:
                record = done or run_cell(cell, unfinished)
            except PlayproofError as error:
                with lock:
                    failed.append(f"{cell.contract.label} × {cell.stack.model} #{cell.repeat}: {error}")
                return
            with lock:
                results[cell.name] = record

    with ThreadPoolExecutor(max_workers=at_once) as pool:
        for future in [pool.submit(fill, cell) for cell in cells]:
            future.result()
    if failed:
        raise InfraFailure(
            f"{len(failed)} of {len(cells)} cells were not run; run the plan again. First: {failed[0]}"
        )
    return [results[cell.name] for cell in cells if cell.name in results]


def _standing(store: Store, cell: Cell) -> tuple[RunRecord | None, str | None]:
    """The finished run of a cell, or the id of one that can be continued."""
    mine = [
        record for record in store.records()[0] if record.cell == cell.name and record.exit != "infra_error"
    ]
    for record in mine:
        if record.stage == "done":
            return record, None
    for record in mine:
        if record.exit is not None:
            return None, record.run_id
    return None, None


@contextmanager
def _claim(root: Path, cell: Cell) -> Generator[bool]:
    """Hold the cell's lock; yields whether it was free. The kernel drops the lock when the holder dies."""
    folder = root / ".cells"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{cell.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
