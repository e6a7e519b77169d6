import json
from pathlib import Path
from typing import Any

from contracts.record import ReplayRecord
from harness.pipeline.replays import divergences

SAME = {"frame": 1, "calls": ["random = 0.5 at a (http://x/src/a.ts:1:1)"], "more": 0}


def replayed(
    out: Path, index: int, score: int, calls: list[dict[str, Any]], late: list[dict[str, Any]] | None = None
) -> ReplayRecord:
    folder = out / str(index)
    folder.mkdir(parents=True)
    sample = {"frame": 3, "state": {"score": score}, "pixels": "p", "fingerprints": ["a", "b", str(score)]}
    (folder / "states.ndjson").write_text(json.dumps(sample) + "\n")
    (folder / "calls.ndjson").write_text("".join(json.dumps(row) + "\n" for row in calls))
    return ReplayRecord(index=index, outcome="not_cleared", clock="virtual", seed=7, late=late or [])


def test_replays_that_are_the_same_have_no_divergence(tmp_path: Path) -> None:
    assert divergences(tmp_path, [replayed(tmp_path, index, 1, [SAME]) for index in (1, 2, 3)]) == []


def test_the_first_frame_that_differs_is_named_with_the_call_behind_it(tmp_path: Path) -> None:
    calls = [
        [SAME, {"frame": 2, "calls": [f"now = {k} at b (http://x/src/b.ts:4:2)"], "more": 0}] for k in (1, 2)
    ]
    records = [replayed(tmp_path, k, k, calls[k - 1]) for k in (1, 2)]
    (found,) = divergences(tmp_path, records)
    assert (found.one, found.other, found.frame, found.what) == (1, 2, 3, "the state: score")
    assert "in frame 2" in found.why
    assert "now = 1 at b" in found.why and "now = 2 at b" in found.why


def test_without_a_call_that_differs_what_the_clock_did_not_wait_for_is_the_reason(tmp_path: Path) -> None:
    late = [{"frame": 2, "what": "a worker's time"}]
    records = [replayed(tmp_path, 1, 1, [SAME]), replayed(tmp_path, 2, 2, [SAME], late)]
    assert "a worker's time" in divergences(tmp_path, records)[0].why


def test_a_call_after_the_difference_is_not_behind_it(tmp_path: Path) -> None:
    calls = [[SAME, {"frame": 9, "calls": [f"random = {k}"], "more": 0}] for k in (1, 2)]
    records = [replayed(tmp_path, k, k, calls[k - 1]) for k in (1, 2)]
    assert "no call of the page differs" in divergences(tmp_path, records)[0].why


def test_replays_of_different_seeds_are_not_compared(tmp_path: Path) -> None:
    one = replayed(tmp_path, 1, 1, [SAME])
    other = replayed(tmp_path, 2, 2, [SAME]).model_copy(update={"seed": 8})
    assert divergences(tmp_path, [one, other]) == []
