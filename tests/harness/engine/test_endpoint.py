"""The engine meant by environment, context or socket is found as the docker command finds it."""

import hashlib
import json
from pathlib import Path

import pytest

from contracts.errors import WrongInput
from harness.engine.endpoint import find_endpoint


def context(home: Path, name: str, host: str) -> None:
    digest = hashlib.sha256(name.encode()).hexdigest()
    folder = home / ".docker/contexts/meta" / digest
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text(json.dumps({"Name": name, "Endpoints": {"docker": {"Host": host}}}))
    (home / ".docker/config.json").write_text(json.dumps({"currentContext": name}))


def test_docker_host_comes_first(tmp_path: Path) -> None:
    context(tmp_path, "other", "unix:///other.sock")
    found = find_endpoint({"DOCKER_HOST": "tcp://10.0.0.5:2375"}, tmp_path)
    assert (found.url, found.source, found.tls) == ("tcp://10.0.0.5:2375", "from DOCKER_HOST", None)
    assert not found.local


def test_tls_files_come_from_the_usual_variables(tmp_path: Path) -> None:
    env = {"DOCKER_HOST": "tcp://h:2376", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": "/certs"}
    found = find_endpoint(env, tmp_path)
    assert found.tls is not None
    assert (found.tls.ca, found.tls.verify) == (Path("/certs/ca.pem"), True)


def test_the_current_context_is_honoured(tmp_path: Path) -> None:
    context(tmp_path, "desktop-linux", "unix:///home/me/.docker/desktop/docker.sock")
    found = find_endpoint({}, tmp_path)
    assert found.url == "unix:///home/me/.docker/desktop/docker.sock"
    assert "desktop-linux" in str(found)


def test_docker_context_overrides_the_current_one(tmp_path: Path) -> None:
    context(tmp_path, "far", "tcp://far:2375")
    assert find_endpoint({"DOCKER_CONTEXT": "default"}, tmp_path, tmp_path / "system").source == "default"
    assert find_endpoint({"DOCKER_CONTEXT": "far"}, tmp_path).url == "tcp://far:2375"


def test_a_context_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match="Docker context 'gone' has no usable definition"):
        find_endpoint({"DOCKER_CONTEXT": "gone"}, tmp_path)


@pytest.mark.parametrize(
    "where", ["run/docker.sock", "home/.docker/desktop/docker.sock", "home/.docker/run/docker.sock"]
)
def test_rootless_and_desktop_sockets_are_found_when_the_systems_is_absent(
    tmp_path: Path, where: str
) -> None:
    socket = tmp_path / where
    socket.parent.mkdir(parents=True)
    socket.touch()
    env = {"XDG_RUNTIME_DIR": str(tmp_path / "run")}
    assert find_endpoint(env, tmp_path / "home", tmp_path / "none").url == f"unix://{socket}"


def test_without_any_socket_the_systems_is_named(tmp_path: Path) -> None:
    assert find_endpoint({}, tmp_path, tmp_path / "docker.sock").url == f"unix://{tmp_path}/docker.sock"


@pytest.mark.parametrize("host", ["ssh://me@far", "ftp://x", "tcp://", "nonsense"])
def test_an_address_that_cannot_be_used_says_what_can(tmp_path: Path, host: str) -> None:
    with pytest.raises(WrongInput, match=r"unix:///"):
        find_endpoint({"DOCKER_HOST": host}, tmp_path)


def test_a_bare_path_and_a_plain_web_address_are_understood(tmp_path: Path) -> None:
    assert find_endpoint({"DOCKER_HOST": "/run/d.sock"}, tmp_path).url == "unix:///run/d.sock"
    assert find_endpoint({"DOCKER_HOST": "http://h:2375/"}, tmp_path).url == "tcp://h:2375"
