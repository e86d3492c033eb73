"""The error hierarchy. Each message quotes the offending value and names a remedy."""

from typing import ClassVar

__all__ = [
    "BudgetError",
    "GoldFileError",
    "InputError",
    "JobLostError",
    "KeyFileError",
    "ModelError",
    "ModelRateLimitError",
    "ModelRefusedError",
    "ModelReplyError",
    "ModelUnavailableError",
    "OutputError",
    "PaperFileError",
    "PaperLockedError",
    "PaperscopeError",
    "QuestionFileError",
    "SettingsError",
    "StoreError",
    "StoreFullError",
    "StoreReadOnlyError",
    "StoreVersionError",
    "UnknownEntityError",
    "UnknownJobError",
    "UnknownPaperError",
]


class PaperscopeError(Exception):
    """Anything that Paperscope reports to its user; `exit_code` is the command line's.

    `public` is the message for everybody, and what is kept of an error; `where` is the place of this machine, or the
    endpoint, that it is about. As text, an error is both.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, public: str, *, where: object = "") -> None:
        self.public = public
        self.where = str(where)
        super().__init__(f"{self.where}: {public}" if self.where else public)


class InputError(PaperscopeError):
    """What the user handed over can't be used."""

    exit_code: ClassVar[int] = 2


class PaperFileError(InputError):
    """A file that can't be read as a paper."""


class PaperLockedError(PaperFileError):
    """A file that is encrypted, and no password, or none that opens it."""


class QuestionFileError(InputError):
    """A question file that can't be read."""


class GoldFileError(InputError):
    """Gold of an evaluation that can't be used."""


class SettingsError(InputError):
    """An unknown or wrong setting, which only whoever runs Paperscope can put right."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.public, self.where = "a setting is wrong; whoever runs Paperscope finds in its log which", message


class UnknownPaperError(InputError):
    """No such paper in the library."""


class UnknownEntityError(InputError):
    """No such entity in the graph."""


class UnknownJobError(InputError):
    """No such job in the library."""


class StoreError(PaperscopeError):
    """The library on disk can't be used."""

    exit_code: ClassVar[int] = 3


class StoreVersionError(StoreError):
    """The library was written by a newer Paperscope."""


class StoreReadOnlyError(StoreError):
    """The library may not be written."""


class StoreFullError(StoreError):
    """The disk that holds the library is full."""


class JobLostError(StoreError):
    """A job is no longer this worker's: it took too long to renew it, and another worker went on."""


class KeyFileError(PaperscopeError):
    """The file of API keys can't be read, so that nobody can be let in."""

    exit_code: ClassVar[int] = 3


class OutputError(PaperscopeError):
    """A file or folder for results can't be written."""

    exit_code: ClassVar[int] = 3


class BudgetError(PaperscopeError):
    """What a command may spend on models is spent. No `ModelError`: whoever goes on without one reply must not go on
    without all that follow."""

    exit_code: ClassVar[int] = 5


class ModelError(PaperscopeError):
    """A model or its endpoint failed."""

    exit_code: ClassVar[int] = 4


class ModelUnavailableError(ModelError):
    """No connection, a time-out, or a server failure; trying later may help."""


class ModelRateLimitError(ModelUnavailableError):
    """The endpoint asks to wait; `retry_after` is in seconds, None where it did not say."""

    def __init__(self, public: str, *, where: object = "", retry_after: float | None = None) -> None:
        super().__init__(public, where=where)
        self.retry_after = retry_after


class ModelRefusedError(ModelError):
    """The endpoint refuses the request: wrong key, unknown model, bad request. Trying again can't help."""


class ModelReplyError(ModelError):
    """The model's reply does not obey its schema."""
