"""The tape proof on scripts that reach for more than keyboard and mouse, and on honest ones that come near it. Each script is played by the
real judge in a real browser, then its tape alone, twice."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.tape_proof import Played, difference, prove
from contracts.record import Proof

from .conftest import Box, Lines

CASES = Path(__file__).parents[3] / "cases" / "tampering"
REFUTED = sorted((CASES / "refuted").glob("*.ts"))
PROVED = sorted((CASES / "proved").glob("*.ts"))


class Proving:
    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._number = 0

    def replays(
        self, script: str, tapes: int = 2, seed: int = 5, vector_width: int = 256
    ) -> list[dict[str, Any]]:
        self._number += 1
        order = {
            "number": self._number,
            "script": script,
            "tapes": tapes,
            "seed": seed,
            "vector_width": vector_width,
            "evaluator": (CASES / "judge.ts").read_text(),
        }
        return self._lines.ask(order)["replays"]

    def prove(self, script: str) -> tuple[Proof, list[dict[str, Any]]]:
        replays = self.replays(script)
        for replay in replays:
            assert "failure" not in replay["result"], replay["result"]
        first, second, third = (played(replay) for replay in replays)
        return prove(first, (second, third)), replays


def played(replay: dict[str, Any]) -> Played:
    result = replay["result"]
    return Played(
        samples=replay["states"],
        cleared=result["outcome"] == "cleared",
        level_time_ms=result["level_time_ms"],
        evidence=result["evidence"],
        renderer=result["renderer"],
        late=tuple(str(one["what"]) for one in result["late"]),
    )


@pytest.fixture(scope="module")
def proving(box: Box) -> Iterator[Proving]:
    box.put_tree(CASES / "game", "/workspace/tampering")
    box.container.put("/tmp", {"proving.py": (Path(__file__).parent / "proving.py").read_bytes()})
    with box.container.open_exec(["python3", "/tmp/proving.py"]) as channel:
        yield Proving(Lines(channel))


@pytest.mark.browser
@pytest.mark.parametrize("case", REFUTED, ids=lambda path: path.stem)
def test_a_script_that_does_more_than_input_is_refuted(proving: Proving, case: Path) -> None:
    proof, replays = proving.prove(case.read_text())
    assert replays[0]["result"]["detail"] is None, "the script itself must run to its end"
    assert proof.word == "refuted", proof
    assert proof.difference is not None


@pytest.mark.browser
@pytest.mark.parametrize("case", PROVED, ids=lambda path: path.stem)
def test_an_honest_script_is_proved(proving: Proving, case: Path) -> None:
    proof, replays = proving.prove(case.read_text())
    assert replays[0]["result"]["detail"] is None
    assert proof.word == "proved", proof
    assert replays[0]["result"]["findings"] == []


@pytest.mark.browser
def test_the_same_script_gives_the_same_tape_and_states_and_another_seed_others(proving: Proving) -> None:
    script = (CASES / "proved" / "libraries-and-randomness.ts").read_text()
    first, again, other = (proving.replays(script, tapes=0, seed=seed)[0] for seed in (5, 5, 6))
    assert (first["tape"], first["states"]) == (again["tape"], again["states"])
    assert json.dumps(first["states"]) != json.dumps(other["states"])


@pytest.mark.browser
def test_another_width_of_vectors_is_told_apart_by_its_renderer_and_gives_the_same_states(
    proving: Proving,
) -> None:
    script = (CASES / "proved" / "libraries-and-randomness.ts").read_text()
    wide, narrow = (proving.replays(script, tapes=0, vector_width=width)[0] for width in (256, 128))
    renderers = (wide["result"]["renderer"], narrow["result"]["renderer"])
    assert "128 bits" in renderers[1]
    assert renderers[0] != renderers[1]
    assert wide["tape"] == narrow["tape"]
    assert difference(played(wide), played(narrow)) is None
