"""The verification suite: are wrong numbers flagged that are planted in right answers?"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from itertools import chain
from pathlib import Path

from numpy.random import Generator, default_rng

from graph_store import Store
from paperscope import Library
from paperscope_core.protocols import Corpus
from paperscope_core.types import Cell, Claim, Context, ContextSource, Element, Paper, Table
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.answers.correctness import correctness
from paperscope_lab.evaluation.answers.forms import form_of, short_answer
from paperscope_lab.evaluation.cells import question_of, states_value
from paperscope_lab.evaluation.gold.files import map_gold
from paperscope_lab.evaluation.gold.paper_readers import folder_items, latex_items
from paperscope_lab.evaluation.gold.papers import GoldItem, GoldLookup
from paperscope_lab.evaluation.gold.questions import PdfQuestion, docbench_questions
from paperscope_lab.evaluation.libraries import Libraries
from paperscope_lab.evaluation.matching import normalise_spaces
from paperscope_lab.evaluation.metrics.numbers import Number, as_number, numbers_in, stated_numbers
from paperscope_lab.evaluation.parsing.tables import found_cells
from paperscope_lab.evaluation.question_suite import library_of_paper, question_suite
from paperscope_lab.evaluation.score import Miss, Score, Tally, total
from paperscope_lab.evaluation.suite import Item, Request
from query import Cited, Verified, verify
from query.evidence import EvidenceFinder

__all__ = [
    "SUITE",
    "PlantedError",
    "RightAnswer",
    "answer_as_given",
    "answer_citing_elements",
    "composed_answers",
    "plant_errors",
    "score_planting",
]

_Change = Callable[[str], str]
_MINUS = "\u2212"
_Gold = GoldLookup | PdfQuestion


@dataclass(frozen=True, kw_only=True, slots=True)
class RightAnswer:
    """A right answer.

    `claims` returns the claims, with evidence, that its author would make for a changed text; `kind` is the author, or
    what was composed.
    """

    kind: str
    question: str
    text: str
    claims: Callable[[_Change], tuple[Claim, ...]]
    store: Corpus

    def verified(self, change: _Change = str) -> Verified:
        """Return the result of verifying the answer with a changed text."""
        claims = self.claims(change)
        cited = Cited(elements=self._elements(claims))
        return verify(question=self.question, text=change(self.text), claims=claims, cited=cited)

    def tables(self) -> list[Table]:
        """Return the cited tables."""
        return [element for element in self._elements(self.claims(str)).values() if isinstance(element, Table)]

    def _elements(self, claims: Sequence[Claim]) -> Mapping[str, Element]:
        """Return the elements that the claims rest on, by id."""
        return self.store.elements([found.element for claim in claims for found in claim.evidence])


def answer_as_given(question: str, text: str, claims: Sequence[Claim], *, store: Corpus) -> RightAnswer:
    """Return an answer of the product; its evidence stays the same when its text is changed."""

    def changed(change: _Change) -> tuple[Claim, ...]:
        return tuple(Claim(text=change(claim.text), evidence=claim.evidence) for claim in claims)

    return RightAnswer(kind="given", question=question, text=text, claims=changed, store=store)


def answer_citing_elements(
    question: str, text: str, elements: Sequence[str], *, store: Corpus, kind: str = "cited"
) -> RightAnswer:
    """Return an answer in the form that a language model gives: one claim that cites the rows of these elements.

    Its evidence is looked up by what the claim says, right or wrong.
    """
    chunks = store.chunks_of(elements)
    sources = tuple(
        ContextSource(id=number, content=chunk.shown, element=chunk.elements[0], place=chunk.place)
        for number, chunk in enumerate(chunks)
    )
    finder = EvidenceFinder(corpus=store, context=Context(sources=sources), question=question)

    def claims(change: _Change) -> tuple[Claim, ...]:
        said = change(text)
        found = [evidence for source in sources for evidence in finder.find(f"S{source.id}", claim=said)]
        return (Claim(text=said, evidence=tuple(dict.fromkeys(found))),)

    return RightAnswer(kind=kind, question=question, text=text, claims=claims, store=store)


def composed_answers(
    question: str, table: Table, cell: Cell, *, row: str, column: str, store: Corpus
) -> Iterator[RightAnswer]:
    """Answer composed from a look-up: its value in a sentence, and the difference and the mean with an adjacent value,
    with and without stating both values, and the mean by way of the sum."""

    def says(text: str, kind: str) -> RightAnswer:
        return answer_citing_elements(question, text, [table.id], store=store, kind=kind)

    yield says(f"{row} has {cell.value} under {column}.", "look-up")
    name, value = _adjacent_value(table, cell)
    one, second = as_number(cell.value), as_number(value)
    if one is None or second is None or second.value == one.value or name == row:
        return
    difference = f"{abs(one.value - second.value):f}"
    more = "higher" if one.value > second.value else "lower"
    behind = f"than that of {name} ({value})"
    yield says(f"The {column} of {row} ({cell.value}) is {difference} {more} {behind}.", "difference")
    yield says(f"Under {column}, {row} is {difference} {more} than {name}.", "bare difference")
    mean = f"{(one.value + second.value) / 2:f}"
    yield says(f"The mean {column} of {row} ({cell.value}) and {name} ({value}) is {mean}.", "mean")
    total = f"{one.value + second.value:f}"
    both = f"Under {column}, {row} ({cell.value}) and {name} ({value}) have"
    yield says(f"{both} {total} together; {total} / 2 = {mean}.", "chain")


def _adjacent_value(table: Table, cell: Cell) -> tuple[str, str]:
    """Return the name and the value of the named row below, or else above; empty if neither has both."""
    for row in (cell.row + 1, cell.row - 1):
        names = [other.text for other in table.cells if other.row == row and other.role == "row_header"]
        values = [other.value for other in table.cells if (other.row, other.column) == (row, cell.column)]
        if names and values:
            return " ".join(names), values[0]
    return "", ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantedError:
    """A number of a right answer, and the wrong one that replaces it."""

    kind: str
    right: str
    wrong: str

    def into(self, text: str) -> str:
        """Return the text with the first occurrence of the right number replaced."""
        return _place_of(self.right).sub(lambda _match: self.wrong, text, count=1)


def plant_errors(text: str, *, question: str, tables: Sequence[Table], random: Generator) -> Iterator[PlantedError]:
    """Return one error of each possible kind, in a number that the text states and the question doesn't.

    "digit": one digit is changed; "sign": the sign is flipped, or added to a number without one; "tenfold": the decimal
    point is shifted by one; "rounding": one decimal fewer, rounded wrongly; "row" and "column": the value of an
    adjacent cell.
    """
    numbers = [
        digits
        for number in stated_numbers(text, question)
        if (number.text[-1].isdigit() or number.kind == "share") and _place_of(digits := _digits(number)).search(text)
    ]
    if not numbers:
        return
    corruptions: dict[str, Callable[[str, Generator], str | None]] = {
        "digit": _change_digit,
        "sign": _change_sign,
        "tenfold": _shift_point,
        "rounding": _round_wrongly,
        "row": _neighbour_value(tables, rows=True),
        "column": _neighbour_value(tables, rows=False),
    }
    for kind, corrupt in corruptions.items():
        for index in random.permutation(len(numbers)):
            right = numbers[index]
            wrong = corrupt(right, random)
            if wrong is not None and not _same_value(wrong, right):
                yield PlantedError(kind=kind, right=right, wrong=wrong)
                break


def _place_of(digits: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.,]){re.escape(digits)}(?![\w]|[.,]\d)")


def _digits(number: Number) -> str:
    """Return the number as printed, up to its last digit."""
    found = re.match(r"[-+]?[\d.,]*\d", number.text)
    return found[0] if found else number.text


def _change_digit(right: str, random: Generator) -> str | None:
    places = [index for index, letter in enumerate(right) if letter.isdigit()]
    at = places[random.integers(len(places))]
    others = [digit for digit in "0123456789" if digit != right[at] and (digit != "0" or at != places[0])]
    return right[:at] + others[random.integers(len(others))] + right[at + 1 :]


def _change_sign(right: str, _random: Generator) -> str | None:
    if right[0] in "+-":
        return (_MINUS if right[0] == "+" else "+") + right[1:]
    return _MINUS + right


def _shift_point(right: str, random: Generator) -> str | None:
    value = Decimal(right.replace(",", ""))
    return format(value * 10 if random.random() < 0.5 else value / 10, "f")


def _round_wrongly(right: str, _random: Generator) -> str | None:
    """Return the number with one decimal fewer, rounded in the wrong direction."""
    value = Decimal(right.replace(",", ""))
    decimals = len(right.partition(".")[2])
    if not decimals:
        return None
    unit = Decimal(1).scaleb(1 - decimals)
    rounded = value.quantize(unit, ROUND_HALF_UP)
    return format(rounded - unit if rounded >= value else rounded + unit, "f")


def _neighbour_value(tables: Sequence[Table], *, rows: bool) -> Callable[[str, Generator], str | None]:
    """Return the value of a cell in an adjacent row, or column, of a cell with the right value."""
    adjacent = (1, 0) if rows else (0, 1)

    def make(right: str, random: Generator) -> str | None:
        found: list[str] = []
        for table in tables:
            values = [(cell, number) for cell in table.cells if (number := _leading_number(cell))]
            homes = [cell for cell, number in values if _same_value(number, right)]
            found += [
                number
                for home in homes
                for cell, number in values
                if (abs(home.row - cell.row), abs(home.column - cell.column)) == adjacent
                and not _same_value(number, right)
            ]
        return found[random.integers(len(found))] if found else None

    return make


def _leading_number(cell: Cell) -> str:
    """Return the number at the start of a value cell, "" if there is none."""
    numbers = numbers_in(cell.value) if cell.role == "value" else ()
    return _digits(numbers[0]) if numbers and cell.text.startswith(_digits(numbers[0])) else ""


def _same_value(one: str, other: str) -> bool:
    first, second = as_number(one), as_number(other)
    return first is not None and second is not None and first.value == second.value


def score_planting(answer: RightAnswer, *, seed: str) -> Score:
    """Score an answer.

    passed: the right answer gets no finding; flagged: a planted number gets one; both also by kind.
    """
    verified = answer.verified()
    quiet = not verified.findings
    tallies = {name: Tally(right=quiet, total=1) for name in ("passed", f"passed.{answer.kind}")}
    misses = [Miss(metric="passed", what=answer.text, gold="", got=str(finding)) for finding in verified.findings]
    random = default_rng(int(hashlib.sha256(seed.encode()).hexdigest(), 16))
    for plant in plant_errors(answer.text, question=answer.question, tables=answer.tables(), random=random):
        findings = set(answer.verified(plant.into).findings) - set(verified.findings)
        for name in ("flagged", f"flagged.{plant.kind}", f"flagged.{answer.kind}"):
            tally = Tally(right=bool(findings), total=1)
            tallies[name] = tallies[name] + tally if name in tallies else tally
        if not findings:
            planted = normalise_spaces(plant.into(answer.text))
            misses.append(Miss(metric="flagged", what=f"{plant.kind}, {answer.kind}", gold=plant.right, got=planted))
    return Score(tallies=tallies, misses=tuple(misses))


def _score(gold: _Gold, file: Path, libraries: Libraries, *, seed: str) -> Score:
    """Plant errors in the answers to a look-up or a question. Raises PaperFileError, and ModelError if a model is
    asked."""
    built = library_of_paper(libraries, file)
    library, store = libraries.library(built), libraries.store(built)
    if isinstance(gold, GoldLookup):
        answers = _of_lookup(gold, library, store, library.paper(built.ids[str(file)]))
    else:
        answers = _of_question(gold, library, store)
    return total(score_planting(answer, seed=f"{seed} {answer.kind}") for answer in answers)


def _of_lookup(lookup: GoldLookup, library: Library, store: Store, paper: Paper) -> Iterator[RightAnswer]:
    """Yield the product's answer, if it is right, and answers composed from the table's values."""
    question = question_of(lookup)
    answer = library.ask(question)
    if answer.status == "answered" and states_value(lookup.answer, answer.text, question=question):
        yield answer_as_given(question, answer.text, answer.claims, store=store)
    tables = {cell: table for table in paper.elements if isinstance(table, Table) for cell in table.cells}
    for cell in found_cells(paper, lookup)[:1]:
        yield from composed_answers(question, tables[cell], cell, row=lookup.row, column=lookup.column, store=store)


def _of_question(gold: PdfQuestion, library: Library, store: Store) -> Iterator[RightAnswer]:
    """Yield the product's answer, if it is right, and the gold answer as a model would phrase it."""
    answer = library.ask(gold.question)
    form = form_of(gold.answer, answer_format=gold.answer_format)
    short = short_answer(answer.text, question=gold.question, answer_format=gold.answer_format)
    right = correctness(gold.answer, form, text=answer.text, short=short, question=gold.question)
    if answer.status == "answered" and right == 1:
        yield answer_as_given(gold.question, answer.text, answer.claims, store=store)
        cited = dict.fromkeys(evidence.element for claim in answer.claims for evidence in claim.evidence)
        yield answer_citing_elements(gold.question, gold.answer, list(cited), store=store)


def _read(request: Request, libraries: Libraries) -> Iterator[Item | GoldFileError]:
    """Yield the look-ups and questions of the data, in the sets "papers" (cells.jsonl, questions.jsonl) and
    "latexgold"."""

    def item(name: str, file: Path, gold: _Gold) -> Item:
        score = partial(_score, gold, file, libraries, seed=f"{request.seed} {name}")
        return Item(name=name, score=score, gold=gold, files=(file,))

    def of_paper(paper: GoldItem) -> Iterator[Item]:
        return (item(f"{paper.name}/cell-{lookup.line}", paper.file, lookup) for lookup in paper.gold.lookups)

    def of_question(found: PdfQuestion) -> Iterator[Item]:
        if found.answerable:
            yield item(f"papers/{found.paper}/question-{found.id}", found.file, found)

    yield from map_gold(chain(folder_items(request.data), latex_items(request.data)), of_paper)
    yield from map_gold(docbench_questions(request.data), of_question)


SUITE = question_suite(
    "verification",
    _read,
    headline=("flagged", "passed"),
    missing="no cells or questions here; name a folder with papers/NAME/",
)
