"""Two values that differ in one name only, and how one stands to the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from query.extractive.grid import Datum, Part
from query.extractive.numbers import number_text
from query.extractive.phrase import part_names
from query.extractive.question import Question
from query.extractive.select import Level, Selection

__all__ = ["Pair", "matched", "named_pairs", "plain", "rest"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two numbers that differ in the `names` only: the first one's and the other one's."""

    one: Datum
    other: Datum
    names: tuple[Part, Part]

    @property
    def difference(self) -> float:
        """The first less the other, rounded to the digits printed."""
        return round(self.one.number - self.other.number, self.decimals)

    @property
    def decimals(self) -> int:
        """The digits after the point that a computed number deserves."""
        return max(self.one.value.decimals, self.other.value.decimals)

    def subtraction(self) -> str:
        """ "94.90 − 94.37 = 0.53": the smaller from the greater."""
        low, high = sorted((self.one, self.other), key=lambda datum: datum.number)
        return f"{plain(high)} − {plain(low)} = {number_text(abs(self.difference), self.decimals)}"

    def told(self) -> str:
        """Both values and their difference as a clause, without a full stop."""
        one, other = self.names
        scope = part_names(part for part in (*self.one.row, *self.one.column) if part in self.other.parts)
        told = f"{one.text} has {self.one.value.text} and {other.text} has {self.other.value.text}"
        told = f"for {scope}, {told}" if scope else told
        if self.difference == 0:
            return f"{told}: they are equal"
        way = "higher" if self.difference > 0 else "lower"
        amount = number_text(abs(self.difference), self.decimals)
        return f"{told}: {one.text} is {way} by {amount} ({self.subtraction()})"


def named_pairs(question: Question, selection: Selection) -> list[Pair]:
    """The pairs between the two names of one level that the question mentions, in its order; none for more or fewer."""
    for level, mentions in selection.levels().items():
        names = list(dict.fromkeys(mention.part for mention in mentions))
        if len(names) == 2 and mentions[0].at != mentions[-1].at:
            # "Compared to BERT, how much better is XLNet?" begins with the standard of comparison.
            turned = question.baseline is not None and question.words[0].text in ("compared", "relative", "against")
            one, other = reversed(names) if turned else names
            return matched(one, other, level, selection.data)
    return []


def matched(one: Part, other: Part, level: Level, data: Sequence[Datum]) -> list[Pair]:
    """The pairs of numbers that carry `one` and `other` and agree in all names of other levels."""
    others = {rest(datum, level): datum for datum in data if other in datum.parts and datum.value.number is not None}
    ones = [datum for datum in data if one in datum.parts and datum.value.number is not None]
    found = [(datum, others.get(rest(datum, level))) for datum in ones]
    return [Pair(one=datum, other=match, names=(one, other)) for datum, match in found if match is not None]


def rest(datum: Datum, level: Level) -> frozenset[Part]:
    """A value's names of other levels; notes in its row say more of the row, and don't part it from others."""
    return frozenset(part for part in datum.parts if (part.axis, part.level) != level and not part.note)


def plain(datum: Datum) -> str:
    """The number as printed, without its annotation."""
    return datum.value.text.partition("(")[0].strip()
