"""The prompt an agent gets: a template filled from the contract alone, byte-identical for every model.

Nothing of the stack, the machine or the time goes in, so the SHA-256 of the rendered text can be pinned in
the contract and recorded with each run.
"""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from contracts.canonical import sha256_bytes
from contracts.contract import Contract
from contracts.errors import WrongInput

TEMPLATES = Path(__file__).resolve().parent / "prompts"

_environment = Environment(
    loader=FileSystemLoader(TEMPLATES),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    autoescape=False,  # the prompt is plain text, never a page
    trim_blocks=True,
)


def render(contract: Contract) -> str:
    """The prompt of `contract` as text; the same bytes each time."""
    if not (TEMPLATES / contract.prompt.template).is_file():
        raise WrongInput(
            f"{contract.label}: prompt template {contract.prompt.template!r} is not in {TEMPLATES}."
        )
    return _environment.get_template(contract.prompt.template).render(contract=contract)


def prompt_sha256(text: str) -> str:
    """The prompt's name: the SHA-256 of its UTF-8 bytes."""
    return sha256_bytes(text.encode())


def pinned_prompt(contract: Contract) -> str:
    """The rendered prompt; raises WrongInput when its digest is not the contract's."""
    text = render(contract)
    found = prompt_sha256(text)
    if found != contract.prompt.sha256:
        raise WrongInput(
            f"{contract.label}: the prompt renders to digest {found}, the contract pins "
            f"{contract.prompt.sha256}; restore {contract.prompt.template} or make a new contract version."
        )
    return text
