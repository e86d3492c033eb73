"""One named value against another: comparisons, differences and ratios."""

import re
from collections.abc import Sequence

from paperscope_core.types import Claim
from query.extractive.numbers import number_text
from query.extractive.pairs import Pair, named_pairs
from query.extractive.phrase import claim, part_names, table_name
from query.extractive.polarity import better_direction
from query.extractive.question import Question
from query.extractive.select import Selection

__all__ = ["compare", "decides", "ratio"]


_MOST_PAIRS = 4
_YES, _NO = "Yes. ", "No. "
_LESS = re.compile(r"\b(?:lower|less|smaller|fewer|shorter|below|worse)\b")
_QUALITY = re.compile(r"\b(?:better|worse|outperform\w*|beats?|surpass\w*)\b")


def compare(question: Question, selection: Selection) -> Claim | None:
    """How the first of two named values stands to the second; None where no pair is named."""
    pairs = named_pairs(question, selection)
    if not 0 < len(pairs) <= _MOST_PAIRS:
        return None
    table = selection.view.table
    told = " ".join(f"In {table_name(table)}, {pair.told()}." for pair in pairs)
    text = f"{_verdict(question, pairs)}{told}"
    return claim(text, table, [datum for pair in pairs for datum in (pair.one, pair.other)])


def decides(text: str) -> bool:
    """Whether a statement says yes or no before it gives its values."""
    return text.startswith((_YES, _NO))


def ratio(question: Question, selection: Selection) -> Claim | None:
    """The first of two named values divided by the second."""
    pairs = [pair for pair in named_pairs(question, selection) if pair.other.number]
    if len(pairs) != 1:
        return None
    pair, table = pairs[0], selection.view.table
    one, other = pair.names
    shared = part_names(part for part in (*pair.one.row, *pair.one.column) if part in pair.other.parts)
    scope = f" for {shared}" if shared else ""
    division = (
        f"{pair.one.value.text} / {pair.other.value.text} = {number_text(pair.one.number / pair.other.number, 2)}"
    )
    text = f"In {table_name(table)}, the ratio of {one.text} to {other.text}{scope} is {division}."
    return claim(text, table, (pair.one, pair.other))


def _verdict(question: Question, pairs: Sequence[Pair]) -> str:
    """ "Yes. " or "No. " for a question that asks for it of one pair, else nothing."""
    if len(pairs) != 1 or question.choices or not question.polar:
        return ""
    asked = question.text.casefold()
    wanted = -1 if _LESS.search(asked) else 1
    if _QUALITY.search(asked):
        wanted *= better_direction(pairs[0].one)
    return _YES if pairs[0].difference * wanted > 0 else _NO
