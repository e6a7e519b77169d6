"""The engine as the rest of the harness sees it: make containers and volumes, load images, clean up.

Starting a container is three requests (create, attach, start), which is what a bare `docker run` makes, so
that isolation costs no time of its own.
"""

import json
import secrets
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import docker

from contracts.errors import InfraFailure, WrongInput
from harness.engine import reaper
from harness.engine.api import Api, segment
from harness.engine.container import Container
from harness.engine.endpoint import Endpoint, this_endpoint
from harness.engine.faults import EngineRefused
from harness.engine.hardening import container_name, container_request, seccomp_profile, volume_options
from harness.engine.owner import LABEL_ROLE, LABEL_RUN, Owner, labels
from harness.engine.spec import ContainerSpec, Limits, Role, check_run_id

LOAD_TIMEOUT_S = 1800.0
SMALLEST_VOLUME_BYTES = 64 << 10


class Engine:
    """A connection to the Docker engine, and who we are in it."""

    def __init__(self, api: Api, owner: Owner) -> None:
        self.api = api
        self.owner = owner
        self._seccomp = seccomp_profile()

    @classmethod
    def connect(cls, owner: Owner | None = None, endpoint: Endpoint | None = None) -> "Engine":
        """The engine of this environment (DOCKER_HOST, contexts and usual sockets), or one sentence why not."""
        return cls(Api(endpoint or this_endpoint()), owner or Owner.current())

    def close(self) -> None:
        self.api.close()

    def create(self, spec: ContainerSpec) -> Container:
        """A hardened container, not yet started. More cores than the engine has are not asked for: it would refuse."""
        cpus = min(spec.limits.cpus, self.cores)
        spec = replace(spec, limits=replace(spec.limits, cpus=cpus))
        made = self.api.json(
            "POST",
            "/containers/create",
            f"create the {spec.role} container from {spec.image[:40]}",
            params={"name": container_name(spec, secrets.token_hex(4))},
            body=container_request(
                spec, labels(self.owner, spec.run_id, spec.role, spec.expires), self._seccomp
            ),
        )
        return Container(self.api, str(made["Id"]), spec)

    @cached_property
    def cores(self) -> float:
        """The cores of the engine's machine."""
        return float(self.info().get("NCPU") or 1)

    def adopt(self, run_id: str, role: Role) -> Container | None:
        """The container that an earlier harness left for --resume, or None."""
        wanted = [
            one
            for one in reaper.containers(self.api, f"{LABEL_RUN}={run_id}")
            if one.labels.get(LABEL_ROLE) == role
        ]
        if not wanted:
            return None
        inspected = self.api.json("GET", f"/containers/{segment(wanted[0].key)}/json", "look at a container")
        return Container(self.api, wanted[0].key, _spec_of(inspected, run_id, role))

    def tmpfs_volume(self, run_id: str, name: str, size_bytes: int) -> str:
        """A volume in memory with an exact quota; its files can be taken out of a frozen container."""
        check_run_id(run_id)
        if size_bytes < SMALLEST_VOLUME_BYTES:
            raise WrongInput(
                f"A volume of {size_bytes} bytes is too small: {SMALLEST_VOLUME_BYTES} is the least."
            )
        made = self.api.json(
            "POST",
            "/volumes/create",
            f"create the volume {name}",
            body={
                "Name": f"playproof-{run_id}-{name}-{secrets.token_hex(4)}",
                "Driver": "local",
                "DriverOpts": volume_options(size_bytes),
                "Labels": labels(self.owner, run_id, "volume", None),
            },
        )
        return str(made["Name"])

    def has_image(self, digest: str) -> bool:
        """Whether the engine holds this image (by id, digest or name)."""
        try:
            self.api.call("GET", f"/images/{segment(digest)}/json", "look for an image")
        except EngineRefused as error:
            if error.status == 404:
                return False
            raise
        except InfraFailure as error:
            if "no such image" in str(error):
                return False
            raise
        return True

    def load_image(self, archive: Path) -> None:
        """Loads an image archive (`docker save` format)."""
        try:
            with archive.open("rb") as data:
                answer = self.api.call(
                    "POST",
                    "/images/load",
                    f"load {archive.name}",
                    params={"quiet": "1"},
                    data=data,
                    timeout_s=LOAD_TIMEOUT_S,
                )
        except OSError as error:
            raise WrongInput(
                f"Image archive {archive} cannot be read ({error.strerror}): build it with `playproof images build`."
            ) from error
        for line in answer.text.splitlines():
            if line.startswith("{") and "error" in (said := cast(dict[str, object], json.loads(line))):
                raise InfraFailure(f"The Docker engine could not load {archive.name}: {said['error']}.")

    def info(self) -> dict[str, Any]:
        """The engine's own description of itself."""
        return cast(dict[str, Any], self.api.json("GET", "/info", "describe itself"))

    def reap(self) -> list[str]:
        """Removes what dead harnesses left; live runs and what is kept for --resume are spared."""
        return reaper.reap(self.api, self.owner)

    def docker_client(self) -> docker.DockerClient:
        """The SDK's own client of the same engine, for what moves whole images."""
        return self.api.docker_client(LOAD_TIMEOUT_S)

    def remove_volume(self, name: str) -> None:
        """Removes one volume; one that is gone already is fine."""
        reaper.remove_volume(self.api, name)

    def remove_run(self, run_id: str) -> None:
        """Removes every container and volume of one run."""
        reaper.remove_run(self.api, run_id)


def _spec_of(inspected: Any, run_id: str, role: Role) -> ContainerSpec:
    """As much of a spec as attaching, running commands and taking files out need."""
    config, host = inspected["Config"], inspected["HostConfig"]
    mounts = cast(list[dict[str, Any]], inspected["Mounts"])
    return ContainerSpec(
        image=str(inspected["Image"]),
        role=role,
        run_id=run_id,
        command=tuple(config["Entrypoint"]),
        limits=Limits(int(host["Memory"]), int(host["PidsLimit"] or 0), int(host["NanoCpus"]) / 1e9),
        network=str(host["NetworkMode"]),
        env=dict(pair.split("=", 1) for pair in cast(list[str], config["Env"] or [])),
        volumes={str(one["Name"]): str(one["Destination"]) for one in mounts if one["Type"] == "volume"},
        tmpfs=dict.fromkeys(cast(dict[str, str], host["Tmpfs"] or {}), 0),
        workdir=str(config["WorkingDir"]),
        keep_stdin=not config["StdinOnce"],
    )
