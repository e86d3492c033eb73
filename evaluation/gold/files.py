"""Reading gold files; every error names the file and the line, or the place in it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from paperscope_core.errors import GoldFileError

__all__ = ["json_file", "json_lines"]


T = TypeVar("T")


def json_file(file: Path, kind: TypeAdapter[T]) -> T:
    """The value that a JSON file describes. Raises GoldFileError."""
    return _parse(_text(file), kind, where=str(file))


def json_lines(file: Path, kind: TypeAdapter[T], *, bad: list[GoldFileError]) -> Iterator[tuple[int, T]]:
    """The line number and value of each line that is not blank; a malformed line adds its error to `bad`.

    A file that is not there has no lines.
    """
    if not file.is_file():
        return
    # Not `splitlines`: a JSON string may hold U+2028 and its like as they are.
    for number, line in enumerate(_text(file).split("\n"), start=1):
        if line.strip():
            try:
                value = _parse(line, kind, where=f"{file}:{number}")
            except GoldFileError as error:
                bad.append(error)
            else:
                yield number, value


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
        raise GoldFileError(f"{where}: {reason}{at}; mend the gold, or leave it out") from error
