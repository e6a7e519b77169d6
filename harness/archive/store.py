"""The runs/ folder: making run ids, reading records back, and finding a run by its name.

The folders are the only truth; a folder whose run.json is missing or unreadable is reported, not guessed at.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from pydantic import ValidationError

from contracts.contract import Contract
from contracts.errors import WrongInput
from contracts.record import SCHEMA_VERSION, RunRecord
from harness.archive.files import write_json
from harness.archive.secrets import Secrets

RECORD = "run.json"
RUN_ID = re.compile(r"^[0-9]{8}-[0-9]{6}-[a-z0-9-]+-[0-9a-f]{6}$")


def utc_now() -> str:
    """The time for people: UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def new_run_id(contract: Contract) -> str:
    """A run id that sorts by time and names its contract."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return f"{stamp}-{contract.name}-{contract.version}-{token_hex(3)}"


@dataclass(frozen=True)
class Store:
    """The folder that runs are kept in."""

    root: Path

    def folder(self, run_id: str) -> Path:
        """Where a run lies; a run id never leads out of the store."""
        if not RUN_ID.match(run_id):
            raise WrongInput(f"{run_id!r} is not a run id; `playproof list` shows them.")
        return self.root / run_id

    def find(self, name: str) -> Path:
        """The folder of the run whose id is `name`, or the only one that begins with it, or `last`."""
        ids = self.run_ids()
        if name == "last" and ids:
            return self.root / ids[-1]
        matches = [run_id for run_id in ids if run_id == name] or [i for i in ids if i.startswith(name)]
        if not name or not matches:
            raise WrongInput(
                f"There is no run {name!r} in {self.root}; `playproof list` shows what is there."
            )
        if len(matches) > 1:
            raise WrongInput(f"{name!r} begins {len(matches)} run ids in {self.root}; write more of it.")
        return self.root / matches[0]

    def run_ids(self) -> list[str]:
        """All run ids, oldest first."""
        if not self.root.is_dir():
            return []
        return sorted(path.name for path in self.root.iterdir() if RUN_ID.match(path.name) and path.is_dir())

    def records(self) -> tuple[list[RunRecord], list[str]]:
        """Every readable record, newest first, and a sentence for each folder that has none."""
        records: list[RunRecord] = []
        problems: list[str] = []
        for run_id in reversed(self.run_ids()):
            try:
                records.append(read_record(self.root / run_id))
            except WrongInput as error:
                problems.append(str(error))
        return records, problems


def write_record(folder: Path, record: RunRecord, secrets: Secrets) -> RunRecord:
    """Put a run's record in its place, without keys; returns it as it was written."""
    clean = RunRecord.model_validate_json(secrets.clean(record.model_dump_json().encode()))
    write_json(folder / RECORD, clean.model_dump(mode="json"))
    return clean


def read_record(folder: Path) -> RunRecord:
    """The record of a run's folder; raises WrongInput where there is none that can be read."""
    path = folder / RECORD
    try:
        record = RunRecord.model_validate_json(path.read_bytes())
    except OSError:
        raise WrongInput(f"{path} is missing; the run never began, or its folder was damaged.") from None
    except ValidationError as error:
        where = ".".join(str(step) for step in error.errors()[0]["loc"])
        raise WrongInput(f"{path} is not a run record ({where}: {error.errors()[0]['msg']}).") from error
    if record.schema_version > SCHEMA_VERSION:
        raise WrongInput(
            f"{path} has schema version {record.schema_version}; this Playproof reads up to {SCHEMA_VERSION}."
        )
    return record
