"""Making the appliance ready for a command: engine, stores, and what dead harnesses left swept away."""

from collections.abc import Callable
from pathlib import Path

from harness.archive.secrets import Secrets
from harness.cli.log import speaker
from harness.cli.options import store_at
from harness.engine import Engine
from harness.pipeline.appliance import Appliance
from images import ImageStore


def appliance(runs: Path | None, say: Callable[[str], None] | None = None) -> Appliance:
    """The appliance on this machine; raises InfraFailure in one sentence where no engine answers."""
    say = say or speaker()
    engine = Engine.connect()
    for removed in engine.reap():
        say(f"removed what a dead harness left: {removed}")
    return Appliance(
        engine=engine,
        images=ImageStore(),
        store=store_at(runs),
        secrets=Secrets.from_environment(),
        say=say,
    )
