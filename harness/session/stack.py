"""Which provider plays a stack's model. `scripted:FILE` brings its own server; all else is a hosted model."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from contracts.plan import Stack
from harness.session.provider import Provider
from harness.session.scripted import ScriptedServer, load_turns

SCRIPTED = "scripted:"


@contextmanager
def open_provider(stack: Stack) -> Generator[Provider]:
    """The provider for one session of this stack."""
    # here, not above: the SDK takes a second to import, which `list` and `show` need not wait for
    from harness.session.openai_chat import OpenAIChat

    if not stack.model.startswith(SCRIPTED):
        provider = OpenAIChat(stack.model, stack.base_url, effort=stack.effort)
        try:
            yield provider
        finally:
            provider.close()
        return
    path = Path(stack.model.removeprefix(SCRIPTED))
    server = ScriptedServer(load_turns(path), f"{SCRIPTED}{path.name}")
    try:
        provider = OpenAIChat(server.model, server.base_url, key="scripted")
        yield provider
        provider.close()
    finally:
        server.close()
