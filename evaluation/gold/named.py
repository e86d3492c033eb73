"""Lines of gold that are known by a name."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from evaluation.gold.files import json_lines
from paperscope_core.errors import GoldFileError

__all__ = ["line_error", "made_of_lines", "named_lines"]


T = TypeVar("T")
V = TypeVar("V")


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


def made_of_lines(
    file: Path, kind: TypeAdapter[T], *, name: Callable[[T], str], make: Callable[[T], V]
) -> Iterator[V | GoldFileError]:
    """What `make` makes of each line, and the errors of lines that can't be used: `make` raises IndexError or KeyError
    where a line contradicts itself."""
    bad: list[GoldFileError] = []
    for number, line in named_lines(file, kind, name=name, bad=bad):
        try:
            yield make(line)
        except (IndexError, KeyError) as error:
            yield line_error(file, number, str(error.args[0]))
    yield from bad


def line_error(file: Path, number: int, reason: str) -> GoldFileError:
    """What is wrong with a line, and what to do."""
    return GoldFileError(f"{file}:{number}: {reason}; mend the gold, or leave it out")
