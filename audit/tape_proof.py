"""The tape proof: did a script's replay need anything but its input? Three replays are compared: the script's, and two of its tape alone.

If the tape's agree with each other and with the script's, the result is proved. If they agree with each other and not with
the script's, something else acted: refuted. If they disagree, the game itself is not the same twice: inconclusive. What is
compared is every frame's fingerprint of the game's state, the state and picture of every second, and what the evaluator said at the end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from contracts.record import Difference, Proof


@dataclass(frozen=True)
class Played:
    """What one replay left to compare: its samples (rows of states.ndjson), and the evaluator's last answer."""

    samples: Sequence[dict[str, Any]]
    cleared: bool
    level_time_ms: float | None
    evidence: Any
    renderer: str | None
    result_sha256: str = ""
    problem: str | None = None
    """Why the replay could not be played to its end, if it could not."""
    late: Sequence[str] = field(default_factory=tuple)


def prove(script: Played, tapes: tuple[Played, Played]) -> Proof:
    """The proof's word, why, and the first difference where there is one."""
    results = [script.result_sha256, *(tape.result_sha256 for tape in tapes)]
    first, second = tapes
    if first.problem or second.problem:
        return Proof(
            word="inconclusive",
            detail=f"the tape could not be replayed: {first.problem or second.problem}",
            results=results,
        )
    between = difference(first, second)
    if between is not None:
        why = f"two replays of the tape alone differ {_place(between)}{_causes(first, second)}"
        return Proof(word="inconclusive", detail=why, difference=between, results=results)
    apart = difference(script, first)
    if apart is None:
        detail = "both replays of the tape alone gave the same frames and the same result"
        return Proof(word="proved", detail=detail, results=results)
    why = f"the tape alone gives another game than the script's replay, {_place(apart)}: something beside the input acted"
    return Proof(word="refuted", detail=why, difference=apart, results=results)


def _place(found: Difference) -> str:
    where = "at the end" if found.frame is None else f"first at frame {found.frame}"
    return f"{where} ({found.what})"


def _causes(*replays: Played) -> str:
    words = sorted({word for replay in replays for word in replay.late})
    return f"; the clock did not wait for: {', '.join(words)}" if words else ""


def difference(one: Played, other: Played) -> Difference | None:
    """The first thing in which two replays differ."""
    pixels = one.renderer == other.renderer
    for mine, theirs in zip(one.samples, other.samples, strict=False):
        found = _in_samples(mine, theirs, pixels)
        if found is not None:
            return found
    if len(one.samples) != len(other.samples):
        shorter = min(one.samples, other.samples, key=len)
        frame = shorter[-1]["frame"] if shorter else None
        return Difference(
            frame=frame, what="one of them ended earlier", script=len(one.samples), tape=len(other.samples)
        )
    for what in ("cleared", "level_time_ms", "evidence"):
        mine, theirs = getattr(one, what), getattr(other, what)
        if mine != theirs:
            return Difference(frame=None, what=f"what the evaluator says: {what}", script=mine, tape=theirs)
    return None


def _in_samples(mine: dict[str, Any], theirs: dict[str, Any], pixels: bool) -> Difference | None:
    if mine["frame"] != theirs["frame"]:
        frame = min(mine["frame"], theirs["frame"])
        return Difference(
            frame=frame, what="one of them ended earlier", script=mine["frame"], tape=theirs["frame"]
        )
    states = (mine["state"], theirs["state"])
    before = mine["frame"] - len(mine["fingerprints"])
    for index, (here, there) in enumerate(zip(mine["fingerprints"], theirs["fingerprints"], strict=False), 1):
        if here != there:
            return Difference(
                frame=before + index, what=_state_words(*states), script=states[0], tape=states[1]
            )
    if states[0] != states[1]:
        return Difference(frame=mine["frame"], what=_state_words(*states), script=states[0], tape=states[1])
    if pixels and mine["pixels"] != theirs["pixels"]:
        return Difference(
            frame=mine["frame"], what="the picture", script=mine["pixels"], tape=theirs["pixels"]
        )
    return None


def _state_words(mine: Any, theirs: Any) -> str:
    """Which parts of the state differ at the next sample, by their paths."""
    paths = list(_paths(mine, theirs, ""))[:5]
    return f"the state: {', '.join(paths)}" if paths else "the state, for less than a second"


def _paths(mine: Any, theirs: Any, path: str) -> Iterator[str]:
    if isinstance(mine, dict) and isinstance(theirs, dict):
        here, there = cast(dict[str, Any], mine), cast(dict[str, Any], theirs)
        for key in sorted({*here, *there}):
            yield from _paths(here.get(key), there.get(key), f"{path}.{key}" if path else key)
    elif (
        isinstance(mine, list)
        and isinstance(theirs, list)
        and len(cast(list[Any], mine)) == len(cast(list[Any], theirs))
    ):
        pairs = zip(cast(list[Any], mine), cast(list[Any], theirs), strict=True)
        for index, (one, other) in enumerate(pairs):
            yield from _paths(one, other, f"{path}[{index}]")
    elif mine != theirs:
        yield path or "all of it"
