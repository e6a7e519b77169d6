"""Typed requests to the engine's HTTP API, and the raw socket behind `attach` and `exec`.

docker-py gives the transport (unix sockets, TLS, version negotiation). The calls are made by path here, since
one request must be one round trip and every error must pass through `faults`. The hard part is the hijacked
socket: the client library hands out a socket whose first bytes may sit in its own read buffer, and so be
lost; therefore the upgrade request is written and its answer read here, on a socket of our own.
"""

import json
import socket
import ssl
import time
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote, urlencode

import docker
import requests
from docker.tls import TLSConfig

from contracts.errors import InfraFailure
from harness.engine import faults
from harness.engine.endpoint import Endpoint, TlsFiles

CALL_TIMEOUT_S = 60.0
HEADER_CAP_BYTES = 64 << 10


class Api:
    """One connection (pool) to one engine; safe to share between threads."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        try:
            self._client = docker.APIClient(version="auto", **_client_options(endpoint))
        except faults.CLIENT_ERRORS as error:
            raise faults.explain(error, "connect", str(endpoint)) from error
        self.version = self._client.api_version
        if _numbers(self.version) < faults.MINIMUM_API:
            raise faults.too_old(self.version, str(endpoint))

    def call(
        self,
        method: str,
        path: str,
        doing: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, object] | None = None,
        data: Any = None,
        stream: bool = False,
        timeout_s: float = CALL_TIMEOUT_S,
    ) -> requests.Response:
        """One request. `doing` completes "could not …" in the sentence of a failure."""
        headers = {"Accept-Encoding": "identity"}
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body)
        elif data is not None:
            headers["Content-Type"] = "application/x-tar"
        try:
            response = self._client.request(
                method,
                f"{self._client.base_url}/v{self.version}{path}",
                params=params,
                data=data,
                headers=headers,
                stream=stream,
                timeout=(10.0, timeout_s),
            )
            if response.status_code >= 400:
                reason = _reason(response.content)
                response.close()
                raise faults.refused(response.status_code, reason, doing)
        except faults.CLIENT_ERRORS as error:
            raise faults.explain(error, doing, str(self.endpoint)) from error
        return response

    def json(
        self,
        method: str,
        path: str,
        doing: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, object] | None = None,
    ) -> Any:
        """One request whose answer is JSON."""
        response = self.call(method, path, doing, params=params, body=body)
        try:
            return response.json()
        except ValueError as error:
            raise InfraFailure(
                f"The Docker engine at {self.endpoint} answered something that is not JSON when asked to {doing}: "
                "check that DOCKER_HOST names an engine."
            ) from error

    def hijack(
        self,
        path: str,
        doing: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, object] | None = None,
    ) -> tuple[socket.socket, bytes]:
        """Upgrades a request to a raw byte stream: the socket, and what arrived on it behind the answer."""
        payload = json.dumps(body or {}).encode()
        query = f"?{urlencode(params)}" if params else ""
        request = (
            f"POST /v{self.version}{path}{query} HTTP/1.1\r\nHost: docker\r\nUpgrade: tcp\r\nConnection: Upgrade\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(payload)}\r\n\r\n"
        ).encode() + payload
        try:
            raw = _open_socket(self.endpoint, CALL_TIMEOUT_S)
            try:
                raw.sendall(request)
                status, head, rest = _read_answer(raw)
                if status not in (101, 200):
                    raise faults.refused(status, _reason(_error_body(raw, head, rest)), doing)
            except BaseException:
                raw.close()
                raise
        except faults.CLIENT_ERRORS as error:
            raise faults.explain(error, doing, str(self.endpoint)) from error
        raw.setblocking(False)
        return raw, rest

    def docker_client(self, timeout_s: float) -> docker.DockerClient:
        """A client of the same engine for code that speaks docker-py; its errors are that code's to translate."""
        options: dict[str, Any] = {**_client_options(self.endpoint), "timeout": int(timeout_s)}
        return docker.DockerClient(version=self.version, **options)

    def close(self) -> None:
        self._client.close()


def segment(text: str) -> str:
    """An id or name made safe as one segment of a path."""
    return quote(text, safe=":")


def _client_options(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "base_url": endpoint.url,
        "timeout": int(CALL_TIMEOUT_S),
        "tls": _tls_config(endpoint.tls) if endpoint.tls else False,
        "max_pool_size": 32,
    }


def _open_socket(endpoint: Endpoint, timeout_s: float) -> socket.socket:
    if endpoint.url.startswith("unix://"):
        raw = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        raw.settimeout(timeout_s)
        raw.connect(endpoint.url.removeprefix("unix://"))
        return raw
    host, _, port = endpoint.url.removeprefix("tcp://").rpartition(":")
    raw = socket.create_connection((host.strip("[]"), int(port)), timeout=timeout_s)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if endpoint.tls is None:
        return raw
    return _tls_context(endpoint.tls).wrap_socket(raw, server_hostname=host.strip("[]"))


def _tls_context(files: TlsFiles) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(files.ca) if files.ca.exists() else None)
    if not files.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if files.certificate.exists():
        context.load_cert_chain(str(files.certificate), str(files.key))
    return context


def _tls_config(files: TlsFiles) -> TLSConfig:
    pair = (str(files.certificate), str(files.key)) if files.certificate.exists() else None
    return TLSConfig(
        client_cert=pair, ca_cert=str(files.ca) if files.ca.exists() else None, verify=files.verify
    )


def _read_answer(raw: socket.socket) -> tuple[int, bytes, bytes]:
    """Status, header bytes, and whatever came after them: the first bytes of the stream."""
    deadline = time.monotonic() + CALL_TIMEOUT_S
    data = b""
    while b"\r\n\r\n" not in data:
        if time.monotonic() > deadline:
            raise TimeoutError
        piece = raw.recv(64 << 10)
        if not piece or len(data) > HEADER_CAP_BYTES:
            raise ConnectionResetError(104, "the engine closed the connection before its answer was complete")
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    words = head.split(b"\r\n", 1)[0].split()
    status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    return status, head, rest


def _error_body(raw: socket.socket, head: bytes, rest: bytes) -> bytes:
    """The body of an answer that was an error after all; short, and JSON when it is the engine's."""
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = min(int(value), HEADER_CAP_BYTES)
    while len(rest) < length:
        piece = raw.recv(length - len(rest))
        if not piece:
            break
        rest += piece
    return rest


def _reason(content: bytes) -> str:
    try:
        parsed: object = json.loads(content)
    except ValueError:
        return content.decode("utf-8", "replace").strip() or "no reason given"
    message = cast(dict[str, object], parsed).get("message") if isinstance(parsed, dict) else None
    return str(message or content.decode("utf-8", "replace").strip())


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
