"""The Docker engine: hardened containers, channels to their processes, safe copies out of them, and their end.

Start at `Engine.connect`. Everything a caller needs is named here; the modules behind may change.
"""

from harness.engine.channel import Channel, ChannelClosed, ChannelTimeout
from harness.engine.container import Container
from harness.engine.engine import Engine
from harness.engine.faults import EngineRefused, EngineTimeout, EngineUnreachable
from harness.engine.owner import Owner
from harness.engine.spec import (
    ArtifactRefused,
    ContainerSpec,
    ExecResult,
    ExitState,
    Limits,
    Refused,
    TreeCaps,
    TreeFile,
    TreeReport,
)

__all__ = [
    "ArtifactRefused",
    "Channel",
    "ChannelClosed",
    "ChannelTimeout",
    "Container",
    "ContainerSpec",
    "Engine",
    "EngineRefused",
    "EngineTimeout",
    "EngineUnreachable",
    "ExecResult",
    "ExitState",
    "Limits",
    "Owner",
    "Refused",
    "TreeCaps",
    "TreeFile",
    "TreeReport",
]
