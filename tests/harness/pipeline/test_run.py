"""Whole runs, by the command line: session, artifact, replays, record; stopped, resumed, cut off, spoiled."""

import base64
import json
import signal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from contracts.canonical import sha256_bytes, sha256_file
from harness.archive.manifest import problems
from harness.engine import Engine
from tests.harness.pipeline.command_line import (
    FIRST_SEED,
    CommandLine,
    left_of,
    quick_contract,
    turns,
    wait_until,
)

pytestmark = [pytest.mark.docker, pytest.mark.browser]

IDLE = "void 0;\n"
WRITE_IDLE: dict[str, Any] = {"bash": f"cat > vitexec/best.ts <<'END'\n{IDLE}END"}
SUBMIT: dict[str, Any] = {"say": "done"}
KEY = "sk-test-0123456789/abc+def"


def test_a_run_goes_from_session_to_record(playproof: CommandLine, engine: Engine, tmp_path: Path) -> None:
    look = {"bash": ["false", "echo hello; git --version; node --version; vitexec --help | head -1"]}
    model = turns(tmp_path, look, WRITE_IDLE, SUBMIT)
    [record] = playproof("run", "--contract", str(quick_contract(tmp_path, 2)), "--model", model, code=1)
    folder = playproof.folder()

    assert record["run_id"] == folder.name
    assert (record["kind"], record["exit"], record["ranked_time_ms"], record["score"]) == (
        "play",
        "submitted",
        None,
        None,
    )
    assert (record["api_calls"], record["tool_calls"], record["tool_errors"]) == (3, 3, 1)
    assert record["artifact_sha256"] == sha256_bytes(IDLE.encode())
    assert record["prompt_sha256"] == sha256_file(folder / "prompt.md")
    assert set(record["images"]) == {"agent", "game", "browser"}
    assert record["wall"]["total_s"] >= record["wall"]["agent_s"] > 0
    assert [replay["outcome"] for replay in record["replays"]] == ["not_cleared"] * 2
    assert len({replay["container_id"] for replay in record["replays"]}) == 2
    assert all(len(replay["result_sha256"]) == 64 for replay in record["replays"])

    assert (folder / "artifact" / "best.ts").read_text() == IDLE
    assert (folder / "evidence" / "workspace.tar.zst").stat().st_size > 0
    assert "hello" in "".join(path.read_text() for path in sorted((folder / "session" / "raw").iterdir()))
    assert json.loads((folder / "session" / "trajectory.json").read_text())["schema_version"].startswith(
        "ATIF"
    )
    for part in ("session", "artifact", "evidence", "evaluations/1", "evaluations/1/replays/1"):
        assert problems(folder / part) == [], part
    assert left_of(engine, folder.name) == []


def test_a_session_at_its_cap_is_cut_off_and_what_was_there_is_judged(
    playproof: CommandLine, tmp_path: Path
) -> None:
    loop = {"bash": 'for i in $(seq 100000); do echo "// line $i" >> vitexec/best.ts; sleep 0.01; done'}
    contract = quick_contract(tmp_path, session_s=6)
    [record] = playproof("run", "--contract", str(contract), "--model", turns(tmp_path, loop, SUBMIT), code=1)
    artifact = playproof.folder() / "artifact" / "best.ts"
    assert record["exit"] == "cut_off"
    assert record["artifact_sha256"] == sha256_file(artifact)
    assert artifact.read_text().splitlines()[0] == "// line 1"
    assert record["replays"][0]["outcome"] == "not_cleared"
    assert record["api_calls"] == 1


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("true", "missing"),
        ("ln -s /etc/passwd vitexec/best.ts", "not_regular"),
        ("mkfifo vitexec/best.ts", "not_regular"),
        ("truncate -s 100M vitexec/best.ts", "too_large"),
    ],
)
def test_without_an_artifact_there_is_no_replay_and_no_time(
    playproof: CommandLine, tmp_path: Path, command: str, reason: str
) -> None:
    model = turns(tmp_path, {"bash": command}, SUBMIT)
    [record] = playproof("run", "--contract", str(quick_contract(tmp_path)), "--model", model, code=1)
    assert record["artifact_sha256"] is None
    assert [replay["outcome"] for replay in record["replays"]] == ["no_artifact"]
    assert record["ranked_time_ms"] is None
    assert json.loads((playproof.folder() / "artifact" / "refused.json").read_text())["reason"] == reason


def test_no_key_is_found_in_any_file_of_a_run(playproof: CommandLine, tmp_path: Path) -> None:
    playproof.environment = {"OPENAI_API_KEY": KEY, "OPENROUTER_API_KEY": KEY}
    encoded = base64.b64encode(f"user:{KEY}".encode()).decode()
    echo = {
        "raw": {"error": {"message": f"bad key {KEY}, {quote(KEY, safe='')}, Basic {encoded}"}},
        "status": 401,
    }
    model = turns(tmp_path, {"bash": "env; cat /proc/1/environ | tr '\\0' '\\n'"}, echo)
    [record] = playproof("run", "--contract", str(quick_contract(tmp_path)), "--model", model, code=3)
    assert (record["exit"], record["replays"]) == ("infra_error", [])
    everything = b"".join(path.read_bytes() for path in playproof.folder().rglob("*") if path.is_file())
    assert b"bad key" in everything
    for form in (KEY, quote(KEY, safe=""), encoded, base64.b64encode(KEY.encode()).decode()):
        assert form.encode() not in everything


