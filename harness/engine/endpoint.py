"""Finds the engine the user means, in the order the docker command does.

DOCKER_HOST, then the chosen context, then the usual sockets: the system's, a rootless engine's, Docker
Desktop's. `find_endpoint` only looks at what it is given (environment, home folder), so it is tested by values.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from contracts.errors import WrongInput

SYSTEM_SOCKET = Path("/var/run/docker.sock")


@dataclass(frozen=True)
class TlsFiles:
    """Where the certificates for a TCP endpoint lie; `verify` false trusts whoever answers."""

    folder: Path
    verify: bool

    @property
    def ca(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def certificate(self) -> Path:
        return self.folder / "cert.pem"

    @property
    def key(self) -> Path:
        return self.folder / "key.pem"


@dataclass(frozen=True)
class Endpoint:
    """An engine's address: `unix:///path` or `tcp://host:port`, and who named it."""

    url: str
    source: str
    tls: TlsFiles | None = None

    def __str__(self) -> str:
        return self.url if self.source == "default" else f"{self.url} ({self.source})"

    @property
    def local(self) -> bool:
        """Whether the engine surely runs on this machine, so that its process ids may be ours."""
        return self.url.startswith("unix://")


def find_endpoint(env: Mapping[str, str], home: Path, system_socket: Path = SYSTEM_SOCKET) -> Endpoint:
    """The endpoint that this environment and home folder ask for."""
    host = env.get("DOCKER_HOST", "").strip()
    if host:
        return _checked(host, "from DOCKER_HOST", _tls_from_env(env, home))
    config_folder = Path(env["DOCKER_CONFIG"]) if env.get("DOCKER_CONFIG") else home / ".docker"
    context = env.get("DOCKER_CONTEXT", "").strip() or _current_context(config_folder)
    if context and context != "default":
        return _from_context(config_folder, context)
    return Endpoint(f"unix://{_first_socket(env, home, system_socket)}", "default")


def this_endpoint() -> Endpoint:
    """The endpoint of the process we are."""
    return find_endpoint(os.environ, Path.home())


def _first_socket(env: Mapping[str, str], home: Path, system_socket: Path) -> Path:
    candidates = [system_socket]
    if env.get("XDG_RUNTIME_DIR"):
        candidates.append(Path(env["XDG_RUNTIME_DIR"]) / "docker.sock")
    candidates += [home / ".docker/desktop/docker.sock", home / ".docker/run/docker.sock"]
    there = [path for path in candidates if path.exists()]
    usable = [path for path in there if os.access(path, os.R_OK | os.W_OK)]
    return (usable or there or candidates)[0]


def _current_context(config_folder: Path) -> str:
    try:
        config = json.loads((config_folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return ""
    if not isinstance(config, dict):
        return ""
    return str(cast(dict[str, object], config).get("currentContext") or "")


def _from_context(config_folder: Path, name: str) -> Endpoint:
    digest = hashlib.sha256(name.encode()).hexdigest()
    meta_file = config_folder / "contexts/meta" / digest / "meta.json"
    try:
        meta = json.loads(meta_file.read_text("utf-8"))
        docker = meta["Endpoints"]["docker"]
        host = str(docker["Host"])
        skip_verify = bool(docker.get("SkipTLSVerify"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WrongInput(
            f"Docker context {name!r} has no usable definition in {meta_file}: see `docker context ls` and choose one "
            "with `docker context use`."
        ) from error
    folder = config_folder / "contexts/tls" / digest / "docker"
    tls = TlsFiles(folder, verify=not skip_verify) if folder.is_dir() else None
    return _checked(host, f"from context {name!r}", tls)


def _tls_from_env(env: Mapping[str, str], home: Path) -> TlsFiles | None:
    verify = bool(env.get("DOCKER_TLS_VERIFY"))
    if not verify and not env.get("DOCKER_TLS"):
        return None
    folder = env.get("DOCKER_CERT_PATH")
    return TlsFiles(Path(folder) if folder else home / ".docker", verify=verify)


def _checked(host: str, source: str, tls: TlsFiles | None) -> Endpoint:
    if host.startswith("ssh://"):
        raise WrongInput(
            f"Engine address {host} {source} is an ssh address, which is not supported: forward its socket with "
            f"`ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock {host.removeprefix('ssh://')}` and set "
            "DOCKER_HOST=unix:///tmp/docker.sock."
        )
    if host.startswith("/"):
        host = f"unix://{host}"
    scheme, _, rest = host.partition("://")
    if scheme not in ("unix", "tcp", "http", "https") or not rest:
        raise WrongInput(
            f"Engine address {host!r} {source} is not understood: use unix:///path or tcp://host:port."
        )
    if scheme in ("http", "https"):
        host = f"tcp://{rest}"
    return Endpoint(host.rstrip("/"), source, tls)
