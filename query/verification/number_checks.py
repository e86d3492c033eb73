"""Checks each number of a statement against its evidence."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Check
from query.cells import Statement, without_citations
from query.numbers import Number, numbers_in, without_labels
from query.verification.arithmetic import Operand, agrees, computed
from query.verification.cited import Printed, Scope
from query.words import content_words

__all__ = ["Mention", "check_numbers", "mentions"]


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
    for sentence in split_sentences(text):
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


# A text with more numbers than this is no operand: among so many, some pair gives almost any result.
_MOST_OPERANDS = 12
_MOST_SUPPORT = 3
# A minus before one of these says twice that it is less, or contradicts it.
_TWICE = re.compile(
    r"(?i)\s*(?:%|percent|(?:percentage )?points?)?\s*"
    r"(?:lower|higher|less|more|fewer|greater|larger|smaller|better|worse)\b"
)
_BY = re.compile(
    r"(?i)\b(?:lower|higher|less|more|smaller|larger|better|worse|drop\w*|f[ae]ll\w*|decreas\w*|increas\w*|improv\w*|"
    r"reduc\w*|exceed\w*|outperform\w*|beats?)\b[^.;]*\sby\s+$"
)
_HOW_MANY = re.compile(r"(?i)\bhow many\b|\bnumber of\b")


def check_numbers(text: str, scope: Scope, *, question: str) -> Iterator[tuple[Check, str]]:
    """A check for each number that the text gives, in order, and a warning for it, "" where all is well."""
    judge = _Judge(text, scope, question)
    found = [(mention, judge.printed(mention)) for mention in mentions(text, telling=scope.telling)]
    for mention, check in found:
        yield (check, "") if check is not None else judge.derived(mention)


class _Judge:
    def __init__(self, text: str, scope: Scope, question: str) -> None:
        self._scope = scope
        self._question = question
        self._plain = without_labels(text)
        self._words = f"{text}\n{question}"
        self._statement = Statement.of(text, question=question)
        self._asked = [Operand(number, None) for number in numbers_in(question, spelled=True)]
        self._stated: list[Operand] = []
        self._operands = [*_few(scope.printed), *_few(scope.named), *self._asked]

    def printed(self, mention: Mention) -> Check | None:
        """A check where the evidence prints the number, or the question gives it."""
        number = mention.number
        fitting = [one for one in self._same(mention) if self._fits(mention, one)]
        if fitting:
            if any(one.part != "name" for one in fitting):
                self._stated.append(Operand(number, fitting[0].evidence))
            support = tuple(dict.fromkeys(one.evidence for one in fitting))[:_MOST_SUPPORT]
            return Check(number=number.text, finding="printed", support=support)
        if any(agrees(number, asked.number, said="minus", around="") for asked in self._asked):
            return Check(number=number.text, finding="asked")
        return None

    def derived(self, mention: Mention) -> tuple[Check, str]:
        """A check of a number that is not printed; to be asked once all that are printed are known."""
        check = self._computed(mention) or self._counted(mention)
        if check is not None:
            return check, ""
        unsupported = Check(number=mention.number.text, finding="unsupported")
        return unsupported, _warning(mention, self._same(mention))

    def _same(self, mention: Mention) -> list[Printed]:
        return [one for one in self._scope.printed if self._agrees(mention, one)]

    def _agrees(self, mention: Mention, one: Printed) -> bool:
        around = "" if one.cell is not None else one.evidence.quote
        return agrees(mention.number, one.number, said=self._words, around=around)

    def _fits(self, mention: Mention, one: Printed) -> bool:
        if one.cell is None or one.names is None:
            return True
        if not one.names.fits(one.cell, self._statement):
            return False
        return not mention.named or one.names.fits(one.cell, Statement.of(mention.named))

    def _computed(self, mention: Mention) -> Check | None:
        before, _, behind = self._plain.partition(mention.number.text)
        if mention.number.sign == "-" and (_TWICE.match(behind) or _BY.search(before)):
            return None
        sets = (self._stated, self._main(self._scope.printed), self._main(self._scope.named))
        operands = [*self._stated, *self._operands]
        found = computed(mention.number, operands, words=self._words, sets=sets)
        if found is None:
            return None
        support = tuple(dict.fromkeys(operand.evidence for operand in found.operands if operand.evidence))
        return Check(number=mention.number.text, finding="computed", formula=found.formula, support=support)

    def _main(self, printed: Sequence[Printed]) -> list[Operand]:
        """The first number of each cell."""
        cells = {(one.evidence.element, one.evidence.place): one for one in reversed(printed) if one.cell is not None}
        return [Operand(one.number, one.evidence) for one in reversed(cells.values())]

    def _counted(self, mention: Mention) -> Check | None:
        """A count of what is cited, or of the rows or columns of a cited table that hold values."""
        if not mention.counts and not (mention.number.unit == 1 and _HOW_MANY.search(self._question)):
            return None
        cited = {one.evidence for one in self._scope.printed if one.cell is not None}
        counts = {len(cited): "cells cited"}
        for table in self._scope.tables:
            cells = [cell for cell in table.cells if cell.role == "value"]
            name = table.label or "the table"
            counts.setdefault(len({cell.row for cell in cells}), f"rows of {name}")
            counts.setdefault(len({cell.column for cell in cells}), f"columns of {name}")
        counted = counts.get(int(mention.number.value)) if mention.number.unit == 1 else None
        if counted is None:
            return None
        formula = f"{mention.number.text} = number of {counted}"
        support = tuple(self._scope.evidence)
        return Check(number=mention.number.text, finding="computed", formula=formula, support=support)


def _few(printed: Sequence[Printed]) -> list[Operand]:
    chosen = [one for one in printed if one.part == "cited"]
    return [Operand(one.number, one.evidence) for one in chosen] if len(chosen) <= _MOST_OPERANDS else []


def _warning(mention: Mention, same: Sequence[Printed]) -> str:
    text = mention.number.text
    if same and same[0].cell is not None and same[0].names is not None:
        where = " ".join(same[0].names.heads(same[0].cell).split())
        return f"the number {text} stands under {where!r}, which is not what the answer says of it"
    return f"the number {text} is not in the cited evidence, nor does it follow from numbers there"
