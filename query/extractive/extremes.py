"""The highest, lowest, best or n-th of the selected values."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

from paperscope_core.types import Claim
from query.extractive.grid import Datum, Part
from query.extractive.phrase import claim, column_name, listed, part_names, row_name, table_name
from query.extractive.polarity import better_direction
from query.extractive.question import Question
from query.extractive.select import Selection

__all__ = ["extreme", "ranked", "superlative"]


_Item = TypeVar("_Item")
# So many equal winners say that the wrong values were compared.
_MOST_WINNERS = 3
_ORDINALS = {1: "", 2: "second ", 3: "third ", 4: "fourth ", 5: "fifth "}


def extreme(question: Question, selection: Selection, *, data: Sequence[Datum]) -> Claim | None:
    """The extreme value with the names that set it apart; None where fewer than two numbers are at hand.

    Where rows and columns both vary, the columns may measure different things: each is taken for itself, and the row
    that leads in most of them is the answer.
    """
    numbers = [datum for datum in data if datum.value.number is not None]
    if len({datum.value.number for datum in numbers}) < 2:
        return None
    table = selection.view.table
    columns = {datum.column for datum in numbers}
    if len(columns) > 1 and len({datum.row for datum in numbers}) > 1:
        return _leading(question, selection, numbers)
    winners = _ranked(question, numbers, caption=table.caption)
    if not 0 < len(winners) <= _MOST_WINNERS:
        return None
    fixed = frozenset.intersection(*(datum.parts for datum in numbers))
    names = listed([part_names(_varying(winner, fixed)) for winner in winners])
    found = f"{names} has the {superlative(question)} value{_scope(winners[0], fixed)} in {table_name(table)}"
    return claim(f"{found}: {winners[0].value.text}.", table, winners)


def superlative(question: Question) -> str:
    """ "highest", "second lowest", "best" …"""
    plain = {1: "highest", -1: "lowest", 0: "best" if question.best else "worst"}[question.direction]
    return _ORDINALS.get(question.rank, "") + plain


def ranked(items: Sequence[_Item], numbers: Sequence[float], *, direction: int, rank: int) -> list[_Item]:
    """The items whose number comes at a rank from the top (`direction` 1) or the bottom (-1); ties come together."""
    order = sorted(set(numbers), reverse=direction > 0)
    if rank > len(order):
        return []
    return [item for item, number in zip(items, numbers, strict=True) if number == order[rank - 1]]


def _ranked(question: Question, data: Sequence[Datum], *, caption: str) -> list[Datum]:
    better = better_direction(data[0], caption=caption) * (1 if question.best else -1)
    numbers = [datum.number for datum in data]
    return ranked(data, numbers, direction=question.direction or better, rank=question.rank)


def _leading(question: Question, selection: Selection, numbers: Sequence[Datum]) -> Claim | None:
    columns = dict.fromkeys(datum.column for datum in numbers)
    leaders = [winner for column in columns for winner in _leaders(question, column, numbers)]
    if not leaders:
        return None
    name, count = Counter(row_name(winner) for winner in leaders).most_common(1)[0]
    cells = [winner for winner in leaders if row_name(winner) == name]
    values = listed([f"{datum.value.text} under {column_name(datum)}" for datum in cells])
    table = selection.view.table
    found = f"In {table_name(table)}, {name} has the {superlative(question)} value in {count} of {len(columns)} columns"
    return claim(f"{found}: {values}.", table, cells)


def _leaders(question: Question, column: tuple[Part, ...], numbers: Sequence[Datum]) -> list[Datum]:
    data = [datum for datum in numbers if datum.column == column]
    return _ranked(question, data, caption="")


def _varying(datum: Datum, fixed: frozenset[Part]) -> Iterable[Part]:
    return [part for part in (*datum.row, *datum.column) if part not in fixed]


def _scope(datum: Datum, fixed: frozenset[Part]) -> str:
    rows = part_names(part for part in datum.row if part in fixed and part.level != "section")
    sections = [part.text for part in datum.row if part in fixed and part.level == "section"]
    columns = " ".join((*sections, *(part.text for part in datum.column if part in fixed)))
    return (f" under {columns}" if columns else "") + (f" for {rows}" if rows else "")
