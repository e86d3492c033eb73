"""Whether what is called the highest or lowest value is it, among the values that it is compared with."""

import re
from collections.abc import Sequence
from decimal import Decimal

from paperscope.types import Cell, Check
from query.cell_names import Statement
from query.numbers import numbers_in
from query.verification.scope import Printed, Scope

__all__ = ["check_extremes"]

_HIGHEST = re.compile(r"(?i)\b(?:highest|largest|greatest|maximum|maximal|biggest)\b")
_LOWEST = re.compile(r"(?i)\b(?:lowest|smallest|minimum|minimal|fewest)\b")
# Ranks, changes and bounds are something else than an extreme value.
_OTHER = re.compile(
    r"(?i)\b(?:second|third|fourth|fifth|\dnd|\drd|\dth|next|one of|not|no|nor|among|except|apart|improv\w*|gain\w*|"
    r"increas\w*|decreas\w*|drop\w*|boost\w*|differ\w*|chang\w*|gap|at (?:most|least))\b"
)


def check_extremes(text: str, scope: Scope, *, statement: Statement) -> tuple[Check | None, str]:
    """A check that shows the extreme value that the text speaks of, and a warning where no value that it gives is one.

    A value is compared with those of its column, or of its row, that share all the names that the text gives it.
    """
    high, low = _HIGHEST.search(text), _LOWEST.search(text)
    given = {number.value for number in numbers_in(text)}
    cells = [one for one in scope.printed if one.names is not None and one.number.value in given]
    if bool(high) == bool(low) or _OTHER.search(text) or not cells:
        return None, ""
    word, pick = ("highest", max) if high else ("lowest", min)
    compared = [(one, *_compared(one, statement)) for one in cells]
    for one, column, row in compared:
        for others in (column, row):
            if len(others) > 1 and one.number.signed == pick(others):
                formula = f"{one.number.text} = {word} of {len(others)} values"
                return Check(number=one.number.text, finding="computed", formula=formula, support=(one.evidence,)), ""
    one, column, row = compared[0]
    if any(len(others) < 2 for _, others, _ in compared):
        return None, ""
    return None, f"{one.number.text} is called the {word}, but {pick(column)} stands in the same column"


def _compared(one: Printed, statement: Statement) -> tuple[list[Decimal], list[Decimal]]:
    """The values of the same column, and of the same row, under all the names that the statement gives this one."""
    if one.cell is None or one.names is None:
        return [], []
    held = one.names.words(one.cell) & (statement.said_words | statement.asked_words)
    alike = [cell for cell in one.names.cells if held <= one.names.words(cell)]
    fixed = one.names.has_row(one.cell, statement)
    column = [cell for cell in alike if cell.column == one.cell.column and not fixed]
    row = [cell for cell in alike if cell.row == one.cell.row]
    return _numbers(column), _numbers(row)


def _numbers(cells: Sequence[Cell]) -> list[Decimal]:
    """The first number of each cell that has one."""
    found = (next(numbers_in(cell.text), None) for cell in cells)
    return [number.signed for number in found if number is not None]
