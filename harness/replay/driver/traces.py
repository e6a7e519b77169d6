"""What can be measured while a script runs: CPU profile, network requests (HAR), performance trace, heap snapshot. Each starts before
the page loads and is written when the script has ended, whatever became of it; each has a deadline, so that a page
that died costs the file and not the command."""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from playwright.async_api import Error as PlaywrightError

from .browser import within
from .cdp import Cdp
from .errors import DriverFailure
from .stage import Stage

WRITE_TIMEOUT_S = 120.0
TRACE_CATEGORIES = [
    "devtools.timeline",
    "blink.user_timing",
    "v8.execute",
    "disabled-by-default-devtools.timeline.frame",
]


class Traces:
    """The traces that were asked for, by kind and file."""

    def __init__(self, stage: Stage, files: Mapping[str, Path]) -> None:
        self._stage = stage
        self._files = dict(files)
        self._requests: dict[str, dict[str, Any]] = {}
        self._cdp: Cdp | None = None

    async def start(self) -> None:
        if not self._files:
            return
        cdp = self._cdp = await Cdp.of_page(self._stage.page)
        if "network_trace" in self._files:
            cdp.on("Network.requestWillBeSent", self._request)
            cdp.on("Network.responseReceived", self._response)
            cdp.on("Network.loadingFinished", self._finished)
            cdp.on("Network.loadingFailed", self._failed)
            await cdp.send("Network.enable")
        if "performance_trace" in self._files:
            await self._stage.browser.inner.start_tracing(page=self._stage.page, categories=TRACE_CATEGORIES)
        if "cpu_profile" in self._files:
            await cdp.send("Profiler.enable")
            await cdp.send("Profiler.setSamplingInterval", {"interval": 1000})
            await cdp.send("Profiler.start")

    async def write(self) -> None:
        """Writes all files; one sentence for those that could not be had."""
        missing: list[str] = []
        for kind, path in self._files.items():
            try:
                data = await within(
                    WRITE_TIMEOUT_S, self._collect(kind), f"collecting the {kind.replace('_', ' ')}"
                )
                await asyncio.to_thread(path.write_bytes, data)
            except (PlaywrightError, DriverFailure, OSError) as error:
                missing.append(f"{path} was not written: {str(error).splitlines()[0]}")
        if missing:
            raise DriverFailure("; ".join(missing))

    async def _collect(self, kind: str) -> bytes:
        cdp = self._cdp
        assert cdp is not None
        match kind:
            case "cpu_profile":
                return json.dumps((await cdp.send("Profiler.stop"))["profile"]).encode()
            case "performance_trace":
                return await self._stage.browser.inner.stop_tracing()
            case "heap_snapshot":
                return await _heap_snapshot(cdp)
            case _:
                return json.dumps(self._har(), indent=1).encode()

    def _request(self, event: dict[str, Any]) -> None:
        request = event["request"]
        began = datetime.fromtimestamp(event["wallTime"], UTC).isoformat()
        self._requests[event["requestId"]] = {
            "startedDateTime": began,
            "_start": event["timestamp"],
            "time": -1.0,
            "request": _message(
                request, {"method": request["method"], "url": request["url"], "queryString": []}
            ),
            "response": _message(
                {}, {"status": 0, "statusText": "", "content": {"size": 0, "mimeType": ""}, "redirectURL": ""}
            ),
            "cache": {},
            "timings": {"send": 0, "wait": -1, "receive": -1},
            "_resourceType": event.get("type", ""),
        }

    def _response(self, event: dict[str, Any]) -> None:
        entry, response = self._requests.get(event["requestId"]), event["response"]
        if entry is not None:
            content = {"size": 0, "mimeType": response["mimeType"]}
            fields = {
                "status": response["status"],
                "statusText": response["statusText"],
                "content": content,
                "redirectURL": "",
            }
            entry["response"] = _message(response, fields)
            entry["timings"]["wait"] = (event["timestamp"] - entry["_start"]) * 1000

    def _finished(self, event: dict[str, Any]) -> None:
        self._end(event, size=int(event.get("encodedDataLength", 0)))

    def _failed(self, event: dict[str, Any]) -> None:
        self._end(event, failure=event.get("blockedReason") or event.get("errorText"))

    def _end(self, event: dict[str, Any], size: int = 0, failure: str | None = None) -> None:
        entry = self._requests.get(event["requestId"])
        if entry is None:
            return
        entry["time"] = (event["timestamp"] - entry["_start"]) * 1000
        entry["timings"]["receive"] = max(0.0, entry["time"] - max(0.0, entry["timings"]["wait"]))
        entry["response"]["content"]["size"] = size
        if failure is not None:
            entry["response"]["_error"] = failure

    def _har(self) -> dict[str, Any]:
        entries = [
            {name: value for name, value in entry.items() if name != "_start"}
            for entry in self._requests.values()
        ]
        return {
            "log": {
                "version": "1.2",
                "creator": {"name": "vitexec", "version": "1"},
                "pages": [],
                "entries": entries,
            }
        }


def _message(source: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    headers = cast(dict[str, Any], source.get("headers") or {})
    listed = [{"name": name, "value": str(value)} for name, value in headers.items()]
    return {
        "httpVersion": "HTTP/1.1",
        "headers": listed,
        "cookies": [],
        "headersSize": -1,
        "bodySize": -1,
        **fields,
    }


async def _heap_snapshot(cdp: Cdp) -> bytes:
    chunks: list[str] = []

    def keep(event: dict[str, Any]) -> None:
        chunks.append(str(event["chunk"]))

    cdp.on("HeapProfiler.addHeapSnapshotChunk", keep)
    await cdp.send("HeapProfiler.enable")
    await cdp.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False})
    return "".join(chunks).encode()
