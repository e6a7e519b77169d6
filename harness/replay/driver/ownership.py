"""Which script run may move this page's input. A run is active from its start to its end; the first that uses input drives until
it ends. Hard part: a call can come late (the script was cut off but still runs) or from elsewhere, and is refused either way."""

from .errors import InputRefused

NOT_A_RUN = "Input must originate from an active Vitexec script."
NOT_THE_OWNER = "Another Vitexec run owns this page's input."


class Ownership:
    def __init__(self) -> None:
        self._active: set[str] = set()
        self._owner: str | None = None

    @property
    def owner(self) -> str | None:
        return self._owner

    def begin(self, run: str) -> None:
        self._active.add(run)

    def is_active(self, run: str) -> bool:
        return run in self._active

    def claim(self, run: str) -> None:
        """Lets the run drive, or says why not."""
        if run not in self._active:
            raise InputRefused(NOT_A_RUN)
        if self._owner is None:
            self._owner = run
        elif self._owner != run:
            raise InputRefused(NOT_THE_OWNER)

    def close(self, run: str) -> bool:
        """Refuses all further input of the run; True when it was the driver (and still is, until `release`)."""
        self._active.discard(run)
        return self._owner == run

    def release(self, run: str) -> None:
        """Lets another run become the driver."""
        if self._owner == run:
            self._owner = None
