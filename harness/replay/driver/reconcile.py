"""Holds the tape against the witness: every trusted event must have its dispatch and every dispatch its events; what is left over is a
finding. Hard part: Chromium does not answer one to one. It sends no move for a pointer outside the page, no mouse event from
a disabled control, nothing while a native list or a drag has the input, and it adds consequences of its own, some of which a page
can also make. Pointer and mouse events are two testimonies of the same dispatches: each is followed alone, and either is enough."""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from .keys import physical_key
from .testimony import Finding, WitnessEvent
from .trail import BUTTONS, NEAR_PX, KeyTrail, Trail

if TYPE_CHECKING:
    from .device import Dispatch

MOST_FINDINGS = 1000
CONSEQUENCE_MS = (
    2000.0  # how long a slow page may take to handle an event, on a real clock; frames tell it exactly
)
CONSEQUENCES_OF_ONE = 2  # a click on a label is one on its control too

_POINTER = ("pointerdown", "mousedown", "pointermove", "mousemove", "pointerup", "mouseup")
_RELEASES = ("pointerup", "mouseup")
_KEYS = ("keydown", "keyup")
CAUSES: dict[str, tuple[str, ...]] = {
    "keypress": ("keydown",),
    "beforeinput": ("keydown", "drop", *_RELEASES),
    "textInput": ("keydown", "drop"),
    "input": ("keydown", "click", "drop", *_POINTER),  # a slider's come from moves
    "change": ("keydown", "click", "drop", *_POINTER),
    "click": (*_RELEASES, *_KEYS),
    "auxclick": _RELEASES,
    "dblclick": ("click",),
    "contextmenu": ("pointerdown", "mousedown", *_RELEASES, *_KEYS),
    "dragstart": _POINTER,
    "copy": ("keydown",),
    "cut": ("keydown",),
    "paste": ("keydown", *_RELEASES),  # the middle button pastes
}
"""What follows from input and from what: events that have no dispatch of their own."""

DRAGGING = ("drag", "dragend", "dragenter", "dragleave", "dragover", "drop")
FOLLOWED = (*_POINTER, *_KEYS)
_BOUNDARIES = (
    "mouseover mouseout mouseenter mouseleave pointerover pointerout pointerenter pointerleave pointercancel "
    "gotpointercapture lostpointercapture pointerlockchange pointerlockerror focus blur focusin focusout"
)
FREE = frozenset(_BOUNDARIES.split())
"""What a page may bring about without input, and what tells nothing about input."""

KNOWN_KEYS = re.compile(
    r"Key[A-Z]|Digit\d|F([1-9]|1\d|2[0-4])|Numpad(\d|Enter|Add|Subtract|Multiply|Divide|Decimal)|Arrow(Up|Down|Left|Right)"
    r"|(Shift|Control|Alt|Meta)(Left|Right)|Space|Enter|Escape|Tab|Backspace|Delete|Insert|Home|End|PageUp|PageDown|CapsLock"
    r"|Backquote|Minus|Equal|Bracket(Left|Right)|Backslash|Semicolon|Quote|Comma|Period|Slash"
)
"""Keys whose events must be seen; a name that is no key at all was refused by the driver."""


def reconcile(
    tape: "Sequence[Dispatch]", witness: Sequence[WitnessEvent], viewport: tuple[int, int] | None = None
) -> list[Finding]:
    """What tape and witness do not explain to each other. Without a viewport nobody can tell which moves
    the page must have seen, and none is asked for."""
    trusted = [event for event in witness if event.trusted]
    keys = KeyTrail(tape, trusted)
    trails = [Trail(tape, trusted, "pointer"), Trail(tape, trusted, "mouse")]
    strangers = [*keys.strangers, *(event for trail in trails for event in trail.strangers)]
    causeless = _without_cause(trusted, {id(event) for event in strangers})
    seen = keys.seen | trails[0].seen | trails[1].seen | _taken_natively(tape, trusted)
    missing = [index for index in _needed(tape, trails, viewport) if index not in seen]
    findings = [_untaped(event) for event in [*strangers, *causeless]]
    findings += _unseen(tape, missing, witness)
    findings += _synthetic(witness)
    findings.sort(key=lambda finding: finding.frame)
    if len(findings) > MOST_FINDINGS:
        more = f"and {len(findings) - MOST_FINDINGS} more findings"
        findings[MOST_FINDINGS:] = [
            Finding(findings[MOST_FINDINGS].frame, findings[MOST_FINDINGS].kind, more)
        ]
    return findings


def _without_cause(trusted: Sequence[WitnessEvent], strangers: set[int]) -> Iterator[WitnessEvent]:
    """The events that follow from input, where no input came before them."""
    left: dict[str, tuple[int, WitnessEvent]] = {}  # consequence -> how many are still explained, and by what
    dragging = False
    edited = False
    for event in trusted:
        kind = event.type
        if kind in FREE or id(event) in strangers:
            continue
        if kind in DRAGGING:
            explained = dragging
        elif kind in FOLLOWED:
            explained = True
        else:
            count, cause = left.get(kind, (0, event))
            explained = count > 0 and _is_close(cause, event)
            if explained:
                left[kind] = (count - 1, cause)
            elif kind == "change" and edited:  # said only when the control loses the focus
                explained, edited = True, False
        if not explained:
            yield event
            continue
        dragging = kind == "dragstart" or (dragging and kind != "dragend")
        edited = edited or kind == "input"
        left.update((what, (CONSEQUENCES_OF_ONE, event)) for what, causes in CAUSES.items() if kind in causes)


