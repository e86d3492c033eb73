"""The error hierarchy. Each message quotes the offending value and names a remedy."""

from typing import ClassVar

__all__ = [
    "BudgetError",
    "ContextTooLongError",
    "InputError",
    "JobLostError",
    "KeyFileError",
    "ModelError",
    "ModelRateLimitError",
    "ModelRefusedError",
    "ModelReplyError",
    "ModelUnavailableError",
    "NotFoundError",
    "OutputError",
    "PaperFileError",
    "PaperLockedError",
    "PaperscopeError",
    "QuestionBudgetError",
    "QuestionFileError",
    "SettingsError",
    "StoreDamagedError",
    "StoreError",
    "StoreFullError",
    "StoreReadOnlyError",
    "StoreRefusedError",
    "StoreUnavailableError",
    "StoreVersionError",
    "TooManyImagesError",
    "UnknownConversationError",
    "UnknownCropError",
    "UnknownElementError",
    "UnknownEntityError",
    "UnknownJobError",
    "UnknownNoteError",
    "UnknownPaperError",
    "UnknownTableError",
]


# The letters of a longer message that are kept: its beginning says what is wrong, its end the remedy.
_KEPT_FIRST, _KEPT_LAST = 1500, 900


class PaperscopeError(Exception):
    """The base of all errors that Paperscope raises for its users.

    Attributes:
        public: The message for everybody, which is also what jobs store; without the middle of a value that is very
            long.
        where: The path or endpoint concerned, for the operator only. `str` contains both.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, public: str, *, where: object = "") -> None:
        if len(public) > _KEPT_FIRST + _KEPT_LAST:
            public = f"{public[:_KEPT_FIRST]} … {public[-_KEPT_LAST:]}"
        self.public = public
        self.where = str(where)
        super().__init__(f"{self.where}: {public}" if self.where else public)

    def __str__(self) -> str:
        # KeyError, the other base of some errors, would quote the message.
        return str(self.args[0])

    def __reduce__(self) -> "tuple[object, ...]":
        # Errors travel between processes, and the arguments of a subclass are not `args`.
        return _unpickled, (type(self), self.args, self.__dict__)


def _unpickled(kind: type[PaperscopeError], args: tuple[object, ...], attributes: dict[str, object]) -> PaperscopeError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class InputError(PaperscopeError):
    """The input can't be used."""

    exit_code: ClassVar[int] = 2


class PaperFileError(InputError):
    """A file can't be read as a paper."""


class PaperLockedError(PaperFileError):
    """A file is encrypted, and no password or a wrong one was given."""


class QuestionFileError(InputError):
    """A question file can't be read."""


class SettingsError(InputError):
    """A setting is unknown or wrong. The message is for the operator, since it may quote paths and addresses."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.public, self.where = "a setting is wrong; Paperscope's log says which", message


class NotFoundError(InputError, KeyError):
    """The library has nothing with this name or id."""


class UnknownPaperError(NotFoundError):
    """The library has no such paper."""


class UnknownElementError(NotFoundError):
    """The library has no such element or chunk."""

    def __init__(self, element: str) -> None:
        paper, _, name = element.rpartition("/")
        super().__init__(f"no {name!r} in paper {paper!r}; list the paper's elements to see their ids")


class UnknownCropError(NotFoundError):
    """No paper has such a picture of an element, or its file is missing or damaged."""

    def __init__(self, crop: str) -> None:
        super().__init__(f"no paper has a picture {crop!r}, or it is damaged; then remove its paper and add it again")


class UnknownEntityError(NotFoundError):
    """The graph has no such entity."""


class UnknownJobError(NotFoundError):
    """The library has no such job."""


class UnknownConversationError(NotFoundError):
    """The library has no such conversation."""


class UnknownNoteError(NotFoundError):
    """The library has no such note."""


class UnknownTableError(NotFoundError):
    """The library has no such literature table, or the table no such row or column."""


class StoreError(PaperscopeError):
    """The library on disk can't be used."""

    exit_code: ClassVar[int] = 3


class StoreVersionError(StoreError):
    """The library was written by a newer Paperscope, or by an older one and can't be upgraded."""


class StoreReadOnlyError(StoreError):
    """The library is not writable."""


class StoreFullError(StoreError):
    """The disk that holds the library is full."""


class StoreRefusedError(StoreError):
    """The database refuses a value that should be stored. Other papers are not concerned."""


class StoreUnavailableError(StoreError):
    """A server of the library can't be reached, or the connection to it was lost; both may be temporary."""


class StoreDamagedError(StoreError):
    """A paper's stored data can't be read. Other papers are not concerned."""

    def __init__(self, paper: str) -> None:
        super().__init__(f"what is stored of paper {paper!r} is damaged; remove the paper and add it again")
        self.paper = paper


class JobLostError(StoreError):
    """The worker no longer holds its job: its lease expired, and another worker took over."""


class KeyFileError(PaperscopeError):
    """The file of API keys can't be read, so that no request can be authorised."""

    exit_code: ClassVar[int] = 3


class OutputError(PaperscopeError):
    """A file or folder for results can't be written."""

    exit_code: ClassVar[int] = 3


class BudgetError(PaperscopeError):
    """The budget is spent. Not a `ModelError`, because code that continues after one failed call must stop here."""

    exit_code: ClassVar[int] = 5


class QuestionBudgetError(BudgetError):
    """A further model call would exceed the budget of a question."""


class ModelError(PaperscopeError):
    """A model or its endpoint failed."""

    exit_code: ClassVar[int] = 4


class ModelUnavailableError(ModelError):
    """No connection, a timeout, or a server failure; a retry may help."""


class ModelRateLimitError(ModelUnavailableError):
    """The endpoint limits the rate; `retry_after` is in seconds, None if it does not say."""

    def __init__(self, public: str, *, where: object = "", retry_after: float | None = None) -> None:
        super().__init__(public, where=where)
        self.retry_after = retry_after


class ModelRefusedError(ModelError):
    """The endpoint rejects the request: wrong key, unknown model, bad request. A retry can't help."""


class ContextTooLongError(ModelRefusedError):
    """The request is longer than the model's window."""


class TooManyImagesError(ModelRefusedError):
    """The endpoint takes at most `limit` images in a request."""

    def __init__(self, public: str, *, where: object = "", limit: int) -> None:
        super().__init__(public, where=where)
        self.limit = limit


class ModelReplyError(ModelError):
    """The model's reply does not obey its schema."""
