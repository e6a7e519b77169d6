"""A run from contract to record, in stages that can each be taken up again.

session → collect → evaluate → done. Each stage reads what the one before wrote into the run's folder, writes
its own part, and then moves `stage` in run.json; so a killed harness continues from the last complete stage.
A session that was cut by our death cannot be continued honestly: it ends `infra_error` and is run again.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from contracts.canonical import sha256_bytes
from contracts.contract import Contract
from contracts.document import load
from contracts.errors import InfraFailure, WrongInput
from contracts.plan import Stack
from contracts.prompt import pinned_prompt, prompt_sha256
from contracts.record import RunRecord, StackUsed, Wall
from harness.archive.files import write_bytes, write_json
from harness.archive.store import new_run_id, utc_now, write_record
from harness.pipeline.appliance import Appliance, PinnedImages, pinned_images
from harness.pipeline.collect import read_artifact
from harness.pipeline.evaluate import EvaluationJob, evaluate
from harness.pipeline.rig import rig
from harness.pipeline.session_stage import hold_session, resume_collect

PROMPT = "prompt.md"
CONTRACT = "contract.json"


@dataclass(frozen=True)
class Order:
    """What to run: one stack on one contract, for a plan's cell or on its own."""

    contract: Contract
    stack: Stack
    cell: str | None = None


def begin(appliance: Appliance, order: Order) -> tuple[Path, RunRecord]:
    """Check every pin, then open the run's folder; nothing is written when a pin does not hold."""
    contract = order.contract
    prompt = pinned_prompt(contract)
    contract.evaluator_source()
    images = pinned_images(appliance, contract)
    record = RunRecord(
        run_id=new_run_id(contract),
        contract=contract.label,
        contract_digest=contract.digest,
        created=utc_now(),
        stack=StackUsed(
            agent=order.stack.agent,
            model=order.stack.model,
            base_url=order.stack.base_url,
            effort=order.stack.effort,
            rig=rig(),
        ),
        prompt_sha256=prompt_sha256(prompt),
        evaluator_sha256=contract.evaluator.sha256,
        images=images.digests(),
        locks=images.locks(),
        game=contract.game.model_dump(mode="json"),
        cell=order.cell,
    )
    folder = appliance.store.folder(record.run_id)
    write_bytes(folder / PROMPT, prompt.encode())
    write_json(folder / CONTRACT, contract.model_dump(mode="json"))
    return folder, write_record(folder, record, appliance.secrets)


def contract_of(folder: Path, record: RunRecord) -> Contract:
    """The contract a run was made under, as it was then; raises WrongInput where it is not the recorded one."""
    contract = load(folder / CONTRACT, Contract)
    if contract.digest != record.contract_digest:
        raise WrongInput(
            f"{folder / CONTRACT} is not the contract of {record.run_id}: its digest differs; restore the file."
        )
    return contract


def finish(appliance: Appliance, order: Order, folder: Path, record: RunRecord) -> RunRecord:
    """Take a run from its present stage to the end; returns its final record."""
    images = pinned_images(appliance, order.contract)
    _same_images(record, images)
    if record.stage == "session":
        record = _session(appliance, order, images, folder, record)
    if record.stage == "collect":
        record = _collect(appliance, order, folder, record)
    if record.stage == "evaluate":
        record = _evaluate(appliance, order, images, folder, record)
    return record


def _same_images(record: RunRecord, images: PinnedImages) -> None:
    for name, digest in images.digests().items():
        if record.images.get(name) != digest:
            raise InfraFailure(
                f"Run {record.run_id} began with image {name} {record.images.get(name)}, here it is {digest}; "
                "restore that image to go on, or make a new run."
            )


def _session(
    appliance: Appliance, order: Order, images: PinnedImages, folder: Path, record: RunRecord
) -> RunRecord:
    if (folder / "session").exists():
        appliance.engine.remove_run(record.run_id)
        return _spoiled(appliance, folder, record, "the harness died during the session")
    try:
        record = hold_session(appliance, order.contract, order.stack, images, folder, record)
    except InfraFailure as failure:
        _spoiled(appliance, folder, record, str(failure))
        raise
    if record.exit == "infra_error":
        return _spoiled(appliance, folder, record, record.exit_reason or "unknown")
    return record


def _spoiled(appliance: Appliance, folder: Path, record: RunRecord, reason: str) -> RunRecord:
    """A session that our side failed: kept, never scored."""
    record = record.model_copy(
        update={"exit": "infra_error", "exit_reason": reason, "stage": "done", "finished": utc_now()}
    )
    return write_record(folder, record, appliance.secrets)


def _collect(appliance: Appliance, order: Order, folder: Path, record: RunRecord) -> RunRecord:
    try:
        return resume_collect(appliance, order.contract, folder, record)
    except InfraFailure as failure:
        return _spoiled(
            appliance,
            folder,
            record,
            f"the session's container is gone before its artifact was taken out: {failure}",
        )


def _evaluate(
    appliance: Appliance, order: Order, images: PinnedImages, folder: Path, record: RunRecord
) -> RunRecord:
    started = time.monotonic()
    artifact = read_artifact(folder, order.contract)
    job = EvaluationJob(record.run_id, order.contract, images, artifact, 1, folder / "evaluations" / "1")
    evaluation = evaluate(appliance, job)
    replays_s = time.monotonic() - started
    record = record.model_copy(
        update={
            "artifact_sha256": None if artifact is None else sha256_bytes(artifact),
            "ranked_time_ms": evaluation.ranked_time_ms,
            "replays": evaluation.replays,
            "evaluations": 1,
            "wall": Wall(
                agent_s=record.wall.agent_s,
                replays_s=round(record.wall.replays_s + replays_s, 3),
                total_s=round(record.wall.total_s + replays_s, 3),
            ),
            "stage": "done",
            "finished": utc_now(),
        }
    )
    return write_record(folder, record, appliance.secrets)
