"""A plan: contracts × stacks × repeats, and the cells it falls into.

A cell's name is a digest of its contract, stack and repeat, so that a plan that is continued, or edited and
continued, knows which cells were already filled.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from contracts.canonical import sha256_json
from contracts.contract import Contract, find_contract
from contracts.document import Document, load
from contracts.errors import WrongInput


class Stack(Document):
    """Who does the job."""

    model: str = Field(min_length=1)
    base_url: str | None = None
    agent: Literal["bash"] = "bash"
    effort: str | None = None

    @field_validator("base_url")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError("a base URL starts with http:// or https://")
        return value


class Plan(Document):
    """A YAML file that names what to run."""

    schema_version: Literal[1] = 1
    contracts: list[str] = Field(min_length=1)
    stacks: list[Stack] = Field(min_length=1)
    repeats: int = Field(default=1, ge=1, le=100)


@dataclass(frozen=True)
class Cell:
    """One run that a plan asks for."""

    contract: Contract
    stack: Stack
    repeat: int

    @property
    def name(self) -> str:
        """The first 16 hex digits of the digest of contract, stack and repeat."""
        parts = [self.contract.digest, self.stack.model_dump(mode="json"), self.repeat]
        return sha256_json(parts)[:16]


def load_plan(path: Path) -> list[Cell]:
    """The cells of a plan file in order: all contracts of the first repeat, then the next."""
    plan = load(path, Plan)
    contracts = [find_contract(label) for label in plan.contracts]
    stacks = [_beside(stack, path) for stack in plan.stacks]
    cells = [
        Cell(contract, stack, repeat)
        for repeat in range(1, plan.repeats + 1)
        for contract in contracts
        for stack in stacks
    ]
    if len({cell.name for cell in cells}) != len(cells):
        raise WrongInput(
            f"{path}: a contract or a stack is listed twice; use `repeats` to run it more than once."
        )
    return cells


def _beside(stack: Stack, path: Path) -> Stack:
    """A scripted model's file is looked for beside the plan that names it."""
    prefix, _, name = stack.model.partition(":")
    if prefix != "scripted":
        return stack
    file = (path.parent / name).resolve()
    if not file.is_file():
        raise WrongInput(f"{path}: the scripted model {name} does not exist beside the plan; check its path.")
    return stack.model_copy(update={"model": f"scripted:{file}"})
