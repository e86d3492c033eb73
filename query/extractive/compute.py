"""From the selected values to a statement: look-up, extremes, differences, gains, ratios, sums, counts."""

import re
from collections.abc import Callable, Sequence

from paperscope_core.types import Claim
from query.extractive.compare import compare, ratio
from query.extractive.extremes import extreme
from query.extractive.gains import gain_extreme, gains
from query.extractive.grid import Datum
from query.extractive.numbers import number_text
from query.extractive.phrase import claim, column_name, full_name, listed, row_name, table_name
from query.extractive.question import Question
from query.extractive.select import Selection
from query.extractive.words import likeness, tokens

__all__ = ["compute"]


# An answer that lists more values than this has not understood the question.
_MOST_VALUES = 6
_TOTALS = re.compile(r"\b(?:avg|average|mean|total|overall|all|sum)\b", re.IGNORECASE)
_COUNTED = re.compile(r"\b(?:how many|number of)\s+(?:different |distinct )?(?P<noun>[\w-]+)")

_Computation = Callable[[Question, Selection], Claim | None]


def compute(question: Question, selection: Selection) -> Claim | None:
    """The statement that answers the question from the selection; None where the values can't answer it."""
    if not selection.data:
        return None
    for computation in _computations(question, selection):
        found = computation(question, selection)
        if found is not None:
            return found
    return None


def _computations(question: Question, selection: Selection) -> tuple[_Computation, ...]:
    if selection.direct:
        return (_extreme, _look_up) if question.kind == "superlative" else (_look_up,)
    if question.kind == "superlative":
        return (gain_extreme,) if question.gain else (_extreme,)
    if question.kind == "gain":
        return (gains,) if question.baseline is None else (compare, gains)
    if question.kind in ("difference", "comparison"):
        return (compare, gains) if question.gain else (compare, _look_up)
    by_kind: dict[str, tuple[_Computation, ...]] = {
        "ratio": (ratio, _look_up),
        "sum": (_sum, _look_up),
        "average": (_average, _look_up),
        "count": (_count, _look_up),
        "look-up": (_look_up,),
    }
    if question.choices and question.kind == "look-up":
        return (compare,) if len(selection.mentions) > 2 else ()
    return by_kind.get(question.kind, ())


def _extreme(question: Question, selection: Selection) -> Claim | None:
    # What is best is best overall, where the table says so; what is highest is one value among the single ones.
    overall = [datum for datum in selection.data if any(_TOTALS.search(part.text) for part in datum.column)]
    best = question.direction == 0 and len({datum.row for datum in overall}) > 1
    return extreme(question, selection, data=overall if best else _single(selection))


def _single(selection: Selection) -> Sequence[Datum]:
    """The values without totals and averages, unless the question names those."""
    asked = {mention.part for mention in selection.mentions}
    parts = [datum for datum in selection.data if not any(_TOTALS.search(part.text) for part in datum.parts - asked)]
    return parts or selection.data


def _look_up(_question: Question, selection: Selection) -> Claim | None:
    data = selection.data
    if not selection.mentions or len(data) > _MOST_VALUES:
        return None
    name = table_name(selection.view.table)
    rows, columns = {row_name(datum) for datum in data}, {column_name(datum) for datum in data}
    if len(data) == 1:
        text = f"In {name}, {_says(data[0])}."
    elif len(rows) == 1 and rows != {""}:
        values = listed([f"{datum.value.text} under {column_name(datum)}" for datum in data])
        text = f"In {name}, {rows.pop()} has {values}."
    elif len(columns) == 1 and columns != {""}:
        values = listed([f"{row_name(datum)} has {datum.value.text}" for datum in data])
        text = f"In {name}, under {columns.pop()}, {values}."
    else:
        text = f"In {name}, " + listed([_says(datum) for datum in data]) + "."
    return claim(text, selection.view.table, data)


def _says(datum: Datum) -> str:
    row, column = row_name(datum), column_name(datum)
    if row and column:
        return f"{row} has {datum.value.text} under {column}"
    return f"{row or column} is {datum.value.text}"


def _sum(_question: Question, selection: Selection) -> Claim | None:
    return _aggregate(selection, mean=False)


def _average(_question: Question, selection: Selection) -> Claim | None:
    return _aggregate(selection, mean=True)


def _aggregate(selection: Selection, *, mean: bool) -> Claim | None:
    data = [datum for datum in _single(selection) if datum.value.number is not None]
    one_line = len({datum.row for datum in data}) == 1 or len({datum.column for datum in data}) == 1
    if len(data) < 2 or not one_line or not selection.mentions:
        return None
    numbers = [datum.number for datum in data]
    decimals = max(datum.value.decimals for datum in data)
    total = sum(numbers)
    terms = " + ".join(number_text(number, decimals) for number in numbers)
    shown = f"({terms}) / {len(data)}" if mean else terms
    value = number_text(total / len(data) if mean else total, decimals + mean)
    what = "average" if mean else "sum"
    names = listed([full_name(datum) for datum in data])
    text = f"In {table_name(selection.view.table)}, the {what} for {names} is {shown} = {value}."
    return claim(text, selection.view.table, data)


def _count(question: Question, selection: Selection) -> Claim | None:
    match = _COUNTED.search(question.text.casefold())
    if match is None:
        return None
    noun = match["noun"]
    corners = {token.text for corner in selection.view.corners for token in tokens(corner)}
    if likeness(noun, "rows") == 0 and not any(likeness(noun, corner) > 0.7 for corner in corners):
        return None
    rows = dict.fromkeys(row_name(datum) for datum in selection.data)
    first = list({datum.row: datum for datum in selection.data}.values())
    text = f"In {table_name(selection.view.table)}, there are {len(rows)} {noun}: {listed(list(rows))}."
    return claim(text, selection.view.table, first)
