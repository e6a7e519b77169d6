"""Puts the page's half of the clock together: the files of `shim/` share one closure that no page code can reach, and the page client's
door (`init.js`) stands in it, or alone under the real clock."""

import json
from pathlib import Path
from typing import Any

from .clock import PAGE_START_MS

HERE = Path(__file__).parent
PARTS = (
    "kit",
    "journal",
    "realm",
    "random",
    "time",
    "queue",
    "tasks",
    "timers",
    "holds",
    "motion",
    "audio",
    "audio_page",
    "mix",
    "media",
    "media_page",
    "media_sound",
    "script",
    "listeners",
    "host",
)
EACH = ("realm", "random", "time", "timers", "holds", "listeners", "motion")
"""Parts that run in each realm of a page, for a frame of the page's own site joins the page's clock. The others are made once."""

JOIN = """const kit = (() => {
  try {
    if (top !== globalThis) return top[Symbol.for("vitexec.connect")](config.token);
  } catch {
    // a frame of another site
  }
})() ?? { __proto__: null };
kit.first = kit.realms === undefined;
"""
"""The page's kit, or a new one; `first` tells which."""

EPOCH_MS = 1767225600000
"""The date at which virtual time begins: 2026-01-01T00:00:00Z."""


def door(binding: str, token: str, kit: str = "null") -> str:
    """The page client's door as an expression."""
    source = (HERE / "init.js").read_text().replace("BINDING", binding).replace("TOKEN", token)
    return f"({_expression(source)})({kit});"


def virtual_shim(seed: int, token: str, door_source: str, journal: bool = False) -> str:
    """The whole init script of a virtual page; `token` marks the console message that carries the driver object. With a `journal`, the
    page's calls are noted frame by frame."""
    config: dict[str, Any] = {"seed": seed, "epoch": EPOCH_MS, "base": PAGE_START_MS, "token": token}
    config["journal"] = journal
    parts = "".join(
        f"{'' if name in EACH else 'if (kit.first) '}({_expression((HERE / 'shim' / f'{name}.js').read_text())})(kit, config);\n"
        for name in PARTS
    )
    return (
        f"(() => {{\n'use strict';\nconst config = {json.dumps(config)};\n{JOIN}{parts}{door_source}\n}})();"
    )


def _expression(source: str) -> str:
    """A file that is one arrow function under a comment; the comment would end the line in an expression."""
    lines = source.splitlines()
    while lines and lines[0].startswith("//"):
        lines.pop(0)
    return "\n".join(lines)
