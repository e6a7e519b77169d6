"""The evaluation of an artifact: its clean replays, one after another, and the one ranked time.

Each replay's folder is sealed when it is complete, so an evaluation that was stopped goes on after its last
complete replay. A replay that our side spoiled is tried once more and is never sealed or scored.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from contracts.canonical import sha256_bytes
from contracts.contract import Contract
from contracts.errors import InfraFailure
from contracts.record import Evaluation, ReplayRecord
from harness.archive.files import write_bytes, write_json
from harness.archive.manifest import is_sealed, seal
from harness.archive.store import utc_now
from harness.pipeline.appliance import Appliance, PinnedImages
from harness.pipeline.prove import tape_proof
from harness.replay.job import ReplayJob
from harness.replay.replay import play_once
from harness.scoring.play import ranked_time_ms, unstable

ATTEMPTS = 2
"""A replay that fails by our doing is tried this often."""

EVALUATION = "evaluation.json"
REPLAY = "replay.json"


@dataclass(frozen=True)
class EvaluationJob:
    """An artifact (None: there was none) to evaluate under a contract, into a folder."""

    run_id: str
    contract: Contract
    images: PinnedImages
    artifact: bytes | None
    number: int
    folder: Path


def evaluate(appliance: Appliance, job: EvaluationJob) -> Evaluation:
    """Make, or finish, one evaluation; raises InfraFailure where a replay could not be made."""
    started = time.monotonic()
    evaluator = job.contract.evaluator_source()
    replays = [
        _replay(appliance, job, index, evaluator) for index in range(1, job.contract.replays.count + 1)
    ]
    evaluation = Evaluation(
        number=job.number,
        started=utc_now(),
        artifact_sha256=None if job.artifact is None else sha256_bytes(job.artifact),
        evaluator_sha256=job.contract.evaluator.sha256,
        contract_digest=job.contract.digest,
        images=job.images.digests(),
        locks=job.images.locks(),
        replays=replays,
        ranked_time_ms=ranked_time_ms(replays),
        unstable=unstable(replays),
        wall_s=round(time.monotonic() - started, 3),
    )
    write_json(job.folder / EVALUATION, evaluation.model_dump(mode="json"))
    seal(job.folder, appliance.secrets)
    return evaluation


def _replay(appliance: Appliance, job: EvaluationJob, index: int, evaluator: str) -> ReplayRecord:
    folder = job.folder / "replays" / str(index)
    if is_sealed(folder):
        return ReplayRecord.model_validate_json((folder / REPLAY).read_bytes())
    seed = job.contract.replays.seeds[index - 1]
    if job.artifact is None:
        why = f"the session left no {job.contract.artifact}"
        record = ReplayRecord(index=index, outcome="no_artifact", detail=why, seed=seed).named()
    else:
        todo = _job(job, index, evaluator, job.artifact)
        record = _attempts(appliance, todo, folder)
        if record.cleared and record.clock == "virtual":
            appliance.say(
                f"replay {index} of {job.contract.replays.count}: {describe(record)}; proving it ..."
            )
            record = tape_proof(appliance.engine, todo, folder, record, appliance.say)
    write_json(folder / REPLAY, record.model_dump(mode="json"))
    seal(folder, appliance.secrets)
    appliance.say(f"replay {index} of {job.contract.replays.count}: {describe(record)}")
    return record


def _job(job: EvaluationJob, index: int, evaluator: str, artifact: bytes) -> ReplayJob:
    return ReplayJob(
        run_id=job.run_id,
        index=index,
        script=artifact,
        script_name=Path(job.contract.artifact).name,
        project=job.images.project(),
        browser_image=job.images.browser.engine_ref,
        evaluator=evaluator,
        seed=job.contract.replays.seeds[index - 1],
        replays=job.contract.replays,
        caps=job.contract.caps,
        limits=job.contract.limits,
        images={name: digest for name, digest in job.images.digests().items() if name != "agent"},
        runtime=job.contract.runtime,
        gpu=job.contract.gpu,
    )


def _attempts(appliance: Appliance, job: ReplayJob, folder: Path) -> ReplayRecord:
    for attempt in range(1, ATTEMPTS + 1):
        folder.mkdir(parents=True, exist_ok=True)
        record = play_once(appliance.engine, job, folder, appliance.say)
        if record.outcome != "infra_error":
            return record
        appliance.say(
            f"replay {job.index}: our side failed (attempt {attempt} of {ATTEMPTS}): {record.detail}"
        )
        write_bytes(folder / f"infra_error-{attempt}.txt", (record.detail or "").encode())
    raise InfraFailure(
        f"Replay {job.index} of {job.run_id} failed {ATTEMPTS} times; `playproof run --resume {job.run_id}` goes on."
    )


def describe(record: ReplayRecord) -> str:
    """A replay's result in a few words."""
    if record.cleared and record.level_time_ms is not None:
        proof = f", {record.tape_proof}" if record.tape_proof else ""
        return f"cleared in {record.level_time_ms / 1000:.3f} s{proof} ({record.wall_ms / 1000:.1f} s wall)"
    detail = f" ({record.detail.splitlines()[0][:120]})" if record.detail else ""
    return f"{record.outcome.replace('_', ' ')}{detail} ({record.wall_ms / 1000:.1f} s wall)"
