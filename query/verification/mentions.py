"""The numbers that a statement gives, each with the words of its clause that say what it is the value of."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from paperscope.sentences import sentences
from query.cell_names import without_citations
from query.numbers import Number, numbers_in, without_labels
from query.words import content_words

__all__ = ["Mention", "mentions"]

_ALONE = re.compile(r"\(\s*([-+]?[\d.,]*\d%?)\s*\)")
_BETWEEN = re.compile(
    r"[;:()]|,\s|\s(?:and|while|whereas|but|than|vs\.?|versus|against|compared (?:to|with))\s", re.IGNORECASE
)
_COUNT = re.compile(
    r"(?i)\bthere (?:are|were) (?P<all>\d{1,3})\b|(?<![\w.])(?P<some>\d{1,3}) of (?:the )?(?P<most>\d{1,3})(?![\w.])"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A number; `named` are the words of its clause that name it, "" where they can't be told; `counts` tells that it
    counts things ("3 of 4 columns")."""

    number: Number
    named: str = ""
    counts: bool = False


def mentions(text: str, *, telling: Set[str]) -> Iterator[Mention]:
    """The numbers of a text in order; `telling` are the words that tell the values apart which it may speak of.

    Clauses name their numbers if each that gives a single one has telling words before it ("A has 1 and B has 2"), or
    each behind it ("1 for A and 2 for B"); in "P and R are 1 and 2" none can be told.
    """
    for sentence in sentences(text):
        plain = without_labels(sentence)
        counts = {digits for match in _COUNT.finditer(plain) for digits in match.groups() if digits}
        clauses = _BETWEEN.split(_ALONE.sub(r" \1 ", without_citations(plain)))
        found = [(clause, list(numbers_in(clause))) for clause in clauses]
        values = [(clause, [one for one in numbers if one.text not in telling]) for clause, numbers in found]
        sides = _sides([(clause, numbers) for clause, numbers in values if numbers], telling)
        for clause, numbers in found:
            first = next((one for one in numbers if one.text not in telling), None)
            for number in numbers:
                yield Mention(number, sides.get(clause, "") if number is first else "", number.text in counts)


def _sides(units: Sequence[tuple[str, Sequence[Number]]], telling: Set[str]) -> dict[str, str]:
    """The words before the first number of each clause, where all have telling ones there; those behind it, where each
    gives one number and none has any before it. Clauses of several numbers without a name are passed over."""
    parts = [(clause, clause.partition(numbers[0].text), len(numbers)) for clause, numbers in units]
    before = {clause: bool(content_words(part[0]) & telling) for clause, part, _ in parts}
    behind = {clause: bool(content_words(part[2]) & telling) for clause, part, _ in parts}
    named = [(clause, part[0]) for clause, part, count in parts if count == 1 or before[clause]]
    if len(named) > 1 and all(before[clause] for clause, _ in named):
        return dict(named)
    alone = len(parts) > 1 and all(count == 1 for *_, count in parts)
    if alone and all(behind.values()) and not any(before.values()):
        return {clause: part[2] for clause, part, _ in parts}
    return {}