def _is_close(cause: WitnessEvent, event: WitnessEvent) -> bool:
    if event.frame > 0:
        return event.frame - cause.frame <= 1
    return event.t_ms - cause.t_ms <= CONSEQUENCE_MS


def _needed(
    tape: "Sequence[Dispatch]", trails: Sequence[Trail], viewport: tuple[int, int] | None
) -> Iterator[int]:
    """The dispatches that must have been seen: each press and release, and where the pointer stood at each."""
    last_move: int | None = None
    for index, dispatch in enumerate(tape):
        if dispatch.kind == "mouse.move":
            last_move = index
            continue
        name = str(dispatch.args[0])
        if dispatch.kind in ("mouse.down", "mouse.up"):
            if last_move is not None and not _was_seen(tape, last_move, trails, viewport):
                yield last_move
            last_move = None
            if name in BUTTONS.values():
                yield index
        elif KNOWN_KEYS.fullmatch(physical_key(name)):
            yield index
    if last_move is not None and not _was_seen(tape, last_move, trails, viewport):
        yield last_move


def _was_seen(
    tape: "Sequence[Dispatch]", index: int, trails: Sequence[Trail], viewport: tuple[int, int] | None
) -> bool:
    if viewport is None or any(trail.has_reached(index) for trail in trails):
        return True
    x, y = (float(value) for value in tape[index].args)
    inside = NEAR_PX <= x < viewport[0] - NEAR_PX and NEAR_PX <= y < viewport[1] - NEAR_PX
    return not inside


def _taken_natively(tape: "Sequence[Dispatch]", trusted: Sequence[WitnessEvent]) -> set[int]:
    """Dispatches that never become events of the page: keys while a list is open, moves and releases while something is dragged."""
    lists = list(_spans(trusted, _opens_list, _leaves_list))
    drags = list(
        _spans(trusted, lambda event: event.type == "dragstart", lambda event: event.type == "dragend")
    )
    taken: set[int] = set()
    for index, dispatch in enumerate(tape):
        spans = lists if dispatch.kind.startswith("key.") else drags
        if dispatch.kind != "mouse.down" and any(start <= dispatch.t_ms <= end for start, end in spans):
            taken.add(index)
    return taken


def _opens_list(event: WitnessEvent) -> bool:
    return event.type in ("pointerdown", "keydown") and event.target.startswith("select")


def _leaves_list(event: WitnessEvent) -> bool:
    return event.type == "pointerdown" and not event.target.startswith("select")


def _spans(
    trusted: Sequence[WitnessEvent],
    opens: Callable[[WitnessEvent], bool],
    ends: Callable[[WitnessEvent], bool],
) -> Iterator[tuple[float, float]]:
    start: float | None = None
    for event in trusted:
        if start is None and opens(event):
            start = event.t_ms
        elif start is not None and ends(event):
            yield start, event.t_ms
            start = None
    if start is not None:
        yield start, math.inf


def _untaped(event: WitnessEvent) -> Finding:
    detail = f"a trusted {_worded(event)} at {event.t_ms:.0f} ms that no dispatch explains"
    return Finding(event.frame, "untaped", detail)


def _unseen(
    tape: "Sequence[Dispatch]", missing: Sequence[int], witness: Sequence[WitnessEvent]
) -> Iterator[Finding]:
    times = [event.t_ms for event in witness]
    for index in missing:
        dispatch = tape[index]
        after = bisect_left(times, dispatch.t_ms)
        what = f"{dispatch.kind} {', '.join(str(one) for one in dispatch.args)} at {dispatch.t_ms:.0f} ms"
        if after < len(witness):
            frame, why = witness[after].frame, "though it received events after it"
        else:
            frame = witness[-1].frame if witness else 0
            why = "nor anything after it: it hung, had left or had ended"
        yield Finding(frame, "unseen", f"{what} was dispatched and the page did not receive it, {why}")


def _synthetic(witness: Sequence[WitnessEvent]) -> Iterator[Finding]:
    """One finding for each kind of event, target and document."""
    firsts: dict[tuple[str, str, str], WitnessEvent] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for event in witness:
        if not event.trusted:
            which = (event.type, event.target, event.document)
            firsts.setdefault(which, event)
            counts[which] += 1
    for which, event in firsts.items():
        times = "once" if counts[which] == 1 else f"{counts[which]} times, first"
        detail = f"page code made a {_worded(event)}, {times} at {event.t_ms:.0f} ms"
        yield Finding(event.frame, "synthetic", detail)


def _worded(event: WitnessEvent) -> str:
    name = f" {event.code or event.key}" if event.code or event.key else ""
    return f"{event.type}{name} on {event.target} in {event.document}"
