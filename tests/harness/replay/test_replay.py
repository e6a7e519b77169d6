"""Replays of a tiny game in real containers and a real Chromium, judged as any game is."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.contract import Caps, Clock, ContainerLimits, Replays
from contracts.record import ReplayRecord
from harness.engine import Engine
from harness.replay.job import ReplayJob
from harness.replay.project import Project
from harness.replay.replay import play_once
from images import ImageStore

CASES = Path(__file__).resolve().parents[2] / "cases" / "replay"
pytestmark = [pytest.mark.docker, pytest.mark.browser]

Play = Callable[..., tuple[ReplayRecord, Path]]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine.connect()
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def image(engine: Engine) -> str:
    return ImageStore().ready("replay", None, engine.docker_client()).engine_ref


@pytest.fixture
def play(engine: Engine, image: str, tmp_path: Path) -> Play:
    made = iter(range(1, 100))

    def play(
        script: str,
        cap_s: float = 60,
        grace_s: float = 0,
        evaluator: str | None = None,
        clock: Clock = "real",
    ) -> tuple[ReplayRecord, Path]:
        index = next(made)
        folder = tmp_path / str(index)
        folder.mkdir()
        path = CASES / script
        job = ReplayJob(
            run_id="test-replay",
            index=index,
            script=path.read_bytes() if path.is_file() else script.encode(),
            script_name="best.ts",
            project=Project(image, folder=CASES / "page"),
            browser_image=image,
            evaluator=evaluator or (CASES / "judge.ts").read_text(),
            seed=index,
            replays=Replays(count=1, seeds=(index,), grace_s=grace_s, clock=clock),
            caps=Caps(replay_s=cap_s),
            limits=ContainerLimits(),
        )
        return play_once(engine, job, folder, lambda _: None), folder

    return play


def console(folder: Path) -> str:
    lines = [json.loads(line) for line in (folder / "console.ndjson").read_text().splitlines()]
    return "\n".join(str(line["text"]) for line in lines)


def test_an_honest_script_clears_and_leaves_its_evidence(play: Play) -> None:
    record, folder = play("win.ts")
    assert (record.outcome, record.cleared, record.detail) == ("cleared", True, None)
    assert record.evidence == {"marks": ["trusted"] * 3, "won": True}
    assert record.level_time_ms is not None and record.level_time_ms > 0
    assert record.bypasses == 0
    assert record.container_id != record.game_container_id
    tape = [json.loads(line)["kind"] for line in (folder / "tape.ndjson").read_text().splitlines()]
    assert tape.count("mouse.down") >= 3
    assert record.input_events == len(tape) - 2, "a head and an end beside the dispatches"
    for name in ("first.png", "last.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    assert b"ftyp" in (folder / "video.mp4").read_bytes()[:64]
    assert {path.name for path in folder.iterdir()} <= {
        "first.png", "last.png", "video.mp4", "frames.json", "console.ndjson", "tape.ndjson", "witness.ndjson", "states.ndjson"
    }  # fmt: skip


def test_two_replays_share_nothing(play: Play) -> None:
    first, one = play("leave_traces.ts")
    second, two = play("leave_traces.ts")
    assert "left: 1 trace=1 trace" in console(one)
    assert "found: nothing" in console(two)
    assert first.container_id != second.container_id
    assert first.nonce != second.nonce


def test_replaced_natives_change_nothing_the_judge_says(play: Play) -> None:
    idle, _ = play("void 0;")
    tampered, _ = play("replace_natives.ts")
    assert (tampered.outcome, tampered.evidence) == ("not_cleared", idle.evidence)
    assert tampered.level_time_ms is None


def test_replaced_natives_do_not_hide_an_honest_clear(play: Play) -> None:
    text = (CASES / "win.ts").read_text() + (CASES / "replace_natives.ts").read_text()
    record, _ = play(text, grace_s=1)
    assert record.outcome == "cleared"
    assert record.evidence == {"marks": ["trusted"] * 3, "won": True}


def test_a_page_finds_neither_judge_nor_host_files(play: Play) -> None:
    record, folder = play("search_judge.ts")
    assert "frames of the judge's call: true" in console(folder)
    assert "found: nothing" in console(folder)
    assert record.outcome == "not_cleared"


@pytest.mark.parametrize("clock", ["real", "virtual"])
@pytest.mark.parametrize(
    ("script", "outcome", "detail"),
    [
        ("throw new Error('my own fault');", "script_error", "my own fault"),
        ("const x: = 3;", "script_error", "best.ts"),
        ("location.href = '/other.html'; await new Promise(() => {});", "navigated_away", "navigated"),
        ("await new Promise(() => {});", "cap_reached", "5"),
        ("setTimeout(() => { for (;;); }, 100); await new Promise(() => {});", "page_hung", "blocked"),
        ("const kept = []; for (;;) kept.push(new Array(1e6).fill(kept.length));", "page_crashed", "crashed"),
    ],
)
def test_each_end_of_a_page_has_its_own_outcome(
    play: Play, script: str, outcome: str, detail: str, clock: Clock
) -> None:
    record, folder = play(script, cap_s=5 if outcome == "cap_reached" else 120, clock=clock)
    assert record.outcome == outcome, record
    assert detail in (record.detail or "")
    assert (folder / "video.mp4").is_file()


@pytest.mark.parametrize("clock", ["real", "virtual"])
def test_what_a_page_asks_for_is_refused_and_logged_and_the_replay_goes_on(play: Play, clock: Clock) -> None:
    record, folder = play(
        """
        window.open("/other.html"); alert("hello"); confirm("sure?");
        const link = document.createElement("a"); link.href = "/other.html"; link.download = "x"; link.click();
        await navigator.serviceWorker?.register("/none.js").catch(() => {});
        for (let i = 0; i < 20000; i++) console.log("flood", i);
        await new Promise((resolve) => setTimeout(resolve, 500));
        """,
        clock=clock,
    )
    text = console(folder)
    assert record.outcome == "not_cleared", record
    assert "alert dismissed: hello" in text
    assert "other.html" in text
    assert "more lines" in text
    assert len(text) < 600_000
    assert {"popup"} <= {finding.kind for finding in record.findings}


def test_a_replay_shows_that_it_began_from_nothing(play: Play) -> None:
    (first, _), (second, _) = play("win.ts", clock="virtual"), play("leave_traces.ts", clock="virtual")
    for record in (first, second):
        fresh = record.fresh
        assert fresh is not None
        assert fresh.boot_nonce == record.nonce
        assert fresh.source_before == fresh.source_after
        assert fresh.browser_storage == {"cookies": 0, "bytes": 0}
        assert len(fresh.listening) == 1, "the game's server alone"
        phases = record.phases.model_dump()
        wanted = ("create", "serve", "boot", "ready", "play", "evaluate", "teardown")
        assert all(phases[name] is not None for name in wanted), phases
    assert first.fresh is not None and second.fresh is not None
    assert first.fresh.boot_nonce != second.fresh.boot_nonce
    assert first.fresh.source_before == second.fresh.source_before


def test_an_artifact_that_breaks_what_the_judge_reads_has_not_cleared(play: Play) -> None:
    record, _ = play(
        """
        import { state } from "/src/state.js";
        Object.defineProperty(state, "won", { get() { throw new Error("gone"); } });
        await new Promise((resolve) => setTimeout(resolve, 1500));
        """
    )
    assert record.outcome == "not_cleared"
    assert "gone" in str(record.evidence)


def test_a_judge_that_does_not_work_is_our_failure_and_never_the_artifacts(play: Play) -> None:
    record, _ = play("win.ts", evaluator="export const setup = 1; this is no program")
    assert record.outcome == "infra_error"
    assert "does not compile" in (record.detail or "")


def test_the_same_findings_have_the_same_name(play: Play) -> None:
    records: list[Any] = [play("void 0;")[0] for _ in range(2)]
    assert records[0].result_sha256 == records[1].result_sha256
    assert len(records[0].state_digests) == 1
    assert records[0].container_id != records[1].container_id
