"""The highest, lowest, best or n-th of the selected values."""

from collections import Counter
from collections.abc import Iterable, Sequence

from paperscope.types import Claim
from query.embedded.grid import Datum, Part
from query.embedded.phrase import claim, column_name, listed, part_names, row_name, table_name
from query.embedded.polarity import better_direction
from query.embedded.question import Question
from query.embedded.select import Selection
from query.embedded.words import likeness, tokens

__all__ = ["extreme", "ranked", "superlative"]

# So many equal winners say that the wrong values were compared.
_MOST_WINNERS = 3
_ORDINALS = {1: "", 2: "second ", 3: "third ", 4: "fourth ", 5: "fifth "}


def extreme(question: Question, selection: Selection, *, data: Sequence[Datum]) -> Claim | None:
    """The extreme value with the names that set it apart; None where fewer than two numbers are at hand.

    Where several measures remain and a row is asked for, each is taken for itself, and the row that leads most wins.
    """
    numbers = [datum for datum in data if datum.value.number is not None]
    if len({datum.value.number for datum in numbers}) < 2:
        return None
    table = selection.view.table
    columns = {datum.column for datum in numbers}
    if len(columns) > 1 and (len({datum.row for datum in numbers}) > 1 or _asks_for_row(question, selection)):
        leaders = [
            winner
            for column in dict.fromkeys(datum.column for datum in numbers)
            if (winner := _leader(question, column, numbers))
        ]
        return _leading(question, selection, leaders) if leaders else None
    winners = ranked(question, numbers, [_number(datum) for datum in numbers], caption=table.caption)
    if not 0 < len(winners) <= _MOST_WINNERS:
        return None
    fixed = frozenset.intersection(*(datum.parts for datum in numbers))
    value = winners[0].value.text
    scope = _scope(winners[0], fixed)
    names = listed([part_names(_varying(winner, fixed)) for winner in winners])
    text = f"{names} has the {superlative(question)} value{scope} in {table_name(table)}: {value} (of {len(numbers)} values)."
    return claim(text, table, winners)


def superlative(question: Question) -> str:
    """ "highest", "second lowest", "best" …"""
    plain = {1: "highest", -1: "lowest", 0: "best" if question.best else "worst"}[question.direction]
    return _ORDINALS.get(question.rank, "") + plain


def ranked(question: Question, data: Sequence[Datum], numbers: Sequence[float], *, caption: str) -> list[Datum]:
    """The data whose number comes at the asked rank; ties come together."""
    direction = question.direction
    if direction == 0:
        direction = better_direction(data[0], caption=caption) * (1 if question.best else -1)
    order = sorted(set(numbers), reverse=direction > 0)
    if question.rank > len(order):
        return []
    wanted = order[question.rank - 1]
    return [datum for datum, number in zip(data, numbers, strict=True) if number == wanted]


def _number(datum: Datum) -> float:
    return datum.value.number if datum.value.number is not None else 0.0


def _asks_for_row(question: Question, selection: Selection) -> bool:
    if "row" in {axis for axis, level in selection.levels() if level != "section"}:
        return False
    corners = [token.text for corner in selection.view.corners for token in tokens(corner)]
    asked = [word.text for word in question.words[:6]]
    return any(likeness(word, corner) > 0.7 for word in asked for corner in corners)


def _leader(question: Question, column: tuple[Part, ...], numbers: Sequence[Datum]) -> list[Datum]:
    data = [datum for datum in numbers if datum.column == column]
    return ranked(question, data, [_number(datum) for datum in data], caption="") if len(data) > 1 else []


def _leading(question: Question, selection: Selection, leaders: Sequence[Sequence[Datum]]) -> Claim:
    counts = Counter(row_name(winner) for winners in leaders for winner in winners)
    name, count = counts.most_common(1)[0]
    cells = [winner for winners in leaders for winner in winners if row_name(winner) == name]
    values = listed([f"{datum.value.text} under {column_name(datum)}" for datum in cells])
    table = selection.view.table
    text = f"In {table_name(table)}, {name} has the {superlative(question)} value in {count} of {len(leaders)} columns: {values}."
    return claim(text, table, cells)


def _varying(datum: Datum, fixed: frozenset[Part]) -> Iterable[Part]:
    return [part for part in (*datum.row, *datum.column) if part not in fixed]


def _scope(datum: Datum, fixed: frozenset[Part]) -> str:
    rows = part_names(part for part in datum.row if part in fixed and part.level != "section")
    sections = [part.text for part in datum.row if part in fixed and part.level == "section"]
    columns = " ".join((*sections, *(part.text for part in datum.column if part in fixed)))
    return (f" under {columns}" if columns else "") + (f" for {rows}" if rows else "")
