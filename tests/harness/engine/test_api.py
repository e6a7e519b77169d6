"""An engine that is absent, too old, or no engine at all is one sentence; TCP works as the socket does."""

import os
import socket
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from contracts.errors import InfraFailure
from harness.engine import ContainerSpec, Engine, EngineUnreachable, Limits
from harness.engine.endpoint import Endpoint

LIMITS = Limits(memory_bytes=64 << 20, pids=32, cpus=1.0)


class Answers(BaseHTTPRequestHandler):
    """Answers every request with the server's fixed body."""

    def do_GET(self) -> None:
        body: bytes = self.server.body  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def answering() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def at(server: socketserver.BaseServer) -> Endpoint:
    return Endpoint(f"tcp://127.0.0.1:{server.server_address[1]}", "from DOCKER_HOST")


def test_an_absent_engine_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        EngineUnreachable, match=r"No Docker engine is at unix://.*no such socket.*systemctl start docker"
    ):
        Engine.connect(endpoint=Endpoint(f"unix://{tmp_path}/none.sock", "default"))


def test_a_socket_nobody_listens_on_is_one_sentence(tmp_path: Path) -> None:
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / "dead.sock"))
    dead.close()
    with pytest.raises(EngineUnreachable, match="connection refused"):
        Engine.connect(endpoint=Endpoint(f"unix://{tmp_path}/dead.sock", "default"))


@pytest.fixture
def forbidden(tmp_path: Path) -> Iterator[Path]:
    """A listening socket that we may not open; root may open any, so it is somebody else for a moment."""
    before = os.geteuid()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s.sock"))
        server.listen()
        (tmp_path / "s.sock").chmod(0)
        if before == 0:
            os.seteuid(65534)
        yield tmp_path / "s.sock"
        os.seteuid(before)


def test_a_forbidden_socket_is_one_sentence(forbidden: Path) -> None:
    with pytest.raises(EngineUnreachable, match=r"permission denied.*usermod"):
        Engine.connect(endpoint=Endpoint(f"unix://{forbidden}", "default"))


def test_an_engine_that_is_too_old_is_one_sentence(answering: ThreadingHTTPServer) -> None:
    answering.body = b'{"ApiVersion": "1.40", "Version": "19.03"}'  # type: ignore[attr-defined]
    with pytest.raises(InfraFailure, match=r"too old \(API 1\.40, 1\.41 or newer is needed\): upgrade"):
        Engine.connect(endpoint=at(answering))


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b""])
def test_something_that_is_no_engine_is_one_sentence(answering: ThreadingHTTPServer, body: bytes) -> None:
    answering.body = body  # type: ignore[attr-defined]
    with pytest.raises(InfraFailure) as caught:
        Engine.connect(endpoint=at(answering))
    assert "Docker engine" in str(caught.value) and "\n" not in str(caught.value)


class Forward(socketserver.BaseRequestHandler):
    """Passes bytes between a TCP client and the engine's socket, and each side's end as well."""

    def handle(self) -> None:
        with socket.socket(socket.AF_UNIX) as engine:
            engine.connect(self.server.path)  # type: ignore[attr-defined]
            back = threading.Thread(target=self.copy, args=(engine, self.request), daemon=True)
            back.start()
            self.copy(self.request, engine)
            back.join()

    @staticmethod
    def copy(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            return


@pytest.mark.docker
def test_an_engine_behind_tcp_does_all_that_one_behind_a_socket_does(
    engine: Engine, tiny_image: str, run_id: str
) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Forward) as server:
        server.daemon_threads = True
        server.path = engine.api.endpoint.url.removeprefix("unix://")  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        far = Engine.connect(endpoint=at(server))
        spec = ContainerSpec(tiny_image, "game", run_id, ("cat",), LIMITS, env={"PATH": "/bin"})
        container = far.create(spec)
        with container.attach() as channel:
            container.start()
            channel.send(b"there and back")
            assert channel.recv(10) == (1, b"there and back")
            assert (
                container.exec(["wc", "-c"], timeout_s=10, stdin=b"x" * 300_000).stdout.strip() == b"300000"
            )
        state = container.wait(10)
        assert state is not None and state.kind == "exited"
        far.close()
        server.shutdown()
