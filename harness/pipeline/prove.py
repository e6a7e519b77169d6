"""The tape proof of one replay: two more clean replays, of its tape alone, and what they say about it.

Each is kept beside the replay it is about, as evidence anyone can compare. A proof needs the virtual clock: under the real one no two
replays are alike.
"""

import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

from audit.tape_proof import Played, prove
from contracts.canonical import sha256_json
from contracts.errors import InfraFailure, WrongInput
from contracts.record import Proof, ReplayRecord
from harness.archive.files import write_json
from harness.engine import Engine
from harness.replay.job import ReplayJob
from harness.replay.replay import STATES, TAPE, Say, play_once, read_rows, tape_digest

ATTEMPTS = 2
"""A tape's replay that fails by our doing is tried this often."""

REPLAY = "replay.json"


def tape_proof(engine: Engine, job: ReplayJob, folder: Path, record: ReplayRecord, say: Say) -> ReplayRecord:
    """The record of the replay in `folder` with its proof; its tape and samples are read from there. Raises InfraFailure
    where a tape's replay could not be made."""
    return prove_tape(engine, job, folder, folder, record, say)


def prove_tape(
    engine: Engine, job: ReplayJob, folder: Path, out: Path, record: ReplayRecord, say: Say
) -> ReplayRecord:
    """As `tape_proof`, with the evidence of the tape's replays in `out`; what is in `folder` stays as it is."""
    rows = read_rows(folder / TAPE)
    if tape_digest(rows) != record.tape_sha256:
        raise WrongInput(f"{folder / TAPE} is not the tape that the record names; restore the file.")
    first, second = _replay_twice(engine, replace(job, tape=rows, video="off"), out, say)
    proof = prove(compared(folder, record), (first, second))
    if proof.word == "inconclusive" and job.replays.nondeterminism:
        known = " ".join(job.replays.nondeterminism)
        proof = proof.model_copy(update={"detail": f"{proof.detail}. Known of this game: {known}"})
    say(f"replay {record.index}: {proof.word}: {proof.detail}")
    return with_proof(record, proof)


def _replay_twice(engine: Engine, job: ReplayJob, out: Path, say: Say) -> list[Played]:
    """Side by side: under the virtual clock the host's load changes nothing. Whoever is interrupted leaves no container."""
    own = replace(job, run_id=f"{job.run_id[:48]}-proof-{secrets.token_hex(3)}")
    ended = Event()
    with ThreadPoolExecutor(2) as pool:
        replays = [
            pool.submit(_replay_tape, engine, own, out / f"tape-{number}", number, say, ended)
            for number in (1, 2)
        ]
        try:
            return [replay.result() for replay in replays]
        except BaseException:
            ended.set()
            engine.remove_run(own.run_id)
            raise


def with_proof(record: ReplayRecord, proof: Proof) -> ReplayRecord:
    """The record with a proof."""
    return record.model_copy(update={"proof": proof, "tape_proof": proof.word})


def _replay_tape(engine: Engine, job: ReplayJob, folder: Path, number: int, say: Say, ended: Event) -> Played:
    why = None
    for _ in range(ATTEMPTS):
        if ended.is_set():
            break
        folder.mkdir(parents=True, exist_ok=True)
        say(f"replay {job.index}: its tape alone, {number} of 2 ...")
        record = play_once(engine, job, folder, say)
        write_json(folder / REPLAY, record.model_dump(mode="json"))
        if record.outcome != "infra_error":
            return compared(folder, record)
        why = record.detail
    raise InfraFailure(f"The tape of replay {job.index} could not be replayed: {why}; run it again.")


def compared(folder: Path, record: ReplayRecord) -> Played:
    """What a replay's folder and record hold to be compared."""
    lost = record.outcome in ("page_hung", "page_crashed", "navigated_away")
    judged = {"cleared": record.cleared, "level_time_ms": record.level_time_ms, "evidence": record.evidence}
    return Played(
        samples=read_rows(folder / STATES),
        cleared=record.cleared,
        level_time_ms=record.level_time_ms,
        evidence=record.evidence,
        renderer=record.renderer,
        result_sha256=sha256_json([judged, record.state_digests]),
        problem=(record.detail or record.outcome) if lost else None,
        late=tuple(str(one.get("what")) for one in record.late),
    )
