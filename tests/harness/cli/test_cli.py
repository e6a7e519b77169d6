"""The command line as a person meets it: one sentence, one exit code, and no engine where none is needed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from harness.cli import app

ROOT = Path(__file__).resolve().parents[3]
NO_ENGINE = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}


def playproof(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **NO_ENGINE, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def commands() -> list[str]:
    return sorted(get_command(app).commands)  # pyright: ignore[reportAttributeAccessIssue]


def test_help_names_every_command(tmp_path: Path) -> None:
    done = playproof("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert all(name in done.stdout for name in commands())


@pytest.mark.parametrize("command", commands())
def test_every_command_has_help_and_stands_in_the_readme(command: str, tmp_path: Path) -> None:
    done = playproof(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "Usage" in done.stdout
    assert f"`{command}`" in (ROOT / "README.md").read_text()


def test_the_readmes_table_has_every_exit_code() -> None:
    table = (ROOT / "README.md").read_text()
    assert all(re.search(rf"^\| {code} \|", table, re.MULTILINE) for code in (0, 1, 2, 3, 130))


@pytest.mark.parametrize(
    "arguments", [("list",), ("list", "--json"), ("contracts",), ("contracts", "--json")]
)
def test_looking_needs_no_engine(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = playproof(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_contracts_as_json_have_the_published_fields(tmp_path: Path) -> None:
    rows = json.loads(playproof("contracts", "--json", cwd=tmp_path).stdout)
    assert all({"name", "kind", "version", "digest"} <= row.keys() for row in rows)


def one_sentence(done: subprocess.CompletedProcess[str], code: int) -> str:
    assert done.returncode == code, done
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("playproof: ")
    assert "Traceback" not in done.stderr
    return lines[0]


def test_a_run_without_an_engine_is_one_sentence_and_exit_3(tmp_path: Path) -> None:
    said = one_sentence(playproof("run", "--contract", "arena", "--model", "m", cwd=tmp_path), 3)
    assert "/nonexistent/docker.sock" in said
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run",), "Give one of"),
        (("run", "--contract", "arena"), "--model is missing"),
        (("run", "--contract", "chess", "--model", "m"), "no contract 'chess'"),
        (("run", "--contract", "arena", "--model", "m", "--base-url", "x"), "http"),
        (("run", "--contract", "arena", "--model", "scripted:no.yaml"), "no.yaml does not exist"),
        (("run", "no.yaml"), "no.yaml does not exist"),
        (("run", "plan.yaml", "--resume", "last"), "Give one of"),
        (("replay",), "either a run"),
        (("replay", "--script", "a.ts"), "--game is missing"),
        (("replay", "--script", "no.ts", "--game", "arena"), "no.ts cannot be read"),
        (("replay", "--script", "a.txt", "--game", "arena"), "a.txt is no .ts"),
        (("replay", "--script", "a.ts", "--game", "chess"), "no contract 'chess'"),
        (("replay", "--script", "a.ts", "--game", "empty"), "has no index.html"),
        (("replay", "--script", "a.ts", "--game", "arena", "--clock", "lunar"), "--clock is real or virtual"),
        (
            ("replay", "--script", "a.ts", "--game", "arena", "--video", "no"),
            "--video is full or keyframes or off",
        ),
        (("replay", "--script", "a.ts", "--game", "arena", "--tape"), "--tape needs a run"),
        (
            ("replay", "--script", "a.ts", "--game", "arena", "--clock", "real", "--check-determinism"),
            "needs the virtual clock",
        ),
        (("bench", "lunch"), "session or replay"),
        (("show", "nope"), "no run 'nope'"),
        (("contracts", "pin", "no.yaml"), "no.yaml does not exist"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_2(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    (tmp_path / "a.ts").write_text("")
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "empty").mkdir()
    assert said in one_sentence(playproof(*arguments, cwd=tmp_path), 2)


def test_doctor_without_an_engine_says_what_to_do(tmp_path: Path) -> None:
    done = playproof("doctor", "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 3
    assert report["ok"] is False
    assert any(not check["ok"] and check["remedy"] for check in report["checks"])
