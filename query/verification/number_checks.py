"""Checks each number of a statement against its evidence."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, islice, pairwise

from paperscope_core.cancellation import check_cancelled
from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Cell, Check, Evidence, Finding
from query.cells import CellNames, Statement, name_spans, without_citations
from query.content_words import content_words, without_quotations
from query.numbers import Number, numbers_in, placed_numbers, without_labels
from query.verification.arithmetic import Computation, Computations, NumberIndex, Operand, Wording, is_printed_so
from query.verification.cited import CitedEvidence, PrintedNumber
from query.verification.lists import counted_lists, list_sizes, without_enumerators
from query.verification.written_formulas import Formulas

__all__ = ["NumberMention", "check_numbers", "find_mentions"]

_ALONE = re.compile(r"\(\s*([-+]?[\d.,]*\d%?)\s*\)")
_BETWEEN = re.compile(
    r"[;:()]|,\s|\s(?:and|while|whereas|but|than|vs\.?|versus|against|compared (?:to|with))\s", re.IGNORECASE
)
_DIGITS = r"[-+]?\d[\d.,]*(?:\s?%)?"
# A value with its deviation, error or interval: "54.1 years (SD 8.2)", "7.1 ± 0.3", "1.45 (95% CI 1.10-1.91)".
_QUALIFIED = re.compile(
    rf"(?<![\w.,])(?P<main>{_DIGITS})\s?(?:[^\W\d_]{{1,12}}\s?)?(?:(?:±|\+/-)\s?(?P<error>{_DIGITS})|"
    rf"[(\[]\s*(?P<inner>(?:(?:\d\d\s?%\s?)?[^\W\d_]{{1,12}}\.?[\s:=,]*)?{_DIGITS}(?:\s?(?:-|to|,)\s?{_DIGITS})?)\s*[)\],;])"
)
_JOINING = (",", "and")
_COUNT = re.compile(
    r"(?i)\bthere (?:are|were) (?P<all>\d{1,3})\b|(?<![\w.])(?P<some>\d{1,3}) of (?:the )?(?P<most>\d{1,3})(?![\w.])"
)
_MOST_SUPPORT = 3
# More derived or stated numbers are not computed with one another: some pair of many gives almost any result.
_MOST_DERIVED = 4
_MOST_STATED = 12
_MOST_LINES = 12
# A minus sign before one of these is redundant or contradicts it.
_TWICE = re.compile(
    r"(?i)\s*+(?:%|percent|(?:percentage )?points?)?\s*+"
    r"(?:lower|higher|less|more|fewer|greater|larger|smaller|better|worse)\b"
)
_BY = re.compile(
    r"(?i)\b(?:lower|higher|less|more|smaller|larger|better|worse|drop\w*|f[ae]ll\w*|decreas\w*|increas\w*|improv\w*|"
    r"reduc\w*|exceed\w*|outperform\w*|beats?)\b[^.;]*\sby\s+$"
)
# How much of the text before a number is read for a comparison.
_LONGEST_CLAUSE = 300
_HOW_MANY = re.compile(r"(?i)\bhow many\b|\bnumber of\b")


@dataclass(frozen=True, slots=True)
class NumberMention:
    """A number in a statement. `named` are the words of its clause that name it, "" if they are ambiguous; `counts` is
    true for a count ("3 of 4 columns"); `main` is the value that it qualifies ("54.1" for the 8.2 of "54.1 (8.2)")."""

    number: Number
    named: str = ""
    counts: bool = False
    main: Number | None = None


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause with the numbers that are no parts of names, and their places in the sentence."""

    sentence: str
    start: int
    end: int
    numbers: Sequence[tuple[Number, int, int]]

    @property
    def before(self) -> str:
        """The text before the first number."""
        return self.sentence[self.start : self.numbers[0][1]]

    @property
    def behind(self) -> str:
        """The text behind the first number."""
        return self.sentence[self.numbers[0][2] : self.end]


