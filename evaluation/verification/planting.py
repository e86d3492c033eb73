"""Wrong numbers in place of right ones. Pure functions; the same seed always plants the same."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from numpy.random import Generator

from evaluation.metrics.numbers import stated_numbers
from evaluation.metrics.quantities import Number, as_number, numbers_in
from paperscope_core.types import Cell, Table

__all__ = ["Plant", "plants"]


_MINUS = "\u2212"


@dataclass(frozen=True, kw_only=True, slots=True)
class Plant:
    """A number of a right answer and the wrong one that takes its place."""

    kind: str
    right: str
    wrong: str

    def into(self, text: str) -> str:
        """The text with the wrong number at the first place of the right one."""
        return _place_of(self.right).sub(lambda _match: self.wrong, text, count=1)


def plants(text: str, *, question: str, tables: Sequence[Table], random: Generator) -> Iterator[Plant]:
    """One plant of each kind that can be made: of a number that the text states and the question doesn't.

    "digit": one digit is another; "sign": turned, or a minus before a number without one; "tenfold": the point moved
    by one; "rounding": one place less, and rounded wrongly; "row" and "column": the value of a neighbouring cell.
    """
    stated = [
        number for number in stated_numbers(text, question) if number.text[-1].isdigit() or number.kind == "share"
    ]
    numbers = [number for number in stated if _place_of(_digits(number)).search(text)]
    if not numbers:
        return
    for kind, make in {**_MADE, "row": _neighbour(tables, rows=True), "column": _neighbour(tables, rows=False)}.items():
        for index in random.permutation(len(numbers)):
            right = _digits(numbers[index])
            wrong = make(right, random)
            if wrong is not None and not _same(wrong, right):
                yield Plant(kind=kind, right=right, wrong=wrong)
                break


def _place_of(digits: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.,]){re.escape(digits)}(?![\w]|[.,]\d)")


def _digits(number: Number) -> str:
    """The number as printed, without what stands behind its last digit."""
    found = re.match(r"[-+]?[\d.,]*\d", number.text)
    return found[0] if found else number.text


def _digit(right: str, random: Generator) -> str | None:
    places = [index for index, letter in enumerate(right) if letter.isdigit()]
    at = places[random.integers(len(places))]
    others = [digit for digit in "0123456789" if digit != right[at] and (digit != "0" or at != places[0])]
    return right[:at] + others[random.integers(len(others))] + right[at + 1 :]


def _sign(right: str, _random: Generator) -> str | None:
    if right[0] in "+-":
        return (_MINUS if right[0] == "+" else "+") + right[1:]
    return _MINUS + right


def _tenfold(right: str, random: Generator) -> str | None:
    value = Decimal(right.replace(",", ""))
    return format(value * 10 if random.random() < 0.5 else value / 10, "f")


def _rounding(right: str, _random: Generator) -> str | None:
    """The neighbour, on the wrong side, of what the number would be with one place less."""
    value = Decimal(right.replace(",", ""))
    decimals = len(right.partition(".")[2])
    if not decimals:
        return None
    unit = Decimal(1).scaleb(1 - decimals)
    rounded = value.quantize(unit, ROUND_HALF_UP)
    return format(rounded - unit if rounded >= value else rounded + unit, "f")


_MADE: Mapping[str, Callable[[str, Generator], str | None]] = {
    "digit": _digit,
    "sign": _sign,
    "tenfold": _tenfold,
    "rounding": _rounding,
}


def _neighbour(tables: Sequence[Table], *, rows: bool) -> Callable[[str, Generator], str | None]:
    def make(right: str, random: Generator) -> str | None:
        values = [(table, cell) for table in tables for cell in table.cells if _value(cell) is not None]
        homes = [(table, cell) for table, cell in values if _same(_value(cell) or "", right)]
        found = [
            _value(other)
            for home, cell in homes
            for table, other in values
            if table is home and _is_beside(cell, other, rows=rows) and not _same(_value(other) or "", right)
        ]
        return found[random.integers(len(found))] if found else None

    return make


def _is_beside(one: Cell, other: Cell, *, rows: bool) -> bool:
    apart = (abs(one.row - other.row), abs(one.column - other.column))
    return apart == ((1, 0) if rows else (0, 1))


def _value(cell: Cell) -> str | None:
    """The number that a value cell begins with."""
    numbers = numbers_in(cell.value) if cell.role == "value" else ()
    return _digits(numbers[0]) if numbers and cell.text.startswith(_digits(numbers[0])) else None


def _same(one: str, other: str) -> bool:
    first, second = as_number(one), as_number(other)
    return first is not None and second is not None and first.value == second.value
