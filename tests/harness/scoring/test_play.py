from hypothesis import given
from hypothesis import strategies as st

from contracts.record import ReplayRecord
from harness.scoring.play import ranked_time_ms


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