def find_mentions(text: str, *, telling: Set[str], names: Set[str] = frozenset()) -> Iterator[NumberMention]:
    """Yield the numbers of a text with the words that name them. Numbers within names are skipped.

    A number in brackets after a name belongs to it: "A (1) and B (2)". Clauses name their numbers if each clause with
    one number has distinctive words before it ("A has 1 and B has 2"), or each after it ("1 for A and 2 for B"); "P and
    R are 1 and 2" is ambiguous.

    Args:
        telling: Words that distinguish the values that the statement may refer to.
        names: The names of values, in the form of `name_form`.
    """
    for sentence in split_sentences(text):
        counts = {digits for match in _COUNT.finditer(without_labels(sentence)) for digits in match.groups() if digits}
        plain = " ".join(without_labels(without_citations(sentence)).split())
        folded = plain.casefold()
        spans = name_spans(folded, names) if len(folded) == len(plain) else []
        clauses = list(_clauses(plain, spans, names))
        held = _held(plain, clauses, {end for _, end in spans})
        values = [
            replace(clause, numbers=numbers)
            for clause in clauses
            if (numbers := [one for one in clause.numbers if one[0].text not in telling])
        ]
        sides = _sides(values, telling) | held
        placed = list(chain.from_iterable(clause.numbers for clause in clauses))
        mains = _mains(plain, placed)
        for number, at, _ in placed:
            yield NumberMention(number, sides.get(at, ""), number.text in counts, mains.get(at))


def _mains(plain: str, placed: Sequence[tuple[Number, int, int]]) -> dict[int, Number]:
    """Return the values that numbers qualify ("54.1" of "54.1 (8.2)"), by the places of these numbers."""
    starts = [start for _, start, _ in placed]
    found: dict[int, Number] = {}
    for match in _QUALIFIED.finditer(plain):
        start, end = match.span("error" if match["error"] else "inner")
        at = bisect_left(starts, match.start("main"))
        if at < len(starts) and starts[at] == match.start("main"):
            found |= dict.fromkeys(starts[bisect_left(starts, start) : bisect_left(starts, end)], placed[at][0])
    return found


def _clauses(plain: str, spans: Sequence[tuple[int, int]], names: Set[str]) -> Iterator[_Clause]:
    """Yield the clauses of a sentence; they end neither within its names, nor between names ("A and B need 3"), nor at
    the brackets of a single number."""
    alone = [match.span() for match in _ALONE.finditer(plain)]
    kept = sorted([*spans, *alone])
    numbers = _outside(list(placed_numbers(plain)), spans)
    ends = [match.span() for match in _BETWEEN.finditer(plain)]
    cuts = [(0, 0), *_outside_spans(ends, kept), (len(plain), len(plain))]
    at = 0
    since: int | None = None
    for (_, start), (end, behind) in pairwise(cuts):
        since = start if since is None else since
        if plain[end:behind].strip().casefold() in _JOINING and plain[start:end].strip().casefold() in names:
            continue
        inside: list[tuple[Number, int, int]] = []
        while at < len(numbers) and numbers[at][1] < end:
            inside.append(numbers[at])
            at += 1
        yield _Clause(plain, since, end, inside)
        since = None


def _outside(
    placed: Sequence[tuple[Number, int, int]], spans: Sequence[tuple[int, int]]
) -> list[tuple[Number, int, int]]:
    """Return the numbers outside the spans."""
    free = set(_outside_spans([(start, end) for _, start, end in placed], spans))
    return [one for one in placed if (one[1], one[2]) in free]


