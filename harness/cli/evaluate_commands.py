"""`evaluate`: new evaluations of archived runs."""

from typing import Annotated

import typer

from contracts.errors import WrongInput
from contracts.record import Evaluation
from harness.archive.store import read_record, write_record
from harness.cli.display import console, print_json, replay_table, seconds
from harness.cli.options import Json, Runs
from harness.cli.setup import appliance
from harness.pipeline.appliance import Appliance, pinned_images
from harness.pipeline.collect import read_artifact
from harness.pipeline.evaluate import EvaluationJob, evaluate
from harness.pipeline.run import contract_of


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
