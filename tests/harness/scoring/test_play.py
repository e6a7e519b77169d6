from hypothesis import given
from hypothesis import strategies as st

from contracts.record import Pacing, ReplayRecord
from harness.scoring.play import ranked_time_ms, unstable


def replay(index: int, time: float | None) -> ReplayRecord:
    if time is None:
        return ReplayRecord(index=index, outcome="not_cleared", wall_ms=600_000)
    return ReplayRecord(index=index, outcome="cleared", cleared=True, level_time_ms=time)


def test_the_fastest_replay_that_cleared_ranks() -> None:
    # Playbench's table: the fastest of three, however slow the others
    assert ranked_time_ms([replay(1, 41_781.3), replay(2, 16_768.4), replay(3, None)]) == 16_768.4


def test_no_time_is_invented_where_nothing_was_cleared() -> None:
    assert ranked_time_ms([replay(1, None), replay(2, None)]) is None
    assert ranked_time_ms([]) is None


@given(st.lists(st.none() | st.floats(1, 600_000)))
def test_a_failed_replay_changes_nothing(times: list[float | None]) -> None:
    all_replays = [replay(index, time) for index, time in enumerate(times)]
    cleared = [one for one in all_replays if one.cleared]
    assert ranked_time_ms(all_replays) == ranked_time_ms(cleared)
    assert ranked_time_ms(all_replays) == min((t for t in times if t is not None), default=None)


def test_under_the_virtual_clock_only_a_proved_clear_ranks() -> None:
    def virtual(index: int, time: float, word: str | None) -> ReplayRecord:
        return replay(index, time).model_copy(update={"clock": "virtual", "tape_proof": word})

    replays = [virtual(1, 5.0, "refuted"), virtual(2, 6.0, None), virtual(3, 9.0, "proved")]
    assert ranked_time_ms(replays) == 9.0
    assert ranked_time_ms([*replays[:2], virtual(4, 1.0, "inconclusive")]) is None


def paced(index: int, time: float | None, over_50_ms: int) -> ReplayRecord:
    pacing = Pacing(frames=600, mean_fps=50, p5_fps=20, longest_gap_ms=80, over_50_ms=over_50_ms)
    return replay(index, time).model_copy(update={"clock": "real", "pacing": pacing})


def test_replays_that_disagree_under_bad_pacing_are_unstable() -> None:
    why = unstable([paced(1, 5.0, 3), paced(2, None, 90)])
    assert why is not None
    assert "in 2" in why
    assert unstable([paced(1, 5.0, 3), paced(2, None, 3)]) is None, "even frames: the script is what differs"
    assert unstable([paced(1, 5.0, 90), paced(2, 6.0, 90)]) is None, "they agree"
