"""Lines of gold that are known by a name."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from evaluation.gold.files import json_lines
from paperscope.errors import GoldFileError

__all__ = ["line_error", "named_lines"]

T = TypeVar("T")


def named_lines(
    file: Path, kind: TypeAdapter[T], *, name: Callable[[T], str], bad: list[GoldFileError]
) -> Iterator[tuple[int, T]]:
    """As `json_lines`; a line with the name of an earlier one is bad, too."""
    first: dict[str, int] = {}
    for number, value in json_lines(file, kind, bad=bad):
        known = first.setdefault(name(value), number)
        if known == number:
            yield number, value
        else:
            bad.append(line_error(file, number, f"{name(value)!r} is also on line {known}"))


def line_error(file: Path, number: int, reason: str) -> GoldFileError:
    """What is wrong with a line, and what to do."""
    return GoldFileError(f"{file}:{number}: {reason}; mend the gold, or leave it out")
