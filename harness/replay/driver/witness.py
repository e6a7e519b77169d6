"""The witness of one page: every input event that its documents receive, told by a script in a world of its own over a binding that
only that world has. Hard part: documents come and go, and document.open() erases all listeners of one that stays. What the
witness cannot look into (other windows, workers, frames of another process) becomes a finding instead."""

import asyncio
import contextlib
import json
import re
import secrets
from pathlib import Path
from typing import Any, cast

from playwright.async_api import Error as PlaywrightError

from .browser import within
from .cdp import Cdp, Event
from .clock import Clock
from .errors import DriverFailure
from .testimony import Finding, FindingKind, WitnessEvent

SCRIPT = Path(__file__).with_name("witness.js")
MOST_EVENTS = 250_000  # ten minutes of moves at 60 a second make 100,000
MOST_FINDINGS = 1000
MOST_REPAIRS = 1000  # of listeners that document.open() erased; each is a finding already
LONGEST_URL = 200
SETTLE_TIMEOUT_S = 5.0
OF_A_RUN = re.compile(r"[?&]vitexec=|/@vitexec/")
SHARED_WORKERS = [{"type": "shared_worker"}]
WORKERS = ("worker", "shared_worker", "service_worker")


class Witness:
    def __init__(self, cdp: Cdp, clock: Clock, browser: Cdp | None = None) -> None:
        """`browser` is a session of the browser, which alone tells of shared workers."""
        self._cdp = cdp
        self._browser = browser
        self._clock = clock
        self._binding = f"_{secrets.token_hex(16)}"
        self._world = f"_{secrets.token_hex(16)}"
        self._source = _source(self._binding)
        self._documents: dict[str, str] = {}  # frame id -> its name in the rows
        self._contexts: dict[int, str] = {}  # context of our world -> frame id
        self._repairs: set[asyncio.Task[None]] = set()
        self._repaired = 0
        self._began = False
        self.events: list[WitnessEvent] = []
        self.findings: list[Finding] = []
        self.before: list[Finding] = []  # what the page did before the script began: the game's own doing
        self.dropped = 0  # events beyond MOST_EVENTS

    async def install(self) -> None:
        """Must run before the page's first document; `Page` and `Runtime` must be enabled."""
        cdp = self._cdp
        cdp.on("Runtime.bindingCalled", self._told)
        cdp.on("Runtime.executionContextCreated", self._world_made)
        cdp.on("Page.frameAttached", self._frame_attached)
        cdp.on("Page.documentOpened", self._document_opened)
        cdp.on("Page.windowOpen", lambda event: self._find("popup", f"a window for {_url(event)} was opened"))
        cdp.on(
            "Page.downloadWillBegin", lambda event: self._find("download", f"{_url(event)} was downloaded")
        )
        cdp.on("Network.requestWillBeSent", self._requested)
        cdp.on("Target.attachedToTarget", self._target_attached)
        cdp.on("ServiceWorker.workerRegistrationUpdated", self._registered)
        tree = await cdp.send("Page.getFrameTree")
        self._documents[tree["frameTree"]["frame"]["id"]] = "top"
        await cdp.send("Runtime.addBinding", {"name": self._binding, "executionContextName": self._world})
        script = {"source": self._source, "worldName": self._world, "runImmediately": True}
        await cdp.send("Page.addScriptToEvaluateOnNewDocument", script)
        attach = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
        await cdp.send("Target.setAutoAttach", attach)
        await cdp.send("ServiceWorker.enable")
        if self._browser is not None:
            self._browser.on("Target.targetCreated", self._target_attached)
            await self._browser.send(
                "Target.setDiscoverTargets", {"discover": True, "filter": SHARED_WORKERS}
            )

    def begin(self) -> None:
        """The script begins: from now on a new frame is late, and findings are about it and not about the game's loading."""
        self._began = True
        self.before += self.findings
        self.findings = []

    async def settle(self) -> None:
        """Waits until all that happened in the page so far has arrived, if the page still answers."""
        ask = self._cdp.send("Runtime.evaluate", {"expression": "1", "returnByValue": True})
        with contextlib.suppress(DriverFailure, PlaywrightError):
            await within(SETTLE_TIMEOUT_S, ask, "waiting for the witness")

    # Events

    def _told(self, event: Event) -> None:
        if event.get("name") != self._binding:
            return
        row = cast(list[Any], json.loads(event["payload"]))
        if len(row) == 2:
            self._find("flood", f"{row[1]} more {row[0]} events of the page's own making were left out")
            return
        if len(self.events) >= MOST_EVENTS:
            if self.dropped == 0:
                self._find("flood", f"only the first {MOST_EVENTS} events are kept")
            self.dropped += 1
            return
        document = self._documents.get(self._contexts.get(event["executionContextId"], ""), "gone")
        self.events.append(_read_row(self._clock.now_ms(), self._clock.frame, document, row))

    def _find(self, kind: FindingKind, detail: str) -> None:
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(Finding(self._clock.frame, kind, detail))

    # Documents

    def _world_made(self, event: Event) -> None:
        context = event["context"]
        if context["name"] == self._world:
            self._contexts[context["id"]] = context["auxData"]["frameId"]

    def _frame_attached(self, event: Event) -> None:
        self._documents.setdefault(event["frameId"], f"frame {len(self._documents)}")
        if self._began:
            self._find("late_frame", f"{self._documents[event['frameId']]} came after the script began")

    def _document_opened(self, event: Event) -> None:
        frame = event["frame"]
        name = self._documents.get(frame["id"], "gone")
        self._find("document_opened", f"document.open() erased the listeners of {name} ({_url(frame)})")
        contexts = [context for context, frame_id in self._contexts.items() if frame_id == frame["id"]]
        if contexts and self._repaired < MOST_REPAIRS:
            self._repaired += 1
            task = asyncio.ensure_future(self._listen_again(max(contexts)))
            self._repairs.add(task)
            task.add_done_callback(self._repairs.discard)

    async def _listen_again(self, context: int) -> None:
        question = {"contextId": context, "expression": self._source, "returnByValue": True}
        with contextlib.suppress(PlaywrightError):  # the document may be gone
            await self._cdp.send("Runtime.evaluate", question)

    def _requested(self, event: Event) -> None:
        """Under the virtual clock what a script imports of the game is loaded before it; a later module is one that its tape lacks."""
        late = self._began and self._clock.frame > 0 and event.get("type") == "Script"
        if late and not OF_A_RUN.search(event["request"]["url"]):
            self._find("late_import", f"{_url(event['request'])} was loaded after the play began")

    # What it cannot look into

    def _target_attached(self, event: Event) -> None:
        target = event["targetInfo"]
        if target["type"] in WORKERS:
            self._find("worker", f"a {target['type'].replace('_', ' ')} runs {_url(target)}")
        elif target["type"] == "iframe":
            name = self._documents.get(target["targetId"], "a frame")
            self._find("separate_frame", f"{name} ({_url(target)}) runs in a process of its own")

    def _registered(self, event: Event) -> None:
        for registration in event["registrations"]:
            if not registration["isDeleted"]:
                scope = str(registration["scopeURL"])[:LONGEST_URL]
                self._find("worker", f"a service worker was registered for {scope}")


def _source(binding: str) -> str:
    listen = f"_{secrets.token_hex(16)}"
    return SCRIPT.read_text().replace("BINDING", binding).replace("LISTEN", listen)


def _url(event: Event) -> str:
    return str(event.get("url", ""))[:LONGEST_URL]


def _read_row(t_ms: float, frame: int, document: str, row: list[Any]) -> WitnessEvent:
    kind, trusted, target, key, code, repeat, button, buttons, x, y, screen_x, screen_y, dx, dy, locked = row
    return WitnessEvent(
        t_ms,
        frame,
        document,
        kind,
        bool(trusted),
        target,
        key,
        code,
        bool(repeat),
        button,
        buttons,
        x,
        y,
        screen_x,
        screen_y,
        dx,
        dy,
        bool(locked),
    )
