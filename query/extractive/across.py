"""Two values that stand in two tables: "A on X compared to Y", where X and Y are columns of different tables."""

from collections.abc import Sequence
from itertools import combinations

from paperscope_core.types import Claim
from query.extractive.numbers import number_text
from query.extractive.phrase import claim, full_name, table_name
from query.extractive.question import Question
from query.extractive.select import Selection
from query.extractive.table_reading import TableReading

__all__ = ["compare_across"]


def compare_across(question: Question, selections: Sequence[Selection]) -> TableReading | None:
    """The difference of two single values from different tables that share all but one level of the question.

    None unless each table holds exactly one value under its mentions, each lacks a name that the other holds, and
    together they hold all the names of the question.
    """
    if question.kind not in ("difference", "comparison"):
        return None
    single = [selection for selection in selections if _single(selection)]
    for one, other in combinations(sorted(single, key=_first), 2):
        together = _words(one) | _words(other)
        lacking = _words(other) - _words(one) and _words(one) - _words(other)
        if lacking and _words(one) & _words(other) and question.names <= together:
            return TableReading(claim=_claim(one, other), tables=(one.view.table, other.view.table), coverage=1.0)
    return None


def _single(selection: Selection) -> bool:
    return len(selection.data) == 1 and len(selection.axes()) == 2 and selection.data[0].value.number is not None


def _words(selection: Selection) -> frozenset[int]:
    return frozenset(index for mention in selection.mentions for index in mention.at)


def _first(selection: Selection) -> int:
    """Where in the question the words begin that tell this table's value from the other's: its column's."""
    return min(mention.first for mention in selection.mentions if mention.part.axis == "column")


def _claim(one: Selection, other: Selection) -> Claim:
    first, second = one.data[0], other.data[0]
    numbers = (first.number, second.number)
    decimals = max(first.value.decimals, second.value.decimals)
    high, low = (number_text(number, decimals) for number in sorted(numbers, reverse=True))
    shown = number_text(abs(numbers[0] - numbers[1]), decimals)
    way = "higher" if numbers[0] > numbers[1] else "lower"
    names = [f"{full_name(item.data[0])} ({table_name(item.view.table)})" for item in (one, other)]
    text = (
        f"{names[0]} is {first.value.text} and {names[1]} is {second.value.text}: "
        f"the first is {way} by {shown} ({high} − {low} = {shown})."
    )
    evidence = (*claim("", one.view.table, (first,)).evidence, *claim("", other.view.table, (second,)).evidence)
    return Claim(text=text, evidence=evidence)
