"""`replay`: clean replays of any script or archived run, their proofs, and what they say about a game's determinism."""

import json
import secrets as random_names
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from audit.tape_proof import difference
from contracts.canonical import sha256_bytes
from contracts.contract import Caps, Clock, ContainerLimits, Contract, Replays, all_contracts, find_contract
from contracts.errors import ExitCode, WrongInput
from contracts.record import ReplayRecord, RunRecord, StackUsed, Wall
from harness.archive.files import write_json
from harness.archive.manifest import seal
from harness.archive.store import Store, read_record, utc_now
from harness.cli.display import console, print_json, replay_table, seconds
from harness.cli.options import Json, Runs, store_at
from harness.cli.setup import appliance
from harness.pipeline.appliance import Appliance, pinned_images
from harness.pipeline.collect import read_artifact
from harness.pipeline.evaluate import describe
from harness.pipeline.prove import compared, prove_tape, tape_proof
from harness.pipeline.rig import rig
from harness.pipeline.run import contract_of
from harness.replay.job import ReplayJob, Video
from harness.replay.overlay import draw_overlay, on_frames
from harness.replay.project import Project, read_folder
from harness.replay.replay import TAPE, play_once, read_rows
from harness.scoring.play import ranked_time_ms

MAX_SCRIPT_BYTES = 1 << 20


@dataclass(frozen=True)
class _What:
    """A script and the game it plays: a contract's, or a folder's with or without a judge."""

    script: bytes
    name: str
    contract: Contract | None = None
    folder: Path | None = None
    judge: str | None = None
    archived: Path | None = None
    """The folder of the run it came from."""


@dataclass(frozen=True)
class _Wishes:
    """What is asked beside the replays themselves."""

    proof: bool
    tape: bool
    determinism: bool
    overlay: bool


