"""`replay` and `evaluate`: clean replays of any script, and new evaluations of archived runs."""

import secrets as random_names
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from contracts.canonical import sha256_bytes
from contracts.contract import Caps, ContainerLimits, Contract, Replays, all_contracts, find_contract
from contracts.errors import ExitCode, WrongInput
from contracts.record import Evaluation, ReplayRecord, RunRecord, StackUsed, Wall
from harness.archive.files import write_json
from harness.archive.manifest import seal
from harness.archive.store import Store, read_record, utc_now, write_record
from harness.cli.display import console, print_json, replay_table, seconds
from harness.cli.options import Json, Runs, store_at
from harness.cli.setup import appliance
from harness.pipeline.appliance import Appliance, pinned_images
from harness.pipeline.collect import read_artifact
from harness.pipeline.evaluate import EvaluationJob, describe, evaluate
from harness.pipeline.rig import rig
from harness.pipeline.run import contract_of
from harness.replay.project import Project, read_folder
from harness.replay.replay import ReplayJob, play_once
from harness.scoring.play import ranked_time_ms

MAX_SCRIPT_BYTES = 1 << 20


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
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new folder for evidence (default: runs/replay-…).")
    ] = None,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Play a script in clean containers and judge it; nothing of it is ranked."""
    if (run is None) == (script is None):
        raise WrongInput("Give either a run, or --script FILE with --game G.")
    what = _archived(store_at(runs), run) if run is not None else _given(script, game, evaluator)
    ready = appliance(runs)
    jobs, images = _jobs(ready, what, count)
    _play(ready, jobs, what, images, out or _new_folder(ready), as_json)


@dataclass(frozen=True)
class _What:
    """A script and the game it plays: a contract's, or a folder's with or without a judge."""

    script: bytes
    name: str
    contract: Contract | None = None
    folder: Path | None = None
    judge: str | None = None


def _archived(store: Store, name: str) -> _What:
    folder = store.find(name)
    contract = contract_of(folder, read_record(folder))
    data = read_artifact(folder, contract)
    if data is None:
        raise WrongInput(f"Run {folder.name} left no artifact, so there is nothing to replay.")
    return _What(data, Path(contract.artifact).name, contract)


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


def _jobs(ready: Appliance, what: _What, count: int | None) -> tuple[list[ReplayJob], dict[str, str]]:
    """The replays to make (a contract's own number of them, or one of a folder), and the images' digests."""
    if what.contract is not None:
        images = pinned_images(ready, what.contract)
        project, browser, judge = (
            images.project(),
            images.browser.engine_ref,
            what.contract.evaluator_source(),
        )
        rules, caps, limits = what.contract.replays, what.contract.caps, what.contract.limits
        digests = {name: digest for name, digest in images.digests().items() if name != "agent"}
    else:
        ref = ready.ready_image("replay", None)
        browser, digests = ref.engine_ref, {"game": ref.digest, "browser": ref.digest}
        project, judge = Project(browser, folder=what.folder), what.judge
        rules, caps, limits = Replays(count=1, seeds=(1,)), Caps(), ContainerLimits()
    jobs = [
        ReplayJob(
            run_id="replay",
            index=index,
            script=what.script,
            script_name=what.name,
            project=project,
            browser_image=browser,
            evaluator=judge,
            seed=rules.seeds[(index - 1) % len(rules.seeds)],
            replays=rules,
            caps=caps,
            limits=limits,
            runtime=what.contract.runtime if what.contract else None,
            gpu=what.contract.gpu if what.contract else False,
        )
        for index in range(1, (count or rules.count) + 1)
    ]
    return jobs, digests


def _play(
    ready: Appliance, jobs: list[ReplayJob], what: _What, images: dict[str, str], out: Path, as_json: bool
) -> None:
    """Play every job into `out` and print what came out; exit 1 where nothing cleared, 3 where our side failed."""
    if out.exists() and any(out.iterdir()):
        raise WrongInput(f"{out} is not empty; give a new folder, so that nothing is overwritten.")
    began = time.monotonic()
    records: list[ReplayRecord] = []
    for job in jobs:
        folder = out / str(job.index)
        folder.mkdir(parents=True)
        record = play_once(ready.engine, job, folder, ready.say)
        write_json(folder / "replay.json", record.model_dump(mode="json"))
        seal(folder, ready.secrets)
        ready.say(f"replay {job.index} of {len(jobs)}: {describe(record)}")
        records.append(record)
    record = _record(jobs[0], what, images, records, out, time.monotonic() - began)
    write_json(out / "replays.json", record.model_dump(mode="json"))
    if as_json:
        print_json(record)
    else:
        console.print(replay_table(records))
        console.print(f"fastest clear: {seconds(record.ranked_time_ms)}   evidence: {out}", highlight=False)
    _exit_for(records, judged=jobs[0].evaluator is not None)


def _record(
    job: ReplayJob, what: _What, images: dict[str, str], replays: list[ReplayRecord], out: Path, wall_s: float
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
        images=images,
        ranked_time_ms=ranked_time_ms(replays),
        replays=replays,
        wall=Wall(replays_s=round(wall_s, 3), total_s=round(wall_s, 3)),
    )


def _exit_for(records: list[ReplayRecord], judged: bool) -> None:
    if any(record.outcome == "infra_error" for record in records):
        raise typer.Exit(int(ExitCode.INFRASTRUCTURE))
    good = (
        any(record.cleared for record in records)
        if judged
        else all(r.outcome == "not_cleared" for r in records)
    )
    if not good:
        raise typer.Exit(int(ExitCode.JUDGED_FAILED))


def evaluate_runs(
    names: Annotated[list[str], typer.Argument(help="Runs to evaluate again.")],
    current_images: Annotated[
        bool,
        typer.Option("--current-images", help="Allow images other than the run's own; the record says so."),
    ] = False,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Evaluate archived runs again: new clean replays, appended to the run; nothing is overwritten."""
    ready = appliance(runs)
    evaluations: list[Evaluation] = []
    for name in names:
        evaluations.append(_evaluate_again(ready, name, current_images))
    if as_json:
        print_json(list(evaluations))
        return
    for name, evaluation in zip(names, evaluations, strict=True):
        console.print(
            f"{name}: evaluation {evaluation.number}, fastest clear {seconds(evaluation.ranked_time_ms)}"
        )
        console.print(replay_table(evaluation.replays))


def _evaluate_again(ready: Appliance, name: str, current_images: bool) -> Evaluation:
    folder = ready.store.find(name)
    record = read_record(folder)
    if record.stage != "done" or record.exit == "infra_error":
        raise WrongInput(
            f"Run {record.run_id} is not complete; `playproof run --resume {record.run_id}` first."
        )
    contract = contract_of(folder, record)
    images = pinned_images(ready, contract)
    changed = [name for name, digest in images.digests().items() if record.images.get(name) != digest]
    if changed and not current_images:
        raise WrongInput(
            f"Run {record.run_id} used another image for {', '.join(changed)}; load the recorded one "
            "(`playproof images load`), or evaluate with --current-images."
        )
    number = record.evaluations + 1
    job = EvaluationJob(
        record.run_id,
        contract,
        images,
        read_artifact(folder, contract),
        number,
        folder / "evaluations" / str(number),
    )
    evaluation = evaluate(ready, job)
    write_record(folder, record.model_copy(update={"evaluations": number}), ready.secrets)
    return evaluation
