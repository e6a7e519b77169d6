"""The headline number of a play run: the fastest replay that cleared.

Never a mean or a median; a replay that failed contributes nothing but its wall time, and where none cleared
there is no number (Playbench's published method, "One ranked time").
"""

from collections.abc import Iterable

from contracts.record import ReplayRecord


def ranked_time_ms(replays: Iterable[ReplayRecord]) -> float | None:
    """The lowest level time in ms among cleared replays, or None where none cleared."""
    times = [
        replay.level_time_ms
        for replay in replays
        if replay.outcome == "cleared" and replay.level_time_ms is not None
    ]
    return min(times, default=None)
