"""The arrows of the house point one way: contracts ← evaluators, audit, images ← harness, and inside harness upwards."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("contracts", "evaluators", "audit", "images", "harness")

MAY_IMPORT: dict[str, set[str]] = {
    "contracts": set(),
    "evaluators": {"contracts"},
    "audit": {"contracts"},
    "images": {"contracts"},
    "harness": {"contracts", "evaluators", "audit", "images"},
}
LEVELS = [
    {"engine"},
    {"session", "replay"},
    {"scoring", "archive"},
    {"pipeline"},
    {"fleet", "site"},
    {"cli"},
]
IN_CONTAINER = {"harness/replay/driver", "harness/session/supervisor.py"}
"""Code that runs inside a container imports nothing of the host's."""


def modules() -> list[Path]:
    return [path.relative_to(ROOT) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.split(".")[0] in PACKAGES}


def level(part: str) -> int | None:
    return next((number for number, parts in enumerate(LEVELS) if part in parts), None)


def test_there_are_modules_to_check() -> None:
    assert len(modules()) > 40


@pytest.mark.parametrize("path", modules(), ids=str)
def test_imports_point_downwards(path: Path) -> None:
    package = path.parts[0]
    in_container = any(path.as_posix().startswith(part) for part in IN_CONTAINER)
    for name in imports(path):
        other = name.split(".")[0]
        assert not in_container, f"{path} runs in a container and imports {name}"
        assert other == package or other in MAY_IMPORT[package], f"{path} imports {name}"
        if package == other == "harness" and len(path.parts) > 2 and len(name.split(".")) > 1:
            mine, theirs = level(path.parts[1]), level(name.split(".")[1])
            if mine is not None and theirs is not None and path.parts[1] != name.split(".")[1]:
                assert theirs < mine, f"{path} imports {name}, which stands above or beside it"
