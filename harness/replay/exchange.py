"""What host and judge say to each other in one replay, as JSON lines: the game is served, the judge gets its job and answers with what it found."""

import json
import time
from collections.abc import Callable
from typing import Any

from contracts.errors import InfraFailure
from harness.replay.freshness import listening, source_digest
from harness.replay.job import ReplayJob
from harness.replay.lines import ChannelEnded, LineChannel
from harness.replay.rooms import Rooms

Say = Callable[[str], None]

START_S = 60
"""Longest time for a container's program to say it is up."""

JUDGE_MARGIN_S = 120
"""Beyond its own caps the judge may need this long to end by itself; then it is our failure."""

WALL_PER_GAME_S = 10
"""Wall seconds that one second of a virtual clock may take; a host that is slower cannot judge."""


def judge(rooms: Rooms, job: ReplayJob, say: Say) -> dict[str, Any]:
    """Serve game and script, hand the judge its job, and wait for what it found."""
    began = time.monotonic()
    served = _serve(rooms, job)
    before = source_digest(rooms.game_line)
    preload = (
        _imports(rooms.game_line, served["url"])
        if job.replays.clock == "virtual" and job.tape is None
        else []
    )
    rooms.phases["serve"] = _ms(began)
    rooms.browser_line.send(_job_line(job, served, preload))
    result: dict[str, Any]
    try:
        result = _result(rooms.browser_line, _limit_s(job), job.index, say)
    except ChannelEnded as ended:
        if not rooms.browser.state().oom:
            raise
        why = f"the browser met its memory cap of {job.limits.browser.memory_mib} MiB"
        result = {"outcome": "page_crashed", "detail": why, "ended": str(ended)}
    if "failure" in result:
        raise InfraFailure(f"{result['failure']}{rooms.browser_line.last_words()}")
    phases = {**result.get("phases", {}), "serve": rooms.phases["serve"]}
    after = source_digest(rooms.game_line)
    return result | {
        "phases": phases,
        "nonce": served["nonce"],
        "before": before,
        "after": after,
        "listening": listening(rooms.game),
    }


def _serve(rooms: Rooms, job: ReplayJob) -> dict[str, Any]:
    """The server's port and nonce, and the URL of the script, if there is one."""
    job.project.fill(rooms.game)
    rooms.game_line.send_raw(job.project.go)
    if job.tape is not None:
        return {"url": None} | _served(rooms.game_line, {"port", "nonce"})
    text = job.script.decode(errors="replace")
    rooms.game_line.send({"op": "put_script", "name": job.script_name, "text": text})
    return _served(rooms.game_line, {"port", "nonce", "url"})


def _imports(line: LineChannel, url: str) -> list[str]:
    """The game's modules that the script imports; a script that does not compile has none, and says why itself when it is played."""
    line.send({"op": "imports", "url": url})
    return [str(one) for one in line.receive(START_S).get("urls", [])]


def _job_line(job: ReplayJob, served: dict[str, Any], preload: list[str]) -> dict[str, Any]:
    return {
        "origin": f"http://127.0.0.1:{served['port']}",
        "entry": job.project.entry,
        "nonce": served["nonce"],
        "script": served["url"],
        "preload": preload,
        "tape": job.tape,
        "clock": job.replays.clock,
        "seed": job.seed or 0,
        "evaluator": job.evaluator,
        "viewport": list(job.replays.viewport),
        "ready_s": job.caps.ready_s,
        "cap_s": job.caps.replay_s,
        "grace_s": job.replays.grace_s,
        "ask_s": job.replays.ask_s,
        "video": job.video,
        "journal": job.journal,
        "gpu": job.gpu,
    }


def _limit_s(job: ReplayJob) -> float:
    play = job.caps.replay_s + job.replays.grace_s
    return (
        job.caps.ready_s + JUDGE_MARGIN_S + play * (WALL_PER_GAME_S if job.replays.clock == "virtual" else 1)
    )


def _ms(since: float) -> float:
    return round((time.monotonic() - since) * 1000, 1)


def _result(line: LineChannel, limit_s: float, index: int, say: Say) -> dict[str, Any]:
    """The judge's last line; what it says on the way is passed on as progress."""
    deadline = time.monotonic() + limit_s
    while True:
        message = line.receive(deadline - time.monotonic())
        if "progress" not in message:
            return message
        progress = message["progress"]
        say(f"replay {index}: {progress['seconds']} s, {json.dumps(progress['evidence'])[:160]}")


def _served(line: LineChannel, wanted: set[str]) -> dict[str, Any]:
    """What the server says: its port and nonce, then the script's URL; raises InfraFailure with its error."""
    served: dict[str, Any] = {}
    while not wanted <= served.keys():
        message = line.receive(START_S)
        if "error" in message:
            raise InfraFailure(f"The game could not be served: {message['error']}")
        served |= message
    return served
