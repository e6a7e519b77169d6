"""The driver's failures. Inside the containers there is no harness to import, so these stand on their own.

`InputRefused` is thrown into the script, word for word as the interface says; `DriverFailure` is ours or the project's
(server, browser, wrong option) and ends the command with one sentence.
"""


class InputRefused(Exception):
    """A script's call broke a rule of the interface; the message is the interface's."""


class DriverFailure(Exception):
    """The page could not be served, opened or kept; one sentence says what and where."""


class PageTimeout(DriverFailure):
    """The page did not answer within a deadline."""


class PageThrew(Exception):
    """A function that was called in the page threw; message and stack are the page's words."""

    def __init__(self, message: str, stack: str) -> None:
        super().__init__(message)
        self.message = message
        self.stack = stack
