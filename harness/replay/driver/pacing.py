"""How evenly the page's frames came on the real clock, counted where page code cannot reach: by an animation-frame loop in an isolated world,
which reports over a binding that only that world has. Hard part: the page may crash or leave at any moment, so what was counted is
reported as it goes, and a new document begins anew without an interval across the gap."""

import json
import secrets
from typing import Any, Self

from playwright.async_api import Error as PlaywrightError

from .cdp import Cdp

WORLD = "playproof-pacing"
SLOW_MS = 50.0
REPORT_EVERY = 30  # frames; a crash loses half a second of the count

COUNTER = """(() => {
  'use strict';
  if (window.top !== window) return;
  const report = globalThis[NAME], frame = window.requestAnimationFrame.bind(window);
  let last = -1, gaps = [];
  const flush = () => { if (gaps.length) { report(JSON.stringify(gaps)); gaps = []; } };
  const count = (now) => {
    gaps.push(last < 0 ? 0 : now - last);
    last = now;
    if (gaps.length >= EVERY || gaps[gaps.length - 1] > SLOW) flush();
    frame(count);
  };
  globalThis.playproofFlush = flush;
  window.addEventListener('pagehide', flush, true);
  frame(count);
})()"""


class Pacing:
    def __init__(self, cdp: Cdp, name: str) -> None:
        self._cdp = cdp
        self._name = name
        self._script: str | None = None
        self._contexts: set[int] = set()
        self.frames = 0
        self.gaps_ms: list[float] = []

    @classmethod
    async def start(cls, cdp: Cdp) -> Self:
        """Counts from now on, in this document and those after it."""
        pacing = cls(cdp, f"p{secrets.token_hex(8)}")
        cdp.on("Runtime.bindingCalled", pacing._take)
        cdp.on("Runtime.executionContextCreated", pacing._meet)
        cdp.on("Runtime.executionContextDestroyed", lambda event: pacing._forget(event))
        for domain in ("Page", "Runtime"):
            await cdp.send(f"{domain}.enable")
        binding = {"name": pacing._name, "executionContextName": WORLD}
        await cdp.send("Runtime.addBinding", binding)
        source = COUNTER.replace("NAME", json.dumps(pacing._name)).replace("EVERY", str(REPORT_EVERY))
        script = {
            "source": source.replace("SLOW", str(SLOW_MS)),
            "worldName": WORLD,
            "runImmediately": True,
        }
        answer = await cdp.send("Page.addScriptToEvaluateOnNewDocument", script)
        pacing._script = str(answer["identifier"])
        return pacing

    def _take(self, event: dict[str, Any]) -> None:
        if event["name"] != self._name:
            return
        gaps = [float(gap) for gap in json.loads(event["payload"])]
        self.frames += len(gaps)
        self.gaps_ms += [gap for gap in gaps if gap > 0]

    def _meet(self, event: dict[str, Any]) -> None:
        if event["context"]["name"] == WORLD:
            self._contexts.add(int(event["context"]["id"]))

    def _forget(self, event: dict[str, Any]) -> None:
        self._contexts.discard(int(event["executionContextId"]))

    async def flush(self) -> None:
        """Takes in what is counted and not yet reported; the caller bounds the time, for the page may hang."""
        for context in list(self._contexts):
            try:
                question = {"expression": "globalThis.playproofFlush?.()", "contextId": context}
                await self._cdp.send("Runtime.evaluate", question)
            except PlaywrightError:
                self._contexts.discard(context)

    def summary(self) -> dict[str, Any]:
        return {"frames": self.frames, **describe(self.gaps_ms)}


def describe(gaps_ms: list[float]) -> dict[str, Any]:
    """The pace of frames by the gaps between them: mean and slowest twentieth in frames a second, the rest in ms and counts."""
    if not gaps_ms:
        return {"mean_fps": None, "p5_fps": None, "longest_gap_ms": None, "over_50_ms": 0}
    ordered = sorted(gaps_ms)
    slow = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return {
        "mean_fps": round(1000 * len(ordered) / sum(ordered), 2),
        "p5_fps": round(1000 / slow, 2),
        "longest_gap_ms": round(ordered[-1], 2),
        "over_50_ms": sum(gap > SLOW_MS for gap in ordered),
    }
