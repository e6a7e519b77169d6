"""Pinning a draft contract: writing the digests of what it stands on into its YAML file.

Only the values change: comments and order stay as the author wrote them.
"""

from pathlib import Path
from typing import cast

import yaml

from contracts.canonical import sha256_file
from contracts.contract import Contract
from contracts.document import compose, load, read_text
from contracts.errors import WrongInput
from contracts.prompt import prompt_sha256, render
from harness.archive.files import write_bytes
from images import ImageStore
from images.games import load_game

Path_ = tuple[str, ...]


def pin(path: Path, images: ImageStore) -> Contract:
    """Fill in every digest of the contract in `path`; returns it as it now stands.

    The digests must be there already as values (64 zeros in a draft). Raises WrongInput for a file that is
    missing or no contract.
    """
    draft = load(path, Contract)
    if not draft.evaluator.path.is_file():
        raise WrongInput(f"{path}: the evaluator {draft.evaluator.file} does not exist; write it first.")
    agent, replay = images.resolve("agent", None), images.resolve("replay", None)
    digests: dict[Path_, str] = {
        ("prompt", "sha256"): prompt_sha256(render(draft)),
        ("evaluator", "sha256"): sha256_file(draft.evaluator.path),
        ("game", "recipe_sha256"): load_game(draft.game.name).sha256,
        ("images", "agent", "recipe_sha256"): agent.recipe_sha256,
        ("images", "agent", "lock_sha256"): agent.lock_sha256,
        ("images", "replay", "recipe_sha256"): replay.recipe_sha256,
        ("images", "replay", "lock_sha256"): replay.lock_sha256,
    }
    text = read_text(path)
    tree, _ = compose(text, str(path))
    spans = sorted((_span(tree, keys, path), digest) for keys, digest in digests.items())
    for (start, end), digest in reversed(spans):
        text = text[:start] + f'"{digest}"' + text[end:]
    write_bytes(path, text.encode())
    return load(path, Contract)


def _span(tree: yaml.Node | None, keys: Path_, path: Path) -> tuple[int, int]:
    node = tree
    for key in keys:
        children = (
            cast(list[tuple[yaml.Node, yaml.Node]], node.value) if isinstance(node, yaml.MappingNode) else []
        )
        node = next((child for name, child in children if name.value == key), None)
    if node is None:
        raise WrongInput(f"{path} has no {'.'.join(keys)}; write 64 zeros there and pin again.")
    return node.start_mark.index, node.end_mark.index
