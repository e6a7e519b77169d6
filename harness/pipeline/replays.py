"""Replays without a session: a script or an archived artifact in clean rooms, its tapes proved, and two replays of one seed compared. Nothing
of it is ranked."""

import json
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, cast

from audit.tape_proof import difference
from contracts.canonical import sha256_bytes
from contracts.contract import Caps, ContainerLimits, Contract, Replays
from contracts.errors import WrongInput
from contracts.record import ReplayRecord, RunRecord, StackUsed, Wall
from harness.archive.files import write_json
from harness.archive.manifest import seal
from harness.archive.store import utc_now
from harness.pipeline.appliance import Appliance, pinned_images
from harness.pipeline.evaluate import describe
from harness.pipeline.prove import compared, prove_tape, tape_proof
from harness.pipeline.rig import rig
from harness.replay.job import ReplayJob, Video
from harness.replay.overlay import draw_overlay, on_frames
from harness.replay.project import Project
from harness.replay.replay import CALLS, TAPE, play_once, read_rows
from harness.scoring.play import ranked_time_ms


@dataclass(frozen=True)
class Playable:
    """A script and the game it plays: a contract's, or a folder's with or without a judge."""

    script: bytes
    name: str
    contract: Contract | None = None
    folder: Path | None = None
    judge: str | None = None
    archived: Path | None = None
    """The folder of the run it came from."""


@dataclass(frozen=True)
class Wishes:
    """What is asked beside the replays themselves."""

    proof: bool
    overlay: bool


def jobs_for(
    ready: Appliance, what: Playable, rules: Replays, video: Video, journal: bool
) -> list[ReplayJob]:
    """The replays to make: a contract's own number of them, or one of a folder."""
    if what.contract is not None:
        images = pinned_images(ready, what.contract)
        project, browser = images.project(), images.browser.engine_ref
        judge = what.contract.evaluator_source()
        caps, limits = what.contract.caps, what.contract.limits
        digests = {name: digest for name, digest in images.digests().items() if name != "agent"}
    else:
        ref = ready.ready_image("replay", None)
        browser, digests = ref.engine_ref, {"game": ref.digest, "browser": ref.digest}
        project, judge = Project(browser, folder=what.folder), what.judge
        caps, limits = Caps(), ContainerLimits()
    return [
        ReplayJob(
            run_id="replay",
            index=index,
            script=what.script,
            script_name=what.name,
            project=project,
            browser_image=browser,
            evaluator=judge,
            seed=seed,
            replays=rules,
            caps=caps,
            limits=limits,
            video=video,
            images=digests,
            journal=journal,
            runtime=what.contract.runtime if what.contract else None,
            gpu=what.contract.gpu if what.contract else False,
        )
        for index, seed in enumerate(rules.seeds, 1)
    ]


def play_all(ready: Appliance, jobs: list[ReplayJob], wishes: Wishes, out: Path) -> list[ReplayRecord]:
    """Play every job into `out`."""
    records: list[ReplayRecord] = []
    for job in jobs:
        folder = out / str(job.index)
        folder.mkdir(parents=True)
        record = play_once(ready.engine, job, folder, ready.say)
        if wishes.proof and record.clock == "virtual" and record.tape_sha256 is not None:
            record = tape_proof(ready.engine, job, folder, record, ready.say)
        if wishes.overlay:
            _draw(ready, job, folder)
        write_json(folder / "replay.json", record.model_dump(mode="json"))
        seal(folder, ready.secrets)
        ready.say(f"replay {job.index} of {len(jobs)}: {describe(record)}")
        records.append(record)
    return records


def _draw(ready: Appliance, job: ReplayJob, folder: Path) -> None:
    """The overlay over a replay's video."""
    video, frames = folder / "video.mp4", folder / "frames.json"
    if not video.is_file():
        ready.say(f"replay {job.index}: there is no video to draw over")
        return
    filmed = cast(dict[str, Any], json.loads(frames.read_text())) if frames.is_file() else {}
    rows = on_frames(
        read_rows(folder / TAPE),
        first_frame=filmed.get("first_frame") or 0,
        started_ms=filmed.get("started_ms") or 0,
    )
    ready.say(f"replay {job.index}: drawing keys, buttons and pointer ...")
    draw_overlay(ready.engine, job.browser_image, video, rows, job.replays.viewport, folder / "overlay.mp4")


