"""Progress for people and logs for machines: structlog, pretty on a terminal, JSON lines elsewhere, on stderr."""

import logging
import sys
from collections.abc import Callable

import structlog
from structlog.typing import EventDict

from harness.archive.secrets import Secrets


def configure() -> None:
    """Set up logging for this process, once."""
    pretty = sys.stderr.isatty()
    renderer = (
        structlog.dev.ConsoleRenderer(pad_event_to=0) if pretty else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            _without_keys,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S" if pretty else "iso", utc=not pretty),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def _without_keys(logger: object, method: str, event: EventDict) -> EventDict:
    """A server may echo a key in an error; it must not reach a log either."""
    secrets = Secrets.from_environment()
    return {
        name: secrets.clean_text(value) if isinstance(value, str) else value for name, value in event.items()
    }


def speaker(**bound: str) -> Callable[[str], None]:
    """A function that reports one line of progress with `bound` (the run id, say) beside it."""
    log = structlog.get_logger().bind(**bound)

    def say(text: str) -> None:
        log.info(text)

    return say
