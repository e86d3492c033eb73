"""Reads gold files; each error names the file and the line."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from ingest.document.source import read_pdf
from ingest.pdf.backends import backend_for
from paperscope_core.errors import GoldFileError, PaperFileError
from paperscope_core.types import content_hash

__all__ = [
    "check_pages",
    "file_hash",
    "json_file",
    "json_lines",
    "line_error",
    "named_lines",
    "parse_lines",
    "separate_errors",
]


T = TypeVar("T")


Line = TypeVar("Line")
Value = TypeVar("Value")


def json_file(file: Path, kind: TypeAdapter[T]) -> T:
    """Parses a JSON file. Raises GoldFileError."""
    return _parse(_text(file), kind, where=str(file))


def json_lines(file: Path, kind: TypeAdapter[T], *, bad: list[GoldFileError]) -> Iterator[tuple[int, T]]:
    """Yields the line number and value of each line that is not blank; the errors of malformed lines are added to
    `bad`.

    A missing file has no lines.
    """
    if not file.is_file():
        return
    # Not `splitlines`: a JSON string may contain U+2028 and other line separators unescaped.
    for number, line in enumerate(_text(file).split("\n"), start=1):
        if line.strip():
            try:
                value = _parse(line, kind, where=f"{file}:{number}")
            except GoldFileError as error:
                bad.append(error)
            else:
                yield number, value


def separate_errors(found: Iterable[T | GoldFileError]) -> tuple[list[T], list[GoldFileError]]:
    """Splits a stream into values and errors."""
    values: list[T] = []
    errors: list[GoldFileError] = []
    for one in found:
        if isinstance(one, GoldFileError):
            errors.append(one)
        else:
            values.append(one)
    return values, errors


def file_hash(file: Path) -> str:
    """The SHA-256 of a file's content; that of empty content if the file is missing."""
    return content_hash(file.read_bytes() if file.is_file() else b"")


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise GoldFileError(f"{file}: not UTF-8 text ({error.reason} at byte {error.start})") from error
    except OSError as error:
        raise GoldFileError(f"{file}: can't be read ({error.strerror})") from error


def _parse(text: str, kind: TypeAdapter[T], *, where: str) -> T:
    try:
        return kind.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        reason = f"field {place!r} is missing" if first["type"] == "missing" else first["msg"]
        at = f" at {place!r}" if place and first["type"] != "missing" else ""
        raise GoldFileError(f"{where}: {reason}{at}; correct the gold, or leave it out") from error


def named_lines(
    file: Path, kind: TypeAdapter[Line], *, name: Callable[[Line], str], bad: list[GoldFileError]
) -> Iterator[tuple[int, Line]]:
    """Like `json_lines`, but a line with the name of an earlier one is an error, too."""
    first: dict[str, int] = {}
    for number, value in json_lines(file, kind, bad=bad):
        known = first.setdefault(name(value), number)
        if known == number:
            yield number, value
        else:
            bad.append(line_error(file, number, f"{name(value)!r} is also on line {known}"))


def parse_lines(
    file: Path, kind: TypeAdapter[Line], *, name: Callable[[Line], str], make: Callable[[Line], Value]
) -> Iterator[Value | GoldFileError]:
    """Yields the values that `make` returns for the lines, and the errors of unusable lines.

    `make` raises IndexError or KeyError if a line contradicts itself.
    """
    bad: list[GoldFileError] = []
    for number, line in named_lines(file, kind, name=name, bad=bad):
        try:
            yield make(line)
        except (IndexError, KeyError) as error:
            yield line_error(file, number, str(error.args[0]))
    yield from bad


def line_error(file: Path, number: int, reason: str) -> GoldFileError:
    """The error of a line, with its remedy."""
    return GoldFileError(f"{file}:{number}: {reason}; correct the gold, or leave it out")


def check_pages(pages: Sequence[int], file: Path, *, where: str) -> None:
    """Raises GoldFileError for a page (from 1) that the PDF doesn't have. Accepts any page of an unreadable PDF."""
    count = _page_count(file, file.stat().st_mtime_ns) if pages else None
    for page in pages if count is not None else ():
        if not 1 <= page <= (count or 0):
            raise GoldFileError(
                f"{where}: page {page} is out of range; {file} has {count} pages, which count from 1; "
                "correct the gold, or leave it out"
            )


@lru_cache(maxsize=256)
def _page_count(file: Path, _changed: int) -> int | None:
    try:
        with backend_for("pymupdf").open(read_pdf(file), name=file.name, password=None) as document:
            return document.page_count
    except PaperFileError:
        return None