def prove_archived(ready: Appliance, what: Playable, job: ReplayJob, out: Path) -> list[ReplayRecord]:
    """New proofs of the tapes of a run's last evaluation."""
    assert what.archived is not None
    evaluations = sorted(
        (what.archived / "evaluations").glob("*"),
        key=lambda path: int(path.name) if path.name.isdigit() else 0,
    )
    folders = sorted((evaluations[-1] / "replays").glob("*")) if evaluations else []
    records: list[ReplayRecord] = []
    for folder in folders:
        record = ReplayRecord.model_validate_json((folder / "replay.json").read_bytes())
        if record.clock != "virtual" or record.tape_sha256 is None:
            raise WrongInput(
                f"Replay {record.index} of {what.archived.name} has no tape of the virtual clock to prove."
            )
        own = replace(job, index=record.index, seed=record.seed)
        proved = prove_tape(ready.engine, own, folder, out / str(record.index), record, ready.say)
        write_json(out / str(record.index) / "replay.json", proved.model_dump(mode="json"))
        seal(out / str(record.index), ready.secrets)
        records.append(proved)
    if not records:
        raise WrongInput(f"Run {what.archived.name} was never evaluated, so there is no tape to replay.")
    return records


@dataclass(frozen=True)
class Divergence:
    """Where two replays of one seed first differ, in what, and what the page called differently before."""

    one: int
    other: int
    frame: int | None
    what: str
    why: str

    def __str__(self) -> str:
        where = "at the end" if self.frame is None else f"first at frame {self.frame}"
        return f"replays {self.one} and {self.other} differ {where} ({self.what}); {self.why}"


def divergences(out: Path, records: list[ReplayRecord]) -> list[Divergence]:
    """One for each replay that is not the same as the first of its seed."""
    found: list[Divergence] = []
    for other in records[1:]:
        one = next(record for record in records if record.seed == other.seed)
        if one is other:
            continue
        folders = (out / str(one.index), out / str(other.index))
        apart = difference(compared(folders[0], one), compared(folders[1], other))
        if apart is None and one.tape_sha256 == other.tape_sha256:
            continue
        frame, what = (apart.frame, apart.what) if apart else (None, "the tape")
        why = _call_behind(folders, frame) or _not_waited_for(one, other)
        found.append(Divergence(one.index, other.index, frame, what, why))
    return found


def _call_behind(folders: tuple[Path, Path], frame: int | None) -> str | None:
    """The first call in which the two replays' journals differ, no later than the frame in which they do."""
    ours, theirs = (
        {int(row["frame"]): row for row in read_rows(folder / CALLS) if "frame" in row} for folder in folders
    )
    for at in sorted({*ours, *theirs}):
        if frame is not None and at > frame:
            return None
        calls = [list(journal.get(at, {}).get("calls", [])) for journal in (ours, theirs)]
        for mine, other in zip_longest(*calls):
            if mine != other:
                return f"the call behind it, in frame {at}: {mine or 'none'} in one, {other or 'none'} in the other"
    return None


def _not_waited_for(one: ReplayRecord, other: ReplayRecord) -> str:
    causes = sorted({str(late.get("what")) for record in (one, other) for late in record.late})
    if causes:
        return f"the clock did not wait for: {', '.join(causes)}"
    return "no call of the page differs before it: what differs came from what the clock does not drive"


def record_of(
    job: ReplayJob, what: Playable, replays: list[ReplayRecord], out: Path, wall_s: float
) -> RunRecord:
    """The replays as a record without a session."""
    return RunRecord(
        run_id=out.name,
        contract=what.contract.label if what.contract else None,
        contract_digest=what.contract.digest if what.contract else None,
        created=utc_now(),
        stage="done",
        stack=StackUsed(agent="none", model="none", rig=rig()),
        artifact_sha256=sha256_bytes(job.script),
        evaluator_sha256=None if job.evaluator is None else sha256_bytes(job.evaluator.encode()),
        images=job.images,
        ranked_time_ms=ranked_time_ms(replays),
        replays=replays,
        wall=Wall(replays_s=round(wall_s, 3), total_s=round(wall_s, 3)),
    )
