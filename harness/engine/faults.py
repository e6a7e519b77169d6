"""Turns every error of the engine's client into one sentence that names what is wrong and what helps.

The client library reports the same cause in many wrappings (a missing socket is an OSError inside a urllib3
error inside a requests error inside its own), and the engine puts "disk full" into free text. `explain` is
the only place that knows; nothing of docker-py or requests leaves this package.
"""

import errno
from collections.abc import Iterator

import requests
import urllib3
from docker.errors import DockerException

from contracts.errors import InfraFailure

MINIMUM_API = (1, 41)
START_HINT = "start it with `sudo systemctl start docker` (or `sudo dockerd`), or let ./playproof install it"
GROUP_HINT = "add yourself to its group with `sudo usermod -aG docker $USER` and log in again, or use sudo"


class EngineRefused(InfraFailure):
    """The engine answered, with an error status; callers look at `status` and `reason`, people read the text."""

    def __init__(self, message: str, status: int, reason: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class EngineUnreachable(InfraFailure):
    """Nothing answers where the engine should be, or it may not be talked to."""


class EngineTimeout(InfraFailure):
    """The engine took a request and did not answer in time."""


CLIENT_ERRORS = (DockerException, requests.RequestException, OSError)
_TIMEOUTS = (requests.Timeout, urllib3.exceptions.TimeoutError, TimeoutError)


def explain(error: Exception, doing: str, where: str) -> InfraFailure:
    """The failure to raise for an error of the client met while `doing`, talking to the engine at `where`."""
    if any(isinstance(inner, _TIMEOUTS) for inner in _unwrapped(error, depth=8)):
        return EngineTimeout(
            f"The Docker engine at {where} did not answer in time to {doing}: see `docker info`, and restart it if "
            "that hangs too."
        )
    cause = _os_error(error)
    code = cause.errno if cause is not None else None
    if code == errno.ENOENT:
        return EngineUnreachable(f"No Docker engine is at {where} (no such socket): {START_HINT}.")
    if code == errno.ECONNREFUSED:
        return EngineUnreachable(f"No Docker engine answers at {where} (connection refused): {START_HINT}.")
    if code in (errno.EACCES, errno.EPERM):
        return EngineUnreachable(
            f"You may not use the Docker engine at {where} (permission denied): {GROUP_HINT}."
        )
    if code == errno.ENOSPC:
        return _disk_full(doing)
    if code in (errno.EPIPE, errno.ECONNRESET):
        return EngineUnreachable(
            f"The Docker engine at {where} closed the connection while asked to {doing}: see whether it is still "
            "running with `docker info`."
        )
    return EngineUnreachable(
        f"The Docker engine at {where} cannot be reached to {doing} ({_short(error)}): check DOCKER_HOST and `docker info`."
    )


def refused(status: int, reason: str, doing: str) -> InfraFailure:
    """The failure to raise when the engine itself answered with an error status."""
    text = _one_line(reason)
    lowered = text.lower()
    if "no space left on device" in lowered:
        return _disk_full(doing)
    if status == 404 and "no such image" in lowered:
        sentence = f"The Docker engine has no such image to {doing}: build it with `playproof images build`."
    elif "unknown runtime" in lowered or "runtime name" in lowered:
        sentence = f"The Docker engine could not {doing}: {text}; add the runtime to its configuration or leave it out."
    elif "could not select device driver" in lowered:
        sentence = f"The Docker engine could not {doing}: it has no GPU support; install the GPU's container toolkit."
    else:
        sentence = f"The Docker engine could not {doing}: {text} (status {status})."
    return EngineRefused(sentence, status, text)


def too_old(version: str, where: str) -> InfraFailure:
    """The failure for an engine that is there but older than what we need."""
    need = ".".join(map(str, MINIMUM_API))
    return InfraFailure(
        f"The Docker engine at {where} is too old (API {version}, {need} or newer is needed): upgrade it, for example "
        "with `sudo apt-get install docker.io` (20.10 or newer)."
    )


def _disk_full(doing: str) -> InfraFailure:
    return InfraFailure(
        f"The Docker engine could not {doing} because its disk is full: free space, for example with "
        "`docker system df` and `docker image prune`."
    )


def _os_error(error: BaseException) -> OSError | None:
    """The operating system's own error at the bottom of the wrappings, if there is one."""
    for inner in _unwrapped(error, depth=8):
        if isinstance(inner, OSError) and inner.errno is not None:
            return inner
    return None


def _unwrapped(error: BaseException, depth: int) -> Iterator[BaseException]:
    yield error
    if depth == 0:
        return
    below = [argument for argument in error.args if isinstance(argument, BaseException)]
    below += [linked for linked in (error.__cause__, error.__context__) if linked is not None]
    for inner in below:
        yield from _unwrapped(inner, depth - 1)


def _short(error: Exception) -> str:
    return _one_line(str(error) or type(error).__name__)


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")[:400]
