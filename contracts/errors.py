"""The failures a person or a program outside can tell apart, and the exit code each leads to.

Every failure says whose fault it is; `EXIT_CODES` is the one table that turns that into a process exit code.
A message is one sentence: what was wrong, with which file or value, and what to do about it.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process returns (documented in README.md)."""

    DONE = 0
    JUDGED_FAILED = 1
    WRONG_USE = 2
    INFRASTRUCTURE = 3


class PlayproofError(Exception):
    """The root of every failure that Playproof raises on purpose."""

    exit_code: ExitCode = ExitCode.INFRASTRUCTURE


class WrongInput(PlayproofError):
    """The user's file, value or command line is wrong; nothing was started and nothing lost."""

    exit_code = ExitCode.WRONG_USE


class StackFailure(PlayproofError):
    """The stack under test (model, provider, agent) failed; it is scored as it stands."""

    exit_code = ExitCode.JUDGED_FAILED


class InfraFailure(PlayproofError):
    """Our side failed (engine, disk, image, browser); never scored, can be run again."""

    exit_code = ExitCode.INFRASTRUCTURE
