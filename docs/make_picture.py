"""Draw README's picture from real records: `./playproof demo --json > demo.json`, then `python docs/make_picture.py demo.json`."""

import io
import json
import re
import sys
from pathlib import Path

from rich.console import Console

from contracts.record import RunRecord
from harness.cli.display import replay_table, run_table

WIDTH = 132
FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""The picture uses the reader's own monospace font: it must not fetch one."""


def main(source: Path) -> None:
    """Write demo.svg beside this file."""
    records = [RunRecord.model_validate(value) for value in json.loads(source.read_text())]
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print("$ ./playproof demo", style="bold")
    console.print(run_table(records))
    for record in records:
        console.print(f"\n{record.contract}")
        console.print(replay_table(record.replays))
    svg = FONT_FACE.sub("", console.export_svg(title="playproof demo"))
    Path(__file__).with_name("demo.svg").write_text(svg)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
