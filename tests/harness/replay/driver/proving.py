"""Runs in a container, as a program: plays one script of a project under the virtual clock with the judge, then its tape alone, twice, and
says what each of the three replays left. JSON lines in, JSON lines out."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from driver import judge as judging  # pyright: ignore[reportMissingImports]
from driver.server import ProjectServer  # pyright: ignore[reportMissingImports]

ROOT = Path("/workspace/tampering")


async def replay(server: Any, order: dict[str, Any], tape: list[Any] | None, out: Path) -> dict[str, Any]:
    out.mkdir(parents=True)
    url = None
    preload: list[str] = []
    if tape is None:
        name = f"s{order['number']}.ts"
        url = (await server.order("put_script", name=name, text=order["script"]))["url"]
        preload = (await server.order("imports", url=url))["urls"]
    os.environ["LP_NATIVE_VECTOR_WIDTH"] = str(order.get("vector_width", 256))
    job = {
        "origin": server.url(""),
        "entry": "/index.html",
        "nonce": server.nonce,
        "script": url,
        "preload": preload,
        "tape": tape,
        "clock": "virtual",
        "seed": order["seed"],
        "evaluator": order["evaluator"],
        "viewport": [640, 360],
        "ready_s": 60,
        "cap_s": order.get("cap_s", 20),
        "grace_s": 0.2,
        "ask_s": 1,
        "video": "off",
        "journal": order.get("journal", False),
        "gpu": False,
    }
    judging.OUT = out  # read at once, before the judge first waits: replays may be played side by side
    result = await judging.judge(job)
    rows = {name: read_rows(out / f"{name}.ndjson") for name in ("states", "tape", "witness")}
    return {"result": result, **rows}


def read_rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


async def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # the judge tells its progress on stdout
    server = await ProjectServer.start(ROOT, clock="virtual")
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        order = json.loads(line)
        try:
            folder = Path(f"/tmp/proving/{order['number']}")
            found = [await replay(server, order, None, folder / "script")]
            tape = found[0]["tape"]
            tapes = [replay(server, order, tape, folder / f"tape-{k}") for k in range(order.get("tapes", 2))]
            found += await asyncio.gather(*tapes)
            answer: dict[str, Any] = {"replays": found}
        except Exception as error:
            answer = {"failure": repr(error)}
        print(json.dumps(answer), file=answers, flush=True)


asyncio.run(main())
