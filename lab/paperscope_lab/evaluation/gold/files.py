"""Reads gold files; each error names the file and the line."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from paperscope_core.errors import PaperFileError
from paperscope_core.types import PaperFile, content_hash
from paperscope_lab.errors import GoldFileError

__all__ = [
    "check_pages",
    "file_hash",
    "gold_error",
    "map_gold",
    "paper_file",
    "read_json",
    "read_lines",
    "separate_errors",
]

Line = TypeVar("Line")
Value = TypeVar("Value")
Made = TypeVar("Made")


def read_json(file: Path, kind: type[Value]) -> Value:
    """Parse a JSON file. Raises GoldFileError."""
    text = _read_text(file)
    try:
        return _parse(text, TypeAdapter(kind))
    except GoldFileError as error:
        raise gold_error(str(file), str(error)) from error


def read_lines(
    file: Path,
    kind: type[Line],
    make: Callable[[int, Line], Value],
    *,
    key: Callable[[Line], str] | None = None,
) -> Iterator[Value | GoldFileError]:
    """Yield what `make` returns for the number and the content of each line, and the errors of unusable lines.

    A missing file has no lines, and blank lines are ignored. A line is unusable if it is malformed, if an earlier line
    has the same `key`, or if `make` raises GoldFileError; the error that is yielded then names the line.
    """
    adapter = TypeAdapter(kind)
    first: dict[str, int] = {}

    def value(number: int, text: str) -> Value:
        line = _parse(text, adapter)
        if key and (known := first.setdefault(key(line), number)) != number:
            raise GoldFileError(f"{key(line)!r} is also on line {known}")
        return make(number, line)

    # Not `splitlines`: a JSON string may contain U+2028 and other line separators unescaped.
    for number, text in enumerate(_read_text(file).split("\n") if file.is_file() else (), start=1):
        if text.strip():
            try:
                yield value(number, text)
            except GoldFileError as error:
                yield gold_error(f"{file}:{number}", str(error))


def separate_errors(found: Iterable[Value | GoldFileError]) -> tuple[list[Value], list[GoldFileError]]:
    """Split a stream into values and errors."""
    values: list[Value] = []
    errors: list[GoldFileError] = []
    for one in found:
        if isinstance(one, GoldFileError):
            errors.append(one)
        else:
            values.append(one)
    return values, errors


def map_gold(
    found: Iterable[Value | GoldFileError], make: Callable[[Value], Iterable[Made | GoldFileError]]
) -> Iterator[Made | GoldFileError]:
    """Yield what `make` returns for each value of a stream, and the errors of the stream."""
    for one in found:
        if isinstance(one, GoldFileError):
            yield one
        else:
            yield from make(one)


def gold_error(where: str, reason: str) -> GoldFileError:
    """Return the error of a file or line, with its remedy."""
    return GoldFileError(f"{where}: {reason}; correct the gold, or leave it out")


@cache
def file_hash(file: Path) -> str:
    """Return the SHA-256 of a file's content; that of empty content if the file is missing. Each file is read once."""
    return content_hash(file.read_bytes() if file.is_file() else b"")


def paper_file(data: Path, folder: str, name: str) -> Path:
    """Return the paper with this name, whatever folder the gold names. Raises GoldFileError if it is missing."""
    file = data / "papers" / folder / PurePosixPath(name).name
    if not file.is_file():
        raise GoldFileError(f"unknown paper {name!r}; {file} is not there")
    return file


def check_pages(pages: Iterable[int | None], file: Path) -> None:
    """Raise GoldFileError for a page (from 1) that the PDF doesn't have. Accepts any page of an unreadable PDF."""
    known = [page for page in pages if page is not None]
    count = _page_count(file, file.stat().st_mtime_ns) if known else None
    for page in known:
        if count is not None and not 1 <= page <= count:
            raise GoldFileError(f"page {page} is out of range; {file} has {count} pages, which count from 1")


@lru_cache(maxsize=256)
def _page_count(file: Path, _changed: int) -> int | None:
    from ingest.document.source import read_pdf
    from ingest.pdf import PdfBackend

    try:
        with PdfBackend().open(read_pdf(PaperFile(file)), name=file.name, password=None) as document:
            return document.page_count
    except PaperFileError:
        return None


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise GoldFileError(f"{file}: not UTF-8 text ({error.reason} at byte {error.start})") from error
    except OSError as error:
        raise GoldFileError(f"{file}: can't be read ({error.strerror})") from error


def _parse(text: str, adapter: TypeAdapter[Value]) -> Value:
    """Raise GoldFileError, whose message doesn't name the file."""
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        if first["type"] == "missing":
            raise GoldFileError(f"field {place!r} is missing") from error
        raise GoldFileError(first["msg"] + (f" at {place!r}" if place else "")) from error
