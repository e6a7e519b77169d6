"""Every way the engine can fail becomes one sentence that names it and what helps."""

import errno
import os

import pytest
import requests
from docker.errors import DockerException
from urllib3 import HTTPConnectionPool
from urllib3.exceptions import ProtocolError, ReadTimeoutError

from contracts.errors import InfraFailure
from harness.engine import faults


def wrapped(code: int) -> Exception:
    """An operating system error in the wrappings that the client library gives it."""
    inner = ProtocolError("Connection aborted.", OSError(code, os.strerror(code)))
    return DockerException(
        f"Error while fetching server API version: {requests.ConnectionError(inner)}",
        requests.ConnectionError(inner),
    )


@pytest.mark.parametrize(
    ("code", "says", "helps"),
    [
        (errno.ENOENT, "No Docker engine is at unix:///x", "systemctl start docker"),
        (errno.ECONNREFUSED, "No Docker engine answers at unix:///x", "systemctl start docker"),
        (errno.EACCES, "permission denied", "usermod -aG docker"),
        (errno.ENOSPC, "disk is full", "docker system df"),
        (errno.ECONNRESET, "closed the connection", "docker info"),
    ],
)
def test_the_cause_is_found_below_the_wrappings(code: int, says: str, helps: str) -> None:
    failure = faults.explain(wrapped(code), "connect", "unix:///x")
    assert isinstance(failure, InfraFailure)
    assert says in str(failure) and helps in str(failure)


def test_a_silent_engine_is_a_timeout() -> None:
    assert isinstance(faults.explain(requests.ReadTimeout("x"), "wait", "u"), faults.EngineTimeout)
    assert isinstance(faults.explain(requests.ConnectTimeout("x"), "wait", "u"), faults.EngineTimeout)
    in_a_body = requests.ConnectionError(ReadTimeoutError(HTTPConnectionPool("x"), "/", "Read timed out."))
    assert isinstance(faults.explain(in_a_body, "wait", "u"), faults.EngineTimeout)


@pytest.mark.parametrize(
    ("status", "reason", "says"),
    [
        (404, "No such image: sha256:abc", "playproof images build"),
        (500, "write /var/lib/docker/tmp: no space left on device", "disk is full"),
        (400, "unknown or invalid runtime name: runsc", "add the runtime"),
        (500, 'could not select device driver "" with capabilities: [[gpu]]', "GPU support"),
        (500, "something\n  odd.", "could not start it: something odd (status 500)."),
    ],
)
def test_an_answer_with_an_error_status_is_explained(status: int, reason: str, says: str) -> None:
    text = str(faults.refused(status, reason, "start it"))
    assert says in text
    assert "\n" not in text and text.endswith(".")