def test_the_agents_container_holds_no_judge_no_seed_and_no_history(
    playproof: CommandLine, tmp_path: Path
) -> None:
    search = {
        "bash": [
            f"grep -rlI -e levelTimeMs -e {FIRST_SEED} / --exclude-dir=proc --exclude-dir=sys 2>/dev/null | head; true",
            "find / -name '.git' -not -path '/proc/*' 2>/dev/null; find / -iname '*evaluator*' -path '*game*' 2>/dev/null; "
            "find / \\( -iname '*solution*' -o -iname 'win.ts' -o -iname 'canaries*' \\) -not -path '/proc/*' 2>/dev/null; true",
            "getent hosts example.com; cat /proc/net/route | wc -l; ls /sys/class/net; id -u; grep -h ^Cap /proc/self/status",
        ]
    }
    playproof(
        "run", "--contract", str(quick_contract(tmp_path)), "--model", turns(tmp_path, search, SUBMIT), code=1
    )
    raw = [path.read_text() for path in sorted((playproof.folder() / "session" / "raw").iterdir())]
    found = [line for line in raw[0].splitlines() if "/opt/playproof/driver/" not in line]
    assert found == [], "only the driver, which the agent practises with, may know the judge's words"
    assert raw[1].strip() == ""
    assert raw[2].split()[:3] == ["1", "lo", "1000"]
    assert set(raw[2].split()[4::2]) == {"0000000000000000"}


def test_a_harness_killed_in_a_session_leaves_nothing_running_and_is_never_scored(
    playproof: CommandLine, engine: Engine, tmp_path: Path
) -> None:
    busy = {
        "bash": "setsid sleep 1000 & touch started; while true; do date >> /workspace/log; sleep 0.1; done"
    }
    process = playproof.start(
        "run", "--contract", str(quick_contract(tmp_path)), "--model", turns(tmp_path, busy)
    )
    wait_until(lambda: bool(playproof.runs.is_dir() and list(playproof.runs.glob("*/session/raw/*"))), 120)
    run_id = playproof.folder().name
    process.send_signal(signal.SIGKILL)
    process.wait()

    container = engine.adopt(run_id, "agent")
    assert container is not None

    def agent_processes() -> list[str]:
        listed = engine.api.json(
            "GET", f"/containers/{container.id}/top", "list processes", params={"ps_args": "-eo pid,args"}
        )
        return [row[-1] for row in listed["Processes"] if "supervisor.py" not in row[-1]]

    wait_until(lambda: agent_processes() == [], 5)
    [record] = playproof("run", "--resume", run_id, code=3)
    assert (record["exit"], record["ranked_time_ms"], record["replays"]) == ("infra_error", None, [])
    assert left_of(engine, run_id) == []


def test_a_harness_killed_in_the_replays_goes_on_after_the_last_complete_one(
    playproof: CommandLine, engine: Engine, tmp_path: Path
) -> None:
    contract = quick_contract(tmp_path, 2)
    process = playproof.start(
        "run", "--contract", str(contract), "--model", turns(tmp_path, WRITE_IDLE, SUBMIT)
    )
    wait_until(lambda: bool(list(playproof.runs.glob("*/evaluations/1/replays/1/MANIFEST.json"))), 180)
    process.send_signal(signal.SIGKILL)
    process.wait()
    folder = playproof.folder()
    first = json.loads((folder / "evaluations" / "1" / "replays" / "1" / "replay.json").read_text())

    [record] = playproof("run", "--resume", folder.name, code=1)
    assert record["replays"][0]["container_id"] == first["container_id"]
    assert [replay["outcome"] for replay in record["replays"]] == ["not_cleared"] * 2
    assert record["stage"] == "done"
    assert left_of(engine, folder.name) == []


def test_a_plan_runs_each_cell_once(playproof: CommandLine, tmp_path: Path) -> None:
    model = turns(tmp_path, {"bash": "true"}, SUBMIT)
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        f"contracts: ['{quick_contract(tmp_path)}']\nstacks: [{{model: '{model}'}}]\nrepeats: 2\n"
    )
    first = playproof("run", str(plan), "-n", "2", code=1)
    again = playproof("run", str(plan), "-n", "2", code=1)
    assert len({record["run_id"] for record in first}) == 2
    assert [record["run_id"] for record in again] == [record["run_id"] for record in first]


def test_an_archived_run_is_evaluated_again_beside_its_first_evaluation(
    playproof: CommandLine, tmp_path: Path
) -> None:
    model = turns(tmp_path, WRITE_IDLE, SUBMIT)
    [record] = playproof("run", "--contract", str(quick_contract(tmp_path)), "--model", model, code=1)
    before = (playproof.folder() / "evaluations" / "1" / "evaluation.json").read_bytes()
    [evaluation] = playproof("evaluate", "last")
    assert evaluation["number"] == 2
    assert evaluation["artifact_sha256"] == record["artifact_sha256"]
    assert (playproof.folder() / "evaluations" / "1" / "evaluation.json").read_bytes() == before
    [shown] = playproof("list")
    assert shown["evaluations"] == 2
