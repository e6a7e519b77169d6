"""Removes what harnesses that are gone have left in the engine, and nothing else.

Two harnesses may start at once and reap the same things, and a volume may still be in use by a container that
is kept for --resume; both are answers of the engine that are taken as "not now".
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from harness.engine.api import Api, segment
from harness.engine.container import remove_container
from harness.engine.faults import EngineRefused
from harness.engine.owner import LABEL_RUN, Owner, is_left_over, started_at


@dataclass(frozen=True)
class Labelled:
    """Something of ours in the engine: a container by id or a volume by name, and its labels."""

    key: str
    labels: Mapping[str, str]


def containers(api: Api, label: str = LABEL_RUN) -> list[Labelled]:
    """All containers with this label, in whatever state."""
    found = api.json(
        "GET",
        "/containers/json",
        "list containers",
        params={"all": "1", "filters": json.dumps({"label": [label]})},
    )
    return [Labelled(str(one["Id"]), _labels(one)) for one in cast(list[dict[str, Any]], found)]


def volumes(api: Api, label: str = LABEL_RUN) -> list[Labelled]:
    """All volumes with this label."""
    found = api.json("GET", "/volumes", "list volumes", params={"filters": json.dumps({"label": [label]})})
    listed = cast(list[dict[str, Any]], found.get("Volumes") or [])
    return [Labelled(str(one["Name"]), _labels(one)) for one in listed]


def reap(api: Api, here: Owner) -> list[str]:
    """Removes what dead owners left; the ids and names of what was removed."""
    now = time.time()
    removed: list[str] = []
    for one in _left_over(containers(api), here, now):
        remove_container(api, one.key)
        removed.append(one.key)
    removed += [one.key for one in _left_over(volumes(api), here, now) if remove_volume(api, one.key)]
    return removed


def remove_run(api: Api, run_id: str) -> None:
    """Removes everything of one run, whoever owns it."""
    label = f"{LABEL_RUN}={run_id}"
    for one in containers(api, label):
        remove_container(api, one.key)
    for one in volumes(api, label):
        remove_volume(api, one.key)


def remove_volume(api: Api, name: str) -> bool:
    """Whether it was removed: one that is gone or still in use is not."""
    try:
        api.call("DELETE", f"/volumes/{segment(name)}", "remove a volume")
    except EngineRefused as error:
        if error.status in (404, 409):
            return False
        raise
    return True


def _left_over(found: list[Labelled], here: Owner, now: float) -> Iterator[Labelled]:
    return (one for one in found if is_left_over(one.labels, here, now, started_at))


def _labels(one: Mapping[str, Any]) -> dict[str, str]:
    return dict(cast(Mapping[str, str], one.get("Labels") or {}))
