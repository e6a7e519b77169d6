"""The agent's capped time: the loop, the model it asks, and the one shell it works in.

`open_provider` gives a stack's model, `run_session` holds a session with it; `Shell` is one container's bash.
"""

from harness.session.loop import SessionJob, SessionResult, run_session
from harness.session.provider import Provider, ProviderFailure
from harness.session.shell import CommandResult, Shell
from harness.session.stack import open_provider

__all__ = [
    "CommandResult",
    "Provider",
    "ProviderFailure",
    "SessionJob",
    "SessionResult",
    "Shell",
    "open_provider",
    "run_session",
]
