"""The contract: the pinned definition of one evaluation, and the shelf of contracts that ship with Playproof.

A contract is immutable once used. Everything it stands on is named by SHA-256 (rendered prompt, evaluator,
game source, image recipes and locks), and `check_pins` compares those names with what is on this disk, so
that a run stops before its start when anything was changed under a contract's name.
"""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from contracts.canonical import sha256_file, sha256_json
from contracts.document import Document, load
from contracts.errors import WrongInput

ROOT = Path(__file__).resolve().parent.parent
"""The repository (or installation) that pinned files are relative to."""

SHELF = Path(__file__).resolve().parent / "play"
"""Where the contracts of kind `play` lie, one file `<name>-<version>.yaml` each."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
Clock = Literal["real", "virtual"]


MEMORY_BESIDE_WORKSPACE_MIB = 2048
"""/tmp (1024), home (256) and shared memory (256) of an agent's container, and 512 for its processes."""


class FilePin(Document):
    """A file of this repository, by path and content."""

    file: str
    sha256: Sha256

    @field_validator("file")
    @classmethod
    def _stays_inside(cls, value: str) -> str:
        if value.startswith("/") or ".." in Path(value).parts:
            raise ValueError("the path must be relative and stay inside the repository")
        return value

    @property
    def path(self) -> Path:
        return ROOT / self.file


class PromptPin(Document):
    """The prompt's template and the SHA-256 of what it renders to for this contract."""

    template: str
    sha256: Sha256


class GamePin(Document):
    """The game that is played: images/games/<name>, by the digest of its recipe folder, which names
    every third-party file by its integrity hash."""

    name: Name
    version: str
    recipe_sha256: Sha256


class ImagePin(Document):
    """An image by the recipe it is made by and the lock of what went in."""

    recipe_sha256: Sha256
    lock_sha256: Sha256


class Images(Document):
    """The two pinned images of a play contract."""

    agent: ImagePin
    replay: ImagePin


class Caps(Document):
    """The limits a session and its replays end at."""

    session_s: float = Field(default=3600, gt=0)
    steps: int | None = Field(default=None, gt=0)
    command_s: float = Field(default=600, gt=0)
    replay_s: float = Field(default=600, gt=0)
    ready_s: float = Field(default=60, gt=0)
    """How long a game may take to be ready before the replay is our failure, in seconds."""
    artifact_bytes: int = Field(default=1 << 20, gt=0)


class Limits(Document):
    """What a container may use: MiB, processes, cores."""

    memory_mib: int = Field(gt=63)
    pids: int = Field(gt=7)
    cpus: float = Field(gt=0)
    workspace_mib: int = Field(default=512, gt=0)
    file_mib: int = Field(default=512, gt=0)


class ContainerLimits(Document):
    """One set of limits for each kind of container."""

    agent: Limits = Limits(memory_mib=4096, pids=512, cpus=2)
    game: Limits = Limits(memory_mib=1024, pids=128, cpus=1)
    browser: Limits = Limits(memory_mib=3072, pids=512, cpus=2)

    @model_validator(mode="after")
    def _supervisor_survives(self) -> "ContainerLimits":
        """Workspace and other memory folders count as memory: full ones must leave room for the container's PID 1."""
        least = self.agent.workspace_mib + MEMORY_BESIDE_WORKSPACE_MIB
        if self.agent.memory_mib < least:
            raise ValueError(f"the agent needs memory_mib of at least {least} with this workspace_mib")
        return self


class Replays(Document):
    """How the artifact is replayed and judged."""

    count: int = Field(default=3, ge=1, le=32)
    clock: Clock = "real"
    seeds: tuple[int, ...]
    grace_s: float = Field(default=3, ge=0)
    ask_s: float = Field(default=1, gt=0)
    viewport: tuple[int, int] = (1280, 720)
    nondeterminism: tuple[str, ...] = ()
    """What the game does that the virtual clock does not drive, as `replay --check-determinism` found it: one sentence each. An
    inconclusive proof repeats it."""

    @model_validator(mode="after")
    def _one_seed_each(self) -> "Replays":
        if len(self.seeds) != self.count:
            raise ValueError(f"{self.count} replays need {self.count} seeds, not {len(self.seeds)}")
        return self


class Contract(Document):
    """One pinned evaluation of kind `play`."""

    schema_version: Literal[1]
    name: Name
    version: int = Field(gt=0)
    kind: Literal["play"]
    title: str
    goal: str
    """One sentence for the prompt: what counts as clearing the game."""
    game: GamePin
    prompt: PromptPin
    evaluator: FilePin
    images: Images
    artifact: str = "vitexec/best.ts"
    caps: Caps = Caps()
    limits: ContainerLimits = ContainerLimits()
    runtime: Literal["runsc"] | None = None
    """`runsc` (gVisor) for every container of a run; slower, and a smaller kernel surface."""
    gpu: bool = False
    """Whether the browser of a replay gets the host's GPU."""
    replays: Replays

    @property
    def label(self) -> str:
        """The contract's full name, as in `arena@1`."""
        return f"{self.name}@{self.version}"

    @property
    def digest(self) -> str:
        """The SHA-256 of the contract's canonical JSON: defaults included, comments not."""
        return sha256_json(self.model_dump(mode="json"))

    def evaluator_source(self) -> str:
        """The evaluator's text; raises WrongInput when it is not the pinned one."""
        found = sha256_file(self.evaluator.path) if self.evaluator.path.is_file() else "nothing"
        if found != self.evaluator.sha256:
            raise WrongInput(
                f"{self.label}: evaluator {self.evaluator.file} has digest {found}, the contract pins "
                f"{self.evaluator.sha256}; restore the file or make a new contract version."
            )
        return self.evaluator.path.read_text()


_LABEL = re.compile(r"^(?P<name>[a-z0-9][a-z0-9-]*)(@(?P<version>[0-9]+))?$")


def all_contracts(shelf: Path = SHELF) -> list[Contract]:
    """Every contract on the shelf, by name and version."""
    found = [load(path, Contract) for path in sorted(shelf.glob("*.yaml"))]
    return sorted(found, key=lambda contract: (contract.name, contract.version))


def find_contract(label: str, shelf: Path = SHELF) -> Contract:
    """The contract named `name`, its newest version, or `name@version`, or in a YAML file by its path."""
    if label.endswith((".yaml", ".yml")):
        return load(Path(label), Contract)
    match = _LABEL.match(label)
    known = all_contracts(shelf)
    wanted = [
        contract
        for contract in known
        if match
        and contract.name == match["name"]
        and (match["version"] is None or contract.version == int(match["version"]))
    ]
    if not wanted:
        names = ", ".join(contract.label for contract in known)
        raise WrongInput(f"There is no contract {label!r}; choose one of {names}, or give a YAML file.")
    return wanted[-1]


def contract_of_game(game: str) -> Contract:
    """The newest contract whose game, or whose own name, is `game`."""
    matching = [contract for contract in all_contracts() if contract.game.name == game]
    return matching[-1] if matching else find_contract(game)
