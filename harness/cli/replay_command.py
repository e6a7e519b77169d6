"""`replay`: clean replays of any script or archived run, their proofs, and what they say about a game's determinism."""

import secrets as random_names
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from contracts.contract import Clock, Replays, contract_of_game
from contracts.errors import ExitCode, WrongInput
from contracts.record import ReplayRecord
from harness.archive.files import write_json
from harness.archive.store import Store, read_record
from harness.cli.display import console, print_json, replay_table, seconds
from harness.cli.options import Json, Runs, store_at
from harness.cli.setup import appliance
from harness.pipeline.appliance import Appliance
from harness.pipeline.collect import read_artifact
from harness.pipeline.replays import (
    Playable,
    Wishes,
    divergences,
    jobs_for,
    play_all,
    prove_archived,
    record_of,
)
from harness.pipeline.run import contract_of
from harness.replay.project import read_folder

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
        typer.Option(
            "--check-determinism",
            help="Play one seed twice or more and show the first frame that differs, and why (no proofs).",
        ),
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
    wishes = Wishes(proof=proof and not check_determinism, overlay=overlay)
    rules = _rules(what, _one_of("--clock", clock, ("real", "virtual")), seed, count)
    if check_determinism:
        rules = _one_seed(rules, seed, max(2, count or 2))
    film = _one_of("--video", video, ("full", "keyframes", "off")) or "full"
    if check_determinism and rules.clock != "virtual":
        raise WrongInput(
            "--check-determinism needs the virtual clock: under the real one no two replays are alike."
        )
    ready = appliance(runs)
    jobs = jobs_for(ready, what, rules, film, journal=check_determinism)
    target = _fresh(out or _new_folder(ready))
    began = time.monotonic()
    records = prove_archived(ready, what, jobs[0], target) if tape else play_all(ready, jobs, wishes, target)
    record = record_of(jobs[0], what, records, target, time.monotonic() - began)
    write_json(target / "replays.json", record.model_dump(mode="json"))
    if as_json:
        print_json(record)
    else:
        console.print(replay_table(records))
        console.print(
            f"fastest clear: {seconds(record.ranked_time_ms)}   evidence: {target}", highlight=False
        )
    apart = divergences(target, records) if check_determinism else []
    if check_determinism and not as_json:
        lines = [str(one) for one in apart] or ["all replays are the same, frame by frame"]
        console.print("\n".join(lines), highlight=False, markup=False)
    _exit_for(records, judged=jobs[0].evaluator is not None, same=not apart)


def _one_of(option: str, value: str | None, words: tuple[str, ...]) -> Any:
    if value is not None and value not in words:
        raise WrongInput(f"{option} is {' or '.join(words)}, not {value!r}.")
    return value


def _rules(what: Playable, clock: Clock | None, seed: int | None, count: int | None) -> Replays:
    """The contract's rules, or a folder's, with what was asked for in their place."""
    own = what.contract.replays if what.contract else Replays(count=1, seeds=(1,), clock="virtual")
    number = count or own.count
    seeds = (
        (seed,) * number
        if seed is not None
        else tuple(own.seeds[index % len(own.seeds)] for index in range(number))
    )
    return own.model_copy(update={"clock": clock or own.clock, "count": number, "seeds": seeds})


def _one_seed(rules: Replays, seed: int | None, count: int) -> Replays:
    """Rules for replays that must all be the same."""
    one = rules.seeds[0] if seed is None else seed
    return rules.model_copy(update={"count": count, "seeds": (one,) * count})


def _archived(store: Store, name: str) -> Playable:
    folder = store.find(name)
    contract = contract_of(folder, read_record(folder))
    data = read_artifact(folder, contract)
    if data is None:
        raise WrongInput(f"Run {folder.name} left no artifact, so there is nothing to replay.")
    return Playable(data, Path(contract.artifact).name, contract, archived=folder)


def _given(script: Path | None, game: str | None, evaluator: Path | None) -> Playable:
    if script is None or game is None:
        raise WrongInput("--game is missing: name a contract's game or a folder, and the script plays that.")
    data = _read_script(script)
    folder = Path(game).absolute()
    if not folder.is_dir():
        return Playable(data, script.name, contract_of_game(game))
    read_folder(folder)
    judge = None if evaluator is None else _read_script(evaluator).decode(errors="replace")
    return Playable(data, script.name, folder=folder, judge=judge)


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


def _exit_for(records: list[ReplayRecord], judged: bool, same: bool) -> None:
    if any(record.outcome == "infra_error" for record in records):
        raise typer.Exit(int(ExitCode.INFRASTRUCTURE))
    good = (
        any(record.cleared and record.tape_proof in (None, "proved") for record in records)
        if judged
        else all(r.outcome == "not_cleared" for r in records)
    )
    if not good or not same:
        raise typer.Exit(int(ExitCode.JUDGED_FAILED))