def replay(
    run: Annotated[str | None, typer.Argument(help="A run whose archived artifact is replayed.")] = None,
    script: Annotated[
        Path | None, typer.Option("--script", help="A script file to replay without a session.")
    ] = None,
    game: Annotated[
        str | None, typer.Option("--game", help="A contract's game, or a folder with a page in it.")
    ] = None,
    evaluator: Annotated[
        Path | None,
        typer.Option("--evaluator", help="A judge for a folder's game; a contract brings its own."),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-k", min=1, max=32, help="How many replays.")
    ] = None,
    clock: Annotated[
        str | None,
        typer.Option("--clock", help="real or virtual (default: the contract's; a folder's is virtual)."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, max=2**32 - 1, help="One seed for all (default: the contract's)."),
    ] = None,
    video: Annotated[str, typer.Option("--video", help="full, keyframes (one a second) or off.")] = "full",
    proof: Annotated[
        bool, typer.Option("--proof/--no-proof", help="Replay each tape alone, twice (virtual clock).")
    ] = True,
    tape: Annotated[
        bool, typer.Option("--tape", help="Prove a run's archived tapes; its script is not played.")
    ] = False,
    check_determinism: Annotated[
        bool,
        typer.Option("--check-determinism", help="Play twice or more and show the first frame that differs."),
    ] = False,
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Draw keys, buttons and pointer over the video (overlay.mp4).")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new folder for evidence (default: runs/replay-…).")
    ] = None,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Play a script in clean containers and judge it; nothing of it is ranked."""
    if (run is None) == (script is None):
        raise WrongInput("Give either a run, or --script FILE with --game G.")
    if tape and run is None:
        raise WrongInput("--tape needs a run: it replays the tapes that were archived with one.")
    what = _archived(store_at(runs), run) if run is not None else _given(script, game, evaluator)
    wishes = _Wishes(proof, tape, check_determinism, overlay)
    rules = _rules(
        what,
        _one_of("--clock", clock, ("real", "virtual")),
        seed,
        max(2, count or 2) if check_determinism else count,
    )
    film = _one_of("--video", video, ("full", "keyframes", "off")) or "full"
    if check_determinism and rules.clock != "virtual":
        raise WrongInput(
            "--check-determinism needs the virtual clock: under the real one no two replays are alike."
        )
    ready = appliance(runs)
    jobs = _jobs(ready, what, rules, film, count)
    target = _fresh(out or _new_folder(ready))
    began = time.monotonic()
    records = _prove_archived(ready, what, jobs[0], target) if tape else _play(ready, jobs, wishes, target)
    record = _record(jobs[0], what, records, target, time.monotonic() - began)
    write_json(target / "replays.json", record.model_dump(mode="json"))
    if as_json:
        print_json(record)
    else:
        console.print(replay_table(records))
        console.print(
            f"fastest clear: {seconds(record.ranked_time_ms)}   evidence: {target}", highlight=False
        )
    same = not check_determinism or _determinism(target, records, quiet=as_json)
    _exit_for(records, judged=jobs[0].evaluator is not None, same=same)


def _one_of(option: str, value: str | None, words: tuple[str, ...]) -> Any:
    if value is not None and value not in words:
        raise WrongInput(f"{option} is {' or '.join(words)}, not {value!r}.")
    return value


def _rules(what: _What, clock: Clock | None, seed: int | None, count: int | None) -> Replays:
    """The contract's rules, or a folder's, with what was asked for in their place."""
    own = what.contract.replays if what.contract else Replays(count=1, seeds=(1,), clock="virtual")
    number = count or own.count
    seeds = (
        (seed,) * number
        if seed is not None
        else tuple(own.seeds[index % len(own.seeds)] for index in range(number))
    )
    return own.model_copy(update={"clock": clock or own.clock, "count": number, "seeds": seeds})


def _archived(store: Store, name: str) -> _What:
    folder = store.find(name)
    contract = contract_of(folder, read_record(folder))
    data = read_artifact(folder, contract)
    if data is None:
        raise WrongInput(f"Run {folder.name} left no artifact, so there is nothing to replay.")
    return _What(data, Path(contract.artifact).name, contract, archived=folder)


def _given(script: Path | None, game: str | None, evaluator: Path | None) -> _What:
    if script is None or game is None:
        raise WrongInput("--game is missing: name a contract's game or a folder, and the script plays that.")
    data = _read_script(script)
    folder = Path(game).absolute()
    if not folder.is_dir():
        return _What(data, script.name, _contract_of(game))
    read_folder(folder)
    judge = None if evaluator is None else _read_script(evaluator).decode(errors="replace")
    return _What(data, script.name, folder=folder, judge=judge)


def _fresh(out: Path) -> Path:
    if out.exists() and any(out.iterdir()):
        raise WrongInput(f"{out} is not empty; give a new folder, so that nothing is overwritten.")
    return out


def _new_folder(ready: Appliance) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return ready.store.root / f"replay-{stamp}-{random_names.token_hex(3)}"


def _read_script(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WrongInput(f"The script {path} cannot be read ({error.strerror}); check its path.") from error
    if len(data) > MAX_SCRIPT_BYTES:
        raise WrongInput(f"The script {path} has {len(data)} bytes; at most {MAX_SCRIPT_BYTES} are played.")
    if path.suffix not in (".ts", ".tsx", ".js", ".jsx", ".mjs", ".mts"):
        raise WrongInput(f"The script {path} is no .ts, .tsx, .mts, .js, .jsx or .mjs file; name it so.")
    return data


def _contract_of(game: str) -> Contract:
    """The newest contract whose game, or whose own name, is `game`."""
    matching = [contract for contract in all_contracts() if contract.game.name == game]
    return matching[-1] if matching else find_contract(game)


def _jobs(ready: Appliance, what: _What, rules: Replays, video: Video, count: int | None) -> list[ReplayJob]:
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
            runtime=what.contract.runtime if what.contract else None,
            gpu=what.contract.gpu if what.contract else False,
        )
        for index, seed in enumerate(rules.seeds, 1)
    ]


def _play(ready: Appliance, jobs: list[ReplayJob], wishes: _Wishes, out: Path) -> list[ReplayRecord]:
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
    first = json.loads(frames.read_text()).get("first_frame") or 0 if frames.is_file() else 0
    rows = on_frames(read_rows(folder / TAPE), first_frame=first)
    ready.say(f"replay {job.index}: drawing keys, buttons and pointer ...")
    draw_overlay(ready.engine, job.browser_image, video, rows, job.replays.viewport, folder / "overlay.mp4")


def _prove_archived(ready: Appliance, what: _What, job: ReplayJob, out: Path) -> list[ReplayRecord]:
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


def _determinism(out: Path, records: list[ReplayRecord], quiet: bool) -> bool:
    """True when replays of the same seed are the same; prints the first difference."""
    same = True
    for other in records[1:]:
        one = next(record for record in records if record.seed == other.seed)
        found = (
            None
            if one is other
            else difference(compared(out / str(one.index), one), compared(out / str(other.index), other))
        )
        if found is not None or one.tape_sha256 != other.tape_sha256:
            same = False
            where = "at the end" if found is None or found.frame is None else f"first at frame {found.frame}"
            what = "the tape" if found is None else found.what
            causes = sorted({str(late.get("what")) for record in (one, other) for late in record.late})
            why = f"; the clock did not wait for: {', '.join(causes)}" if causes else ""
            if not quiet:
                console.print(
                    f"replays {one.index} and {other.index} differ {where} ({what}){why}", highlight=False
                )
    if same and not quiet:
        console.print("all replays of one seed are the same, frame by frame", highlight=False)
    return same


def _record(job: ReplayJob, what: _What, replays: list[ReplayRecord], out: Path, wall_s: float) -> RunRecord:
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


def _exit_for(records: list[ReplayRecord], judged: bool, same: bool) -> None:
    if any(record.outcome == "infra_error" for record in records):
        raise typer.Exit(int(ExitCode.INFRASTRUCTURE))
    good = (
        any(record.cleared for record in records)
        if judged
        else all(r.outcome == "not_cleared" for r in records)
    )
    if not good or not same:
        raise typer.Exit(int(ExitCode.JUDGED_FAILED))
