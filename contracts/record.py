"""The record of a run (run.json) and the documents below it: what others read, so fixed early.

A number that nobody reported is null, never 0. `result_sha256` names what a replay found and nothing of the
host it was found on, so that the same result elsewhere has the same name.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from contracts.canonical import sha256_json
from contracts.contract import Clock

SCHEMA_VERSION = 1

Exit = Literal["submitted", "cut_off", "error", "infra_error"]
"""How a session ended."""

Outcome = Literal[
    "cleared",
    "not_cleared",
    "script_error",
    "page_hung",
    "page_crashed",
    "navigated_away",
    "cap_reached",
    "no_artifact",
    "infra_error",
]
"""What a machine found in a replay."""

TapeProof = Literal["proved", "refuted", "inconclusive"]
Lock = Literal["pinned", "drifted"]


class Part(BaseModel):
    """The base of record documents: read leniently (newer fields are kept), written as they stand."""

    model_config = ConfigDict(extra="allow")


class LockUsed(Part):
    """What went into an image: the digest of its package list, and whether that is the repository's."""

    sha256: str
    state: Lock


class Phases(Part):
    """Wall time of each phase of a replay in ms; null where it was not reached."""

    create: float | None = None
    serve: float | None = None
    boot: float | None = None
    ready: float | None = None
    play: float | None = None
    evaluate: float | None = None
    teardown: float | None = None


class Finding(Part):
    """One thing that was seen in a replay and has no place in an honest one."""

    frame: int = 0
    kind: str
    detail: str


class Pacing(Part):
    """How evenly frames came under the real clock: ms between them, frames a second at the slow end."""

    frames: int
    mean_fps: float | None
    p5_fps: float | None
    longest_gap_ms: float | None
    over_50_ms: int


class Difference(Part):
    """The first frame in which two replays differ, and in what."""

    frame: int | None
    what: str
    script: Any = None
    tape: Any = None


class Proof(Part):
    """What two replays of the tape alone say about the script's replay."""

    word: TapeProof
    detail: str
    difference: Difference | None = None
    results: list[str] = Field(default_factory=list[str])
    """`result_sha256` of the script's replay and of both of the tape's, as far as each was made."""


class Freshness(Part):
    """What shows that a replay began from nothing and that nothing was changed under it."""

    boot_nonce: str
    """Drawn by the game's server at its start; every response of the replay carried it."""
    images: dict[str, str] = Field(default_factory=dict[str, str])
    source_before: str
    """Digest of the game's files as served: a list of (path, mode, size, SHA-256)."""
    source_after: str
    artifact_sha256: str | None
    evaluator_sha256: str | None
    optimiser_cache: str
    """Digest of the dependency cache's files at the start; equal in every replay of an image."""
    browser_storage: dict[str, int] = Field(default_factory=dict[str, int])
    """Cookies, and bytes of storage, before the page was loaded."""
    listening: list[str] = Field(default_factory=list[str])
    """Sockets that listened in the replay's network at its end."""


class ReplayRecord(Part):
    """One replay: an artifact played once in fresh containers."""

    index: int
    container_id: str | None = None
    """The browser's container; the game's stands beside it."""
    game_container_id: str | None = None
    nonce: str | None = None
    outcome: Outcome
    detail: str | None = None
    """One sentence where the outcome needs a reason: the script's error, what our side lacked."""
    cleared: bool = False
    level_time_ms: float | None = None
    evidence: Any = None
    wall_ms: float = 0
    phases: Phases = Phases()
    clock: Clock = "real"
    seed: int | None = None
    script_ended: bool = False
    state_digests: list[str] = Field(default_factory=list[str])
    tape_sha256: str | None = None
    tape_proof: TapeProof | None = None
    proof: Proof | None = None
    frames: int = 0
    """Frames of the virtual clock from the script's start to the end."""
    findings: list[Finding] = Field(default_factory=list[Finding])
    late: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    """What the virtual clock did not wait for: a reason for results that differ."""
    pacing: Pacing | None = None
    fresh: Freshness | None = None
    input_events: int = 0
    renderer: str | None = None
    """The GL renderer of the browser."""
    bypasses: int = 0
    """Input calls that went round the page client: a finding for the audit."""
    result_sha256: str = ""

    def named(self) -> "ReplayRecord":
        """This record with `result_sha256` filled in."""
        result = {
            "outcome": self.outcome,
            "level_time_ms": self.level_time_ms,
            "evidence": self.evidence,
            "state_digests": self.state_digests,
        }
        return self.model_copy(update={"result_sha256": sha256_json(result)})


class Evaluation(Part):
    """The replays made with one set of images and one evaluator, and what came out."""

    schema_version: int = SCHEMA_VERSION
    number: int
    started: str
    artifact_sha256: str | None
    evaluator_sha256: str
    contract_digest: str
    images: dict[str, str]
    """Image name (`agent`, `game`, `browser`) → digest."""
    locks: dict[str, LockUsed]
    replays: list[ReplayRecord]
    ranked_time_ms: float | None = None
    unstable: str | None = None
    """Why the replays of a real clock do not say the same, if they do not: the host's pacing."""
    wall_s: float = 0


class Wall(Part):
    """Wall-clock seconds of the agent, its replays, and everything from start to end."""

    agent_s: float = 0
    replays_s: float = 0
    total_s: float = 0


class Tokens(Part):
    """Tokens as the provider reported them; null is unknown."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None


class StackUsed(Part):
    """Who did the job: agent, model and settings, and the rig it ran on."""

    agent: str
    model: str
    base_url: str | None = None
    effort: str | None = None
    served_models: list[str] = Field(default_factory=list[str])
    rig: dict[str, Any] = Field(default_factory=dict[str, Any])


class RunRecord(Part):
    """run.json: one stack doing one contract once. Replays made without a session leave out what only a session has."""

    schema_version: int = SCHEMA_VERSION
    run_id: str
    kind: Literal["play"] = "play"
    contract: str | None = None
    contract_digest: str | None = None
    created: str
    finished: str | None = None
    stage: Literal["session", "collect", "evaluate", "done"] = "session"
    """The stage that comes next; `done` when nothing is left to do."""
    stack: StackUsed
    exit: Exit | None = None
    exit_reason: str | None = None
    prompt_sha256: str | None = None
    artifact_sha256: str | None = None
    evaluator_sha256: str | None = None
    images: dict[str, str]
    """Image name (`agent`, `game`, `browser`) → digest."""
    locks: dict[str, LockUsed] = Field(default_factory=dict[str, LockUsed])
    game: dict[str, str] = Field(default_factory=dict[str, str])
    ranked_time_ms: float | None = None
    score: float | None = None
    replays: list[ReplayRecord] = Field(default_factory=list[ReplayRecord])
    evaluations: int = 0
    wall: Wall = Wall()
    api_calls: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    tokens: Tokens = Tokens()
    cell: str | None = None
    """The plan's cell this run fills, if it came from a plan."""