def _outside_spans(found: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans that overlap none of the others; both are in order."""
    starts = [start for start, _ in spans]
    for start, end in found:
        at = bisect_left(starts, end) - 1
        if at < 0 or spans[at][1] <= start:
            yield start, end


def _held(plain: str, clauses: Sequence[_Clause], names_end: Set[int]) -> dict[int, str]:
    """Return the words before each number in brackets after a name, back to the number before it, by the number's
    place."""
    found: dict[int, str] = {}
    for clause in clauses:
        since = clause.start
        for _, start, end in clause.numbers:
            before = plain[since:start]
            opened = before.rstrip("( ")
            if "(" in before[len(opened) :] and since + len(opened) in names_end:
                found[start] = opened
            since = end
    return found


def _sides(clauses: Sequence[_Clause], telling: Set[str]) -> dict[int, str]:
    """Return the words before the first number of each clause, if all have distinctive ones there; else the words after
    it, if each clause has one number and no distinctive words before it; by the number's place. Clauses of several
    unnamed numbers are skipped."""
    before = [bool(content_words(clause.before) & telling) for clause in clauses]
    named = [clause for clause, has in zip(clauses, before, strict=True) if has or len(clause.numbers) == 1]
    if len(named) > 1 and all(content_words(clause.before) & telling for clause in named):
        return {clause.numbers[0][1]: clause.before for clause in named}
    alone = len(clauses) > 1 and all(len(clause.numbers) == 1 for clause in clauses)
    if alone and not any(before) and all(content_words(clause.behind) & telling for clause in clauses):
        return {clause.numbers[0][1]: clause.behind for clause in clauses}
    return {}


def check_numbers(text: str, scope: CitedEvidence, *, question: str) -> Iterator[tuple[Check, Finding | None]]:
    """Yield a check for each number of the text, in order, with a finding if it is not supported."""
    judge = _NumberChecker(text, scope, question)
    # The numbers of listed items are no quantities.
    quantities = without_enumerators(text)
    found = [
        (mention, judge.printed(mention))
        for mention in find_mentions(quantities, telling=scope.telling, names=scope.names)
    ]
    judge.read_formulas(quantities, [mention.number for mention, _ in found])
    for mention, check in found:
        check_cancelled()
        if check is None:
            yield judge.derived(mention)
        else:
            judge.pass_printed(mention)
            yield check, None


class _NumberChecker:
    def __init__(self, text: str, scope: CitedEvidence, question: str) -> None:
        self._scope = scope
        self._question = question
        self._text = text
        self._plain = without_labels(text)
        self._words = f"{text}\n{without_quotations(question)}"
        self._wording = Wording.of(self._words)
        self._statement = Statement.of(text, question=question)
        self._asked = NumberIndex(list(numbers_in(question, spelled=True)))
        self._stated: list[Operand] = []
        self._told: set[tuple[str, str] | None] = set()
        self._agreeing: dict[Number, list[PrintedNumber]] = {}
        self._qualifying: dict[tuple[Number, CellNames], Set[Cell]] = {}
        self._printed: dict[NumberMention, tuple[Check | None, Operand | None]] = {}
        self._known: dict[Number, tuple[Evidence, ...]] = {}
        self._formulas = Formulas("", stated=(), is_known=self._is_known)
        # What a total or a mean may be of: the printed numbers since the last computed one, and the computed ones.
        self._run: list[Operand] = []
        self._results: list[Operand] = []
        # The numbers that follow from others without a formula of the text.
        self._derived: dict[Number, Check] = {}

    def printed(self, mention: NumberMention) -> Check | None:
        """Return a check if the evidence prints the number or the question gives it."""
        if mention not in self._printed:
            check_cancelled()
            self._printed[mention] = self._find(mention)
        check, operand = self._printed[mention]
        self._stated.extend([operand] if operand is not None else [])
        if check is not None:
            self._known.setdefault(mention.number, check.support)
        return check

    def read_formulas(self, text: str, stated: Sequence[Number]) -> None:
        """Read the computations that the text writes out; call it after all printed numbers are known."""
        self._formulas = Formulas(text, stated=stated, is_known=self._is_known)

    def _find(self, mention: NumberMention) -> tuple[Check | None, Operand | None]:
        number = mention.number
        fitting = [one for one in self._same(mention.number) if self._fits(mention, one)]
        if fitting:
            stated = any(one.part != "name" for one in fitting)
            support = tuple(dict.fromkeys(one.evidence for one in fitting))[:_MOST_SUPPORT]
            check = Check(number=number.text, finding="printed", support=support)
            self._told.add(fitting[0].heads)
            return check, Operand(number, fitting[0].evidence) if stated else None
        asked = self._asked.agreeing(number, said=Wording(falls=True), around_falls=False)
        if any(is_printed_so(number, self._asked.numbers[at]) for at in asked):
            return Check(number=number.text, finding="asked"), None
        return None, None

    def pass_printed(self, mention: NumberMention) -> None:
        """Go on to the number behind a printed one; call it after `read_formulas`."""
        _, operand = self._printed[mention]
        self._run.extend([operand] if operand is not None else [])

    def derived(self, mention: NumberMention) -> tuple[Check, Finding | None]:
        """Return a check of a number that is not printed; call it after `read_formulas`."""
        runs, self._run = (self._run, self._results), []
        check = self._written(mention.number) or self._derived.get(mention.number)
        if check is None and mention.number not in self._formulas.wrong:
            computed = partial(self._computed, mention)
            pairs = () if mention.number.sign else self._chained()
            further = partial(self._computations.find_further, runs=runs, pairs=pairs)
            check = computed(self._computations.find) or self._counted(mention)
            if check is None and (check := computed(further)) is not None:
                return check, None
        if check is not None:
            self._results.append(Operand(mention.number, None))
            return check, None
        unsupported = Check(number=mention.number.text, finding="unsupported")
        return unsupported, _unsupported(mention, self._same(mention.number))

    def _same(self, number: Number) -> list[PrintedNumber]:
        if number not in self._agreeing:
            self._agreeing[number] = self._scope.agreeing(number, said=self._wording)
        return self._agreeing[number]

    def _fits(self, mention: NumberMention, one: PrintedNumber) -> bool:
        if one.cell is None or one.names is None:
            return True
        beside = self._beside(mention.main, one.names) if mention.main is not None else ()
        if beside:
            return one.cell in beside
        statements = [self._statement, *([Statement.of(mention.named)] if mention.named else [])]
        return all(one.names.fits(one.cell, statement) for statement in statements)

    def _beside(self, main: Number, names: CellNames) -> Set[Cell]:
        """Return the cells that print what qualifies a value of a table, wherever it fits: "8.2" of "54.1 (8.2)"."""
        if (main, names) not in self._qualifying:
            mains = {one.cell for one in self._same(main) if one.cell is not None and one.names is names}
            fitting = (cell for cell in mains if names.fits(cell, self._statement))
            self._qualifying[main, names] = frozenset(chain.from_iterable(map(names.qualifying, fitting)))
        return self._qualifying[main, names]

    def _is_known(self, number: Number) -> bool:
        return number in self._known or bool(self._same(number))

    def _written(self, number: Number) -> Check | None:
        formula = self._formulas.given.get(number)
        if formula is None:
            return None
        inside = number in (*formula.operands, *formula.constants)
        shown = formula.text if inside else f"{formula.text} = {number.text}"
        support = dict.fromkeys(chain.from_iterable(self._known.get(operand, ()) for operand in formula.operands))
        return Check(number=number.text, finding="computed", formula=shown, support=tuple(support))

    def _chained(self) -> Iterator[tuple[Operand, Operand]]:
        """Yield a number that follows from others, and a stated one ("1.36 in total, 36.8% of it for A (0.50)"); for
        numbers without a sign, because a difference less a stated number is the other one with the wrong sign."""
        for number in list(self._derived)[:_MOST_DERIVED]:
            result = Operand(number, None)
            for stated in self._stated[:_MOST_STATED]:
                yield stated, result
                yield result, stated

    def _computed(self, mention: NumberMention, find: Callable[[Number], Computation | None]) -> Check | None:
        if mention.number.sign == "-":
            before, _, behind = self._plain.partition(mention.number.text)
            if _TWICE.match(behind) or _BY.search(before[-_LONGEST_CLAUSE:]):
                return None
        found = find(mention.number)
        if found is None:
            return None
        support = tuple(dict.fromkeys(operand.evidence for operand in found.operands if operand.evidence))
        check = Check(number=mention.number.text, finding="computed", formula=found.formula, support=support)
        self._derived[mention.number] = check
        self._formulas.learn(mention.number, terms=found.terms)
        return check

    @cached_property
    def _computations(self) -> Computations:
        scope = self._scope
        asked = [Operand(number, None) for number in self._asked.numbers]
        # A name for which the text states a value has no other one.
        unstated = [one for one in scope.operands if one.heads is None or one.heads not in self._told]
        operands = [*self._stated, *(Operand(one.number, one.evidence) for one in unstated), *asked]
        shares = [one for one in self._stated if one.number.percent]
        sets = (self._stated, shares, _main(scope.cited), _main(scope.named), *_lines(scope.named))
        return Computations(self._words, operands, sets)

    def _counted(self, mention: NumberMention) -> Check | None:
        """Return a count of listed items, of the cited items, or of the rows or columns of a cited table that contain
        values."""
        number = mention.number
        if number.unit != 1 or number.percent or number.sign:
            return None
        value = int(number.value)
        counted = "items listed" if value in self._listed else None
        if counted is None and (mention.counts or _HOW_MANY.search(self._question)):
            counted = self._counts.get(value)
        if counted is None:
            return None
        formula = f"{number.text} = number of {counted}"
        support = tuple(self._scope.evidence)
        return Check(number=number.text, finding="computed", formula=formula, support=support)

    @cached_property
    def _listed(self) -> set[int]:
        return counted_lists(self._text)

    @cached_property
    def _counts(self) -> dict[int, str]:
        counts = {len({one.evidence for one in self._scope.cells}): "cells cited"}
        for table in self._scope.tables:
            cells = [cell for cell in table.cells if cell.role == "value"]
            name = table.label or "the table"
            counts.setdefault(len({cell.row for cell in cells}), f"rows of {name}")
            counts.setdefault(len({cell.column for cell in cells}), f"columns of {name}")
        for text in dict.fromkeys((self._text, *(one.quote for one in self._scope.evidence))):
            counts |= {size: "items listed" for size in list_sizes(text) if size not in counts}
        return counts


def _main(printed: Sequence[PrintedNumber]) -> list[Operand]:
    """Return the first number of each cell."""
    cells = {(one.evidence.element, one.evidence.place): one for one in reversed(printed) if one.cell is not None}
    return [Operand(one.number, one.evidence) for one in reversed(cells.values())]


def _lines(named: Sequence[PrintedNumber]) -> Iterator[list[Operand]]:
    """Yield the named values of each column and of each row of a table."""
    lines: dict[tuple[str, str, int], list[Operand]] = {}
    for one in named:
        if one.cell is not None:
            for side, number in (("column", one.cell.column), ("row", one.cell.row)):
                place = (one.evidence.element, side, number)
                lines.setdefault(place, []).append(Operand(one.number, one.evidence))
    yield from islice((line for line in lines.values() if len(line) > 2), _MOST_LINES)


def _unsupported(mention: NumberMention, same: Sequence[PrintedNumber]) -> Finding:
    text = mention.number.text
    if same and same[0].cell is not None and same[0].names is not None:
        where = " ".join(same[0].names.heads(same[0].cell).split())
        message = f"the number {text} is printed under {where!r}, which is not what the answer says of it"
        return Finding(kind="number", subject=text, place=same[0].evidence.place, message=message)
    message = f"the number {text} is not in the cited evidence, nor does it follow from numbers there"
    return Finding(kind="number", subject=text, message=message)
