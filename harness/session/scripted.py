"""The embedded scripted model: a real server of the Chat Completions protocol that plays a YAML list of turns.

The demo and the tests go the very way a hosted model goes (SDK, HTTP, streaming), so this server knows nothing of the
harness. Turns are played in order of requests, not by history, so that a turn which answers with an error is
spent by it. Token counts are characters / 4 of the real texts, and say so.
"""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from pydantic import Field, RootModel, ValidationError, field_validator

from contracts.document import Document, compose, line_of, read_text
from contracts.errors import WrongInput

COUNTED_BY = "characters / 4"
STREAM_PIECE = 400  # characters in one streamed delta
LONGEST_DELAY_S = 3600.0
_FILE = re.compile(r"\{\{\s*file:\s*([^}]+?)\s*\}\}")


class Turn(Document):
    """What the model does when asked once; without `bash` (and `raw`) it submits."""

    say: str = ""
    bash: str | list[str] = Field(default_factory=list[str])
    timeout_s: float | None = Field(default=None, gt=0)
    delay_s: float = Field(default=0, ge=0, le=LONGEST_DELAY_S)
    raw: str | dict[str, Any] | list[Any] | None = None
    status: int = Field(default=200, ge=100, le=599)

    @field_validator("bash")
    @classmethod
    def _some_command(cls, value: str | list[str]) -> str | list[str]:
        if isinstance(value, list) and not all(command.strip() for command in value):
            raise ValueError("a command is empty")
        return value

    @property
    def commands(self) -> list[str]:
        return [self.bash] if isinstance(self.bash, str) else self.bash


class Turns(RootModel[list[Turn]]):
    """The whole file."""


def load_turns(path: Path) -> list[Turn]:
    """The turns of a YAML file, with `{{file:PATH}}` (relative to it) replaced by those files' texts."""
    tree, value = compose(read_text(path), str(path))
    if not isinstance(value, list) or not value:
        raise WrongInput(
            f"{path}:1: a scripted model is a list of turns and has at least one; mend the file."
        )
    try:
        turns = Turns.model_validate(value).root
    except ValidationError as error:
        first = error.errors()[0]
        place = tuple(step for step in first["loc"] if step not in ("str", "list[str]"))
        field = ".".join(str(step) for step in place)
        said = first["msg"].removeprefix("Value error, ")
        raise WrongInput(f"{path}:{line_of(tree, place)}: turn {field}: {said}; mend the file.") from error
    return [_with_files(turn, path, line_of(tree, (at, "bash"))) for at, turn in enumerate(turns)]


def _with_files(turn: Turn, path: Path, line: int) -> Turn:
    def text_of(match: re.Match[str]) -> str:
        named = path.parent / match[1]
        try:
            return named.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise WrongInput(
                f"{path}:{line}: the file {named} cannot be read ({error}); mend the path."
            ) from error

    commands = [_FILE.sub(text_of, command) for command in turn.commands]
    return turn.model_copy(update={"bash": commands})


@dataclass(frozen=True)
class Asked:
    """One request as the server received it."""

    path: str
    body: Mapping[str, Any]


class ScriptedServer:
    """Serves one list of turns on a free loopback port, once; `asked` keeps the requests."""

    def __init__(self, turns: list[Turn], model: str) -> None:
        self.turns = turns
        self.model = model
        self.asked: list[Asked] = []
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.script = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def close(self) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()

    def next_turn(self, asked: Asked) -> tuple[int, Turn]:
        with self._lock:
            self.asked.append(asked)
            at = len(self.asked) - 1
        past_end = Turn(say="The script of turns is at its end.")
        return at, self.turns[at] if at < len(self.turns) else past_end


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    script: ScriptedServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle of an answer is an everyday thing here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = cast(Mapping[str, Any], json.loads(self.rfile.read(length) or b"{}"))
        script = cast(_Server, self.server).script
        if not self.path.endswith("/chat/completions"):
            self._send(404, {"error": {"message": f"nothing is served at {self.path}", "code": 404}})
            return
        at, turn = script.next_turn(Asked(self.path, body))
        if turn.delay_s and script.stopping.wait(turn.delay_s):
            return
        if turn.raw is not None:
            self._send(turn.status, turn.raw)
        elif turn.status != 200:
            self._send(turn.status, {"error": {"message": turn.say or "as scripted", "code": turn.status}})
        elif body.get("stream"):
            self._stream(_chunks(at, turn, script.model, body))
        else:
            self._send(200, _whole(at, turn, script.model, body))

    def do_GET(self) -> None:
        self._send(
            200,
            {"object": "list", "data": [{"id": cast(_Server, self.server).script.model, "object": "model"}]},
        )

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: requests are kept in `asked`, not printed."""

    def _send(self, status: int, body: Any) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, chunks: Iterator[Mapping[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True


def _calls(at: int, turn: Turn) -> list[dict[str, Any]]:
    timeout = {} if turn.timeout_s is None else {"timeout_s": turn.timeout_s}
    return [
        {
            "id": f"call_{at + 1}_{number + 1}",
            "type": "function",
            "function": {"name": "bash", "arguments": json.dumps({"command": command, **timeout})},
        }
        for number, command in enumerate(turn.commands)
    ]


def _usage(turn: Turn, body: Mapping[str, Any]) -> dict[str, Any]:
    asked = len(json.dumps(body.get("messages"), ensure_ascii=False))
    said = len(turn.say) + sum(len(command) for command in turn.commands)
    tokens = {"prompt_tokens": -(-asked // 4), "completion_tokens": -(-said // 4)}
    return {**tokens, "total_tokens": sum(tokens.values()), "counted_by": COUNTED_BY}


def _whole(at: int, turn: Turn, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
    calls = _calls(at, turn)
    said: dict[str, Any] = {"role": "assistant", "content": turn.say}
    if calls:
        said["tool_calls"] = calls
    choice = {"index": 0, "message": said, "finish_reason": "tool_calls" if calls else "stop"}
    return {
        "id": f"scripted-{at + 1}", "object": "chat.completion", "created": 0, "model": model,
        "choices": [choice], "usage": _usage(turn, body),
    }  # fmt: skip


def _chunks(at: int, turn: Turn, model: str, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    head = {"id": f"scripted-{at + 1}", "object": "chat.completion.chunk", "created": 0, "model": model}

    def piece(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield piece({"role": "assistant", "content": ""})
    for text in _pieces(turn.say):
        yield piece({"content": text})
    calls = _calls(at, turn)
    for number, call in enumerate(calls):
        function = call["function"]
        yield piece({"tool_calls": [{**call, "index": number, "function": {**function, "arguments": ""}}]})
        for text in _pieces(function["arguments"]):
            yield piece({"tool_calls": [{"index": number, "function": {"arguments": text}}]})
    yield piece({}, "tool_calls" if calls else "stop")
    if cast(Mapping[str, Any], body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": _usage(turn, body)}


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), STREAM_PIECE):
        yield text[start : start + STREAM_PIECE]
