"""What one replay is asked to do: the script or the tape, the game, the judge and the rules."""

from dataclasses import dataclass, field
from typing import Any, Literal

from contracts.contract import Caps, ContainerLimits, Replays
from harness.replay.project import Project

Video = Literal["off", "keyframes", "full"]


@dataclass(frozen=True)
class ReplayJob:
    """What to replay and under which rules; with a `tape` its input is played and the script is not."""

    run_id: str
    index: int
    script: bytes
    script_name: str
    project: Project
    browser_image: str
    evaluator: str | None
    seed: int | None
    replays: Replays
    caps: Caps
    limits: ContainerLimits
    video: Video = "full"
    tape: list[dict[str, Any]] | None = None
    images: dict[str, str] = field(default_factory=dict[str, str])
    journal: bool = False
    """Keep what the page asked of the virtual clock, frame by frame, to name the call behind a difference."""
    runtime: str | None = None
    gpu: bool = False
