from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from audit.tape_proof import Played, difference, prove


def sample(frame: int, score: int, pixels: str = "p", fingerprints: str = "ab") -> dict[str, Any]:
    return {
        "frame": frame,
        "state": {"score": score, "at": [1, 2]},
        "pixels": pixels,
        "fingerprints": list(fingerprints),
    }


HONEST = Played(
    samples=(sample(2, 0), sample(4, 1)),
    cleared=True,
    level_time_ms=66.7,
    evidence={"score": 1},
    renderer="llvmpipe",
)


def test_three_equal_replays_are_proved() -> None:
    proof = prove(HONEST, (HONEST, HONEST))
    assert (proof.word, proof.difference) == ("proved", None)


def test_a_script_that_alone_differs_is_refuted_at_the_first_frame_and_part_that_differ() -> None:
    cheat = replace(HONEST, samples=(sample(2, 0), sample(4, 7, fingerprints="aX")))
    proof = prove(cheat, (HONEST, HONEST))
    assert proof.word == "refuted"
    assert proof.difference is not None
    assert (proof.difference.frame, proof.difference.what) == (4, "the state: score")


def test_a_difference_that_is_gone_again_at_the_next_sample_is_still_found() -> None:
    brief = replace(HONEST, samples=(sample(2, 0, fingerprints="Xb"), sample(4, 1)))
    proof = prove(brief, (HONEST, HONEST))
    assert (proof.word, proof.difference and proof.difference.frame) == ("refuted", 1)


def test_a_picture_that_differs_refutes_within_one_renderer_only() -> None:
    painted = replace(HONEST, samples=(sample(2, 0, pixels="other"), sample(4, 1)))
    assert prove(painted, (HONEST, HONEST)).word == "refuted"
    elsewhere = replace(painted, renderer="another renderer")
    assert prove(elsewhere, (HONEST, HONEST)).word == "proved"


def test_tapes_that_disagree_are_inconclusive_with_what_the_clock_did_not_wait_for() -> None:
    other = replace(HONEST, samples=(sample(2, 0), sample(4, 2)), late=("a worker",))
    proof = prove(HONEST, (HONEST, other))
    assert proof.word == "inconclusive"
    assert "a worker" in proof.detail


def test_a_tape_that_could_not_be_played_is_inconclusive() -> None:
    lost = replace(HONEST, problem="the page crashed")
    proof = prove(HONEST, (lost, HONEST))
    assert proof.word == "inconclusive"
    assert "the page crashed" in proof.detail


def test_what_the_evaluator_says_at_the_end_counts_too() -> None:
    for change in ({"cleared": False}, {"level_time_ms": 1.0}, {"evidence": None}):
        found = difference(replace(HONEST, **change), HONEST)
        assert found is not None
        assert found.frame is None


def test_a_replay_that_ended_earlier_differs_from_where_it_ended() -> None:
    found = difference(replace(HONEST, samples=HONEST.samples[:1]), HONEST)
    assert found is not None
    assert (found.frame, found.what) == (2, "one of them ended earlier")


states = st.recursive(
    st.none() | st.integers(0, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)


@given(states, states)
def test_two_states_differ_exactly_when_they_are_not_equal(one: Any, other: Any) -> None:
    def played(state: Any) -> Played:
        row = {"frame": 1, "state": state, "pixels": None, "fingerprints": []}
        return replace(HONEST, samples=(row,))

    assert (difference(played(one), played(other)) is None) == (one == other)
