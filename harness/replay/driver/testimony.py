"""What the witness says: the events that the page's documents received, and findings. Plain data, so that the side that only reads and
compares needs no browser."""

from dataclasses import dataclass
from typing import Literal

FindingKind = Literal[
    "untaped",  # a trusted event without a dispatch
    "unseen",  # a dispatch without an event
    "synthetic",  # an event that page code made
    "flood",  # more events of the page's own making than are kept
    "document_opened",  # document.open() erased every listener of a document, ours among them
    "popup",
    "worker",
    "late_frame",  # a frame that came after the script began
    "separate_frame",  # a frame in another process, which the witness does not see into
    "download",
    "late_import",  # a module that was loaded after the play began; one of the game's that no tape's replay would load
]


@dataclass(frozen=True, slots=True)
class WitnessEvent:
    """One event, stamped by the host when it arrived: the page's own time may be the page's invention."""

    t_ms: float
    frame: int
    document: str  # "top", or "frame N" in the order of their coming
    type: str
    trusted: bool
    target: str  # the target and what it stands in, innermost first
    key: str | None = None
    code: str | None = None
    repeat: bool = False
    button: int | None = None
    buttons: int | None = None
    x: float | None = None
    y: float | None = None
    screen_x: float | None = None
    screen_y: float | None = None
    dx: float | None = None  # movement, or what a wheel turned
    dy: float | None = None
    locked: bool = False  # the pointer was


@dataclass(frozen=True)
class Finding:
    frame: int
    kind: FindingKind
    detail: str
