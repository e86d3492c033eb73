"""Reading a file from a stranger: no larger than allowed, and whatever goes wrong is one typed error."""

from collections.abc import Callable
from pathlib import Path

from ingest.files import content_file
from paperscope.errors import PaperFileError
from paperscope.protocols import Parser
from paperscope.types import ParsedPaper

__all__ = ["check_size", "read_paper"]

# A file from a stranger may break a rule of the parser in ways that nobody thought of; it must not stop other files.
_UNFORESEEN = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def check_size(file: Path, *, max_mb: int, name: str = "") -> None:
    """Raise PaperFileError for a paper of more than `max_mb` megabytes, and for one that can't be looked up; it is
    called `name` where the file's own name tells nothing."""
    try:
        size = content_file(file).stat().st_size
    except OSError as error:
        raise PaperFileError(
            f"{name or file.name}: can't be read ({error.strerror}); check the path and its rights", where=file
        ) from error
    if size > max_mb * 1_000_000:
        raise PaperFileError(
            f"{name or file.name}: {size / 1e6:.0f} MB is over the limit of {max_mb} MB; "
            "raise limits.max_file_mb to read it"
        )


def read_paper(
    parser: Parser,
    file: Path,
    *,
    password: str | None = None,
    on_page: Callable[[int, int], None] | None = None,
) -> ParsedPaper:
    """What `parser` reads from `file`; a fault of the parser itself is a PaperFileError as well."""
    try:
        return parser.parse(file, password=password, on_page=on_page)
    except _UNFORESEEN as error:
        raise PaperFileError(
            f"{file.name}: the parser met something that it does not foresee ({type(error).__name__}: {error}); "
            "please report it with the file"
        ) from error
