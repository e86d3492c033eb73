"""The numbers that a statement gives, each with the words of its clause that say what it is the value of."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from paperscope.sentences import sentences
from query.numbers import Number, numbers_in, without_labels
from query.words import content_words

__all__ = ["Mention", "mentions"]

_ALONE = re.compile(r"\(\s*([-+]?[\d.,]*\d%?)\s*\)")
_BETWEEN = re.compile(
    r"[;:()]|,\s|\s(?:and|while|whereas|but|than|vs\.?|versus|against|compared (?:to|with))\s", re.IGNORECASE
)
_COUNT = re.compile(r"(?<![\w.])(\d{1,3})(?: of(?: the)? (\d{1,3}))?(?= (?:[^\W\d][\w-]* ){0,2}[^\W\d][\w-]*s\b)")


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
        clauses = _BETWEEN.split(_ALONE.sub(r" \1 ", plain))
        found = [(clause, list(numbers_in(clause))) for clause in clauses]
        sides = _sides([(clause, numbers[0]) for clause, numbers in found if len(numbers) == 1], telling)
        for clause, numbers in found:
            for number in numbers:
                named = sides.get(clause, "") if len(numbers) == 1 else ""
                yield Mention(number, named, number.text in counts)


def _sides(units: Sequence[tuple[str, Number]], telling: Set[str]) -> dict[str, str]:
    """Before or behind the number of each clause, whichever names all of them."""
    if len(units) < 2:
        return {}
    for side in (0, 2):
        named = {clause: clause.partition(number.text)[side] for clause, number in units}
        others = [clause.partition(number.text)[2 - side] for clause, number in units]
        if all(content_words(words) & telling for words in named.values()):
            ambiguous = side == 2 and any(content_words(words) & telling for words in others)
            return {} if ambiguous else named
    return {}
