"""One replay: an artifact played once, in two fresh containers, judged from outside.

The game's container serves the game and the artifact; the browser's container shares only its network and
holds the driver, Chromium and the evaluator, which is handed in over stdio and touches no disk. Both are made
for this replay and removed after it, so nothing of one replay can reach the next. What is hard is telling
apart whose fault an end was: what the page did is an outcome, what our side did is `infra_error`.
"""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from contracts.canonical import plain_json, sha256_json
from contracts.errors import InfraFailure
from contracts.record import Finding, Pacing, Phases, ReplayRecord
from harness.engine import Container, Engine, TreeCaps
from harness.replay.exchange import judge
from harness.replay.freshness import freshness
from harness.replay.job import ReplayJob
from harness.replay.rooms import OUT_BYTES, open_rooms

Say = Callable[[str], None]

OUT_CAPS = TreeCaps(files=64, total_bytes=OUT_BYTES, file_bytes=OUT_BYTES, depth=2)
CALLS = "calls.ndjson"
STATES = "states.ndjson"
TAPE = "tape.ndjson"
EVIDENCE_FILES = (
    "video.mp4",
    "first.png",
    "last.png",
    "console.ndjson",
    TAPE,
    "witness.ndjson",
    STATES,
    CALLS,
    "frames.json",
)


def play_once(engine: Engine, job: ReplayJob, folder: Path, say: Say) -> ReplayRecord:
    """Play the artifact, or the tape, once; its evidence goes into `folder`. Our own failures come back as `infra_error`."""
    started = time.monotonic()
    phases: dict[str, float] = {}
    base: dict[str, Any] = {"index": job.index, "clock": job.replays.clock, "seed": job.seed}
    try:
        with open_rooms(engine, job, phases) as rooms:
            base |= {"container_id": rooms.browser.id, "game_container_id": rooms.game.id}
            result = judge(rooms, job, say)
            _fetch(rooms.browser, folder)
            base |= _found(result, job, folder)
            phases |= result.get("phases", {})
            before_end = time.monotonic()
        phases["teardown"] = _ms(before_end)
    except InfraFailure as failure:
        base |= {"outcome": "infra_error", "detail": str(failure)}
    record = ReplayRecord(**base, wall_ms=_ms(started), phases=Phases(**phases))
    return record.named()


def _ms(since: float) -> float:
    return round((time.monotonic() - since) * 1000, 1)


def _fetch(browser: Container, folder: Path) -> None:
    """Bring the judge's files over, only the ones it is known to write."""
    landing = folder / ".tmp-out"
    browser.get_tree("/out", landing, OUT_CAPS)
    for name in EVIDENCE_FILES:
        if (landing / name).is_file():
            (landing / name).replace(folder / name)
    shutil.rmtree(landing, ignore_errors=True)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The lines of an evidence file, as far as they are whole; none where there is no such file."""
    rows: list[dict[str, Any]] = []
    for line in path.read_bytes().splitlines() if path.is_file() else []:
        try:
            row = plain_json(line)
        except ValueError:
            break
        if isinstance(row, dict):
            rows.append(cast(dict[str, Any], row))
    return rows


def state_digests(rows: list[dict[str, Any]]) -> list[str]:
    """One digest a second of game time: of the state, and of the fingerprints of all frames since the one before."""
    return [sha256_json([row["frame"], row["state"], row["fingerprints"]]) for row in rows]


def tape_digest(rows: list[dict[str, Any]]) -> str | None:
    return sha256_json(rows) if rows else None


def _found(result: dict[str, Any], job: ReplayJob, folder: Path) -> dict[str, Any]:
    """The judge's words as fields of the record."""
    outcome = result["outcome"]
    pacing = result.get("pacing")
    script = job.script if job.tape is None else None
    return {
        "outcome": outcome,
        "detail": result.get("detail"),
        "cleared": outcome == "cleared",
        "level_time_ms": result.get("level_time_ms"),
        "evidence": result.get("evidence"),
        "nonce": result.get("nonce"),
        "script_ended": result.get("script_ended", False),
        "input_events": result.get("input_events", 0),
        "bypasses": result.get("bypasses", 0),
        "renderer": result.get("renderer"),
        "frames": result.get("frames", 0),
        "findings": [Finding.model_validate(one) for one in result.get("findings", [])],
        "late": result.get("late", []),
        "pacing": None if pacing is None else Pacing.model_validate(pacing),
        "state_digests": state_digests(read_rows(folder / STATES)),
        "tape_sha256": tape_digest(read_rows(folder / TAPE)),
        "fresh": freshness(result, script, job.evaluator, job.images),
    }
