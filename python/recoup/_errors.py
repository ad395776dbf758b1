"""Exceptions: one class for each kind of error, with the exit code of the command and a remedy."""

from __future__ import annotations


class Error(Exception):
    """An operation has failed.

    Attributes
    ----------
    message : str
        What is wrong.
    remedy : str or None
        What can be done about it.
    exit_code : int
        Exit code of the command ``recoup`` for errors of this kind.
    """

    def __init__(self, message: str, remedy: str | None = None, exit_code: int = 1) -> None:
        super().__init__(message if remedy is None else f"{message}; {remedy}")
        self.message = message
        self.remedy = remedy
        self.exit_code = exit_code

    def __reduce__(self) -> tuple[type[Error], tuple[str, str | None, int]]:
        return type(self), (self.message, self.remedy, self.exit_code)


class UsageError(Error, ValueError):
    """An argument is wrong."""


class NotFoundError(Error, LookupError):
    """The name does not exist."""


class LocalError(Error, OSError):
    """A local file, folder, address or key is missing, forbidden, full or in use."""


class VerificationError(Error):
    """Content or a signature is wrong, or a producer contradicts itself."""


class UnreachableError(Error, ConnectionError):
    """No forwarder or peer can be reached."""


class TimedOutError(Error, TimeoutError):
    """Nothing arrived for too long, or a segment used up its retries."""


class ConditionError(Error):
    """The content does not meet a condition of the caller: it is too large, or not new enough."""


class CancelledError(Error):
    """The operation was cancelled."""
