"""The session and collect stages: an agent container made, driven to its end, frozen, and emptied of its artifact.

The container outlives a dead harness for a while, idle and without a process of the agent's, so that a run whose
session had ended can still be collected by `--resume`.
"""

import time
from pathlib import Path

from contracts.contract import Contract
from contracts.errors import InfraFailure
from contracts.plan import Stack
from contracts.prompt import pinned_prompt
from contracts.record import RunRecord, Tokens, Wall
from harness.archive.manifest import seal
from harness.archive.store import write_record
from harness.engine import Container, ContainerSpec, Engine
from harness.engine import Limits as EngineLimits
from harness.pipeline.appliance import Appliance, PinnedImages
from harness.pipeline.collect import collect
from harness.session import SessionJob, open_provider, run_session

KEPT_S = 3600
"""How long the container of a session that we died after is kept for `--resume`, beyond the session's cap."""


def hold_session(
    appliance: Appliance,
    contract: Contract,
    stack: Stack,
    images: PinnedImages,
    folder: Path,
    record: RunRecord,
) -> RunRecord:
    """Run the session to its end and collect the artifact; the container is gone afterwards."""
    started = time.monotonic()
    part = folder / "session"
    part.mkdir(parents=True)
    try:
        container = _agent_container(appliance.engine, contract, images, record.run_id)
        with open_provider(stack) as provider:
            job = SessionJob(
                container=container,
                provider=provider,
                prompt=pinned_prompt(contract),
                folder=part,
                session_s=contract.caps.session_s,
                command_s=contract.caps.command_s,
                steps=contract.caps.steps,
                say=appliance.say,
            )
            result = run_session(job)
        record = record.model_copy(
            update={
                "exit": result.exit,
                "exit_reason": result.exit_reason,
                "stack": record.stack.model_copy(update={"served_models": result.served_models}),
                "api_calls": result.api_calls,
                "tool_calls": result.tool_calls,
                "tool_errors": result.tool_errors,
                "tokens": Tokens(
                    input=result.tokens_in, output=result.tokens_out, cached=result.tokens_cached
                ),
                "wall": Wall(agent_s=round(result.agent_s, 3), total_s=round(time.monotonic() - started, 3)),
                "stage": "collect",
            }
        )
        seal(part, appliance.secrets)
        record = write_record(folder, record, appliance.secrets)
        return _collect_from(appliance, container, contract, folder, record)
    finally:
        appliance.engine.remove_run(record.run_id)


def resume_collect(appliance: Appliance, contract: Contract, folder: Path, record: RunRecord) -> RunRecord:
    """Collect from the container that a dead harness left; raises InfraFailure where there is none."""
    container = appliance.engine.adopt(record.run_id, "agent")
    if container is None:
        raise InfraFailure("its time to be kept had run out.")
    container.freeze()
    try:
        return _collect_from(appliance, container, contract, folder, record)
    finally:
        appliance.engine.remove_run(record.run_id)


def _collect_from(
    appliance: Appliance, container: Container, contract: Contract, folder: Path, record: RunRecord
) -> RunRecord:
    collected = collect(container, contract, folder, appliance.secrets)
    if collected.reason is not None:
        appliance.say(f"no artifact: {contract.artifact} is {collected.reason.replace('_', ' ')}")
    record = record.model_copy(update={"stage": "evaluate"})
    return write_record(folder, record, appliance.secrets)


def _agent_container(engine: Engine, contract: Contract, images: PinnedImages, run_id: str) -> Container:
    limits = contract.limits.agent
    expires = time.time() + contract.caps.session_s + KEPT_S
    spec = ContainerSpec(
        image=images.agent.engine_ref,
        role="agent",
        run_id=run_id,
        command=("python3", "/opt/playproof/supervisor.py"),
        limits=EngineLimits(limits.memory_mib << 20, limits.pids, limits.cpus, limits.file_mib << 20),
        env={"PLAYPROOF_EXPIRES": str(int(expires)), "VITEXEC_CLOCK": contract.replays.clock},
        volumes={engine.tmpfs_volume(run_id, "workspace", limits.workspace_mib << 20): "/workspace"},
        workdir="/workspace",
        keep_stdin=True,
        runtime=contract.runtime,
        expires=expires,
    )
    return engine.create(spec)
