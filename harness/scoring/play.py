"""The headline number of a play run: the fastest replay that cleared.

Under the virtual clock a clear counts when its tape alone clears as well (`proved`): then it needed nothing but input.
Never a mean or a median; a replay that failed contributes nothing but its wall time, and where none cleared
there is no number (Playbench's published method, "One ranked time").
"""

from collections.abc import Iterable, Sequence

from contracts.record import Pacing, ReplayRecord


def ranked_time_ms(replays: Iterable[ReplayRecord]) -> float | None:
    """The lowest level time in ms among cleared replays, or None where none cleared."""
    times = [
        replay.level_time_ms
        for replay in replays
        if replay.outcome == "cleared" and replay.level_time_ms is not None and _counts(replay)
    ]
    return min(times, default=None)


def _counts(replay: ReplayRecord) -> bool:
    return replay.clock == "real" or replay.tape_proof == "proved"


BAD_GAP_MS = 50.0
BAD_SHARE = 0.05
"""A replay paces badly when more than one frame in twenty came after more than 50 ms."""


def unstable(replays: Sequence[ReplayRecord]) -> str | None:
    """Why replays under the real clock that disagree cannot be trusted, or None: their frames came unevenly."""
    played = [replay for replay in replays if replay.clock == "real" and replay.pacing is not None]
    if len({replay.outcome for replay in played}) < 2:
        return None
    bad = [replay.index for replay in played if replay.pacing is not None and _paces_badly(replay.pacing)]
    if not bad:
        return None
    return f"the replays disagree and frames came unevenly in {', '.join(str(index) for index in bad)}"


def _paces_badly(pacing: Pacing) -> bool:
    frames = pacing.frames or 1
    return pacing.over_50_ms / frames > BAD_SHARE
