"""Drafts of answers: claims, the evidence that they cite and its names, and the elements to show with them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TypeVar

from paperscope_core.cancellation import check_cancelled
from paperscope_core.protocols import Corpus
from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import (
    Cell,
    Check,
    CitedCell,
    Claim,
    Context,
    ContextSource,
    Element,
    Equation,
    Evidence,
    Exhibit,
    Figure,
    Finding,
    ImageFinding,
    Paper,
    Passage,
    Reading,
    Status,
    Table,
    crops_of,
    paper_words,
    places_of,
    where,
)
from paperscope_core.types.elements import title_lines
from query.cells import CellNames, Statement, TableHeaders
from query.content_words import content_words
from query.element_views import ImageElement, caption_of, element_text, elements_of, evidence_in, strip_excerpt_note
from query.numbers import numbers_in
from query.outline import is_outline, outline_evidence
from query.question.paper_names import citation_names, short_title

__all__ = ["Draft", "EvidenceFinder", "EvidenceNamer", "exhibits_of", "parse_row"]

T = TypeVar("T")

_ROW = re.compile(r"\[?\s*([ERSI])\s*(\d{1,4})\s*\]?")
_MOST_CELLS = 12
_MOST_NAMED = 6
_LONGEST_QUOTE = 400


def parse_row(text: str) -> tuple[str, int] | None:
    """Return the section (E, R, S or I) and the number of a row that a model cites, such as "S2"; None if it is
    none."""
    match = _ROW.fullmatch(text.strip())
    return (match[1], int(match[2])) if match else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """The text of an answer with its claims, before verification; `status` and `confidence` are those of `Answer`.

    A `certain` answer is a fact of the paper's record, such as its number of tables. It is not verified, because it
    follows from the whole paper, while a check compares numbers with those that the cited places print.
    """

    text: str
    status: Status
    claims: tuple[Claim, ...] = ()
    findings: tuple[Finding, ...] = ()
    confidence: float | None = None
    certain: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceFinder:
    """Resolves the row ids of a context ("S3", "R1", "E0", "I0") to evidence. `findings` maps row numbers of images to
    readings."""

    corpus: Corpus
    context: Context
    question: str = ""
    findings: Mapping[int, ImageFinding] = field(default_factory=dict)
    _tables: dict[str, tuple[CellNames, dict[Decimal, list[Cell]]]] = field(default_factory=dict, init=False)

    def find(self, row: str, *, claim: str) -> tuple[Evidence, ...]:
        """Return the evidence in a row for a claim; empty if the row does not exist.

        The evidence is as specific as possible: in a table, the cells that print the numbers of the claim, or the cells
        it names if it computes; in a passage, the sentence closest to the claim and the sentences that print its other
        numbers. Quotes are the paper's own words, never the description of an image by a vision model.
        """
        parsed = parse_row(row)
        if parsed is None:
            return ()
        section, number = parsed
        if section == "S":
            sources = [source for source in self.context.sources if source.id == number]
            return tuple(evidence for source in sources for evidence in self._source(source, claim))
        if section == "I":
            finding = self.findings.get(number)
            if finding is None:
                return ()
            more = places_of(self.corpus.element(finding.element))[1:] if finding.crop else ()
            return (Evidence(element=finding.element, place=finding.place, quote=finding.text, more_places=more),)
        rows = self.context.entities if section == "E" else self.context.relations
        row_places = ((one, place) for one in rows if one.id == number for place in one.places[:1])
        return tuple(
            evidence_in(element, paper_words(one.description), longest=_LONGEST_QUOTE)
            for one, place in row_places
            for element in [other for other in self.corpus.paper(place.paper).elements if other.place == place][:1]
        )

    def _source(self, source: ContextSource, claim: str) -> tuple[Evidence, ...]:
        if is_outline(source):
            return outline_evidence(source, self.corpus.paper(source.place.paper), claim)
        elements = elements_of(source, self.corpus)
        cells = [
            Evidence(element=table.id, place=cell.place, quote=cell.text)
            for table in elements
            if isinstance(table, Table)
            for cell in self._cells(table, claim)
        ]
        if cells:
            return tuple(cells[:_MOST_CELLS])
        quotes = _sentences_for(strip_excerpt_note(paper_words(source.content)), claim)
        return tuple(self._quoted(quote, source, elements) for quote in quotes)

    def _quoted(self, quote: str, source: ContextSource, elements: Sequence[Element]) -> Evidence:
        holder = next((element for element in elements if _holds(element, quote)), None)
        if holder is not None:
            return evidence_in(holder, quote, longest=_LONGEST_QUOTE)
        place, more = source.place, source.more_places
        return Evidence(element=source.element, place=place, quote=quote[:_LONGEST_QUOTE], more_places=more)

    def _cells(self, table: Table, claim: str) -> list[Cell]:
        """For each number of the claim, the cell that prints it and whose headers the claim names best; if no such cell
        prints it, the cells that the claim names."""
        check_cancelled()
        if table.id not in self._tables:
            read = CellNames(table)
            self._tables[table.id] = read, _by_value((cell, cell.text) for cell in read.cells)
        names, printed = self._tables[table.id]
        statement = Statement.of(claim, question=self.question)
        words = statement.said_words | statement.asked_words
        chosen: dict[tuple[int, int], Cell] = {}
        for number in dict.fromkeys(numbers_in(claim)):
            same = printed.get(number.value) or printed.get(number.unscaled.value) or []
            printing = [cell for cell in same if names.fits(cell, statement)]
            printing.sort(key=lambda cell: -len(names.words(cell) & words))
            found = printing[:1] or names.named(statement)
            chosen |= {(cell.row, cell.column): cell for cell in found if len(found) <= _MOST_NAMED}
        return list(chosen.values())


def _holds(element: Element, quote: str) -> bool:
    titled = isinstance(element, Passage | Table | Figure) and any(quote in line for line in title_lines(element))
    return titled or quote in element_text(element)


def _sentences_for(text: str, claim: str) -> list[str]:
    """Return the sentence or table line that shares most words with the claim and, for each number of the claim that it
    lacks, the best sentence that prints it."""
    asked = content_words(claim)
    parts: Sequence[str] = [part for line in text.splitlines() for part in split_sentences(line)] or [text]

    shares = [len(asked & content_words(part)) for part in parts]
    # The best part that prints each value; of equal ones the last.
    best = {value: max(reversed(found), key=shares.__getitem__) for value, found in _by_value(enumerate(parts)).items()}
    chosen = [max(range(len(parts)), key=shares.__getitem__)]
    covered = _values(parts[chosen[0]])
    for number in numbers_in(claim):
        if number.value in best and number.value not in covered:
            chosen.append(best[number.value])
            covered |= _values(parts[chosen[-1]])
    return [parts[at] for at in chosen]


def _by_value(texts: Iterable[tuple[T, str]]) -> dict[Decimal, list[T]]:
    """Return what prints each value, in order."""
    found: dict[Decimal, list[T]] = {}
    for one, text in texts:
        for value in _values(text):
            found.setdefault(value, []).append(one)
    return found


def _values(text: str) -> set[Decimal]:
    return {number.value for number in numbers_in(text, spelled=True)}


def exhibits_of(corpus: Corpus, claims: Sequence[Claim], readings: Sequence[Reading]) -> tuple[Exhibit, ...]:
    """Return the tables, figures and equations that the claims cite, in order, then those whose images were read."""
    cited = [evidence for claim in claims for evidence in claim.evidence]
    read = [reading.element for reading in readings if reading.crop]
    ids = dict.fromkeys([*(evidence.element for evidence in cited), *read])
    elements = (corpus.element(element) for element in ids if element)
    return tuple(_exhibit(corpus, element, cited) for element in elements if isinstance(element, ImageElement))


def _exhibit(corpus: Corpus, element: ImageElement, cited: Sequence[Evidence]) -> Exhibit:
    latex = element.latex if isinstance(element, Equation) else ""
    if isinstance(element, Equation) and not latex:
        seen = corpus.images(element.place.paper).descriptions
        latex = next((one.latex for one in seen if one.element == element.id), "")
    return Exhibit(
        element=element.id,
        kind=element.kind,
        place=element.place,
        label=element.label,
        caption=caption_of(element),
        latex=latex,
        crops=crops_of(element),
        cells=_cited_cells(element, cited) if isinstance(element, Table) else (),
    )


def _cited_cells(table: Table, cited: Sequence[Evidence]) -> tuple[CitedCell, ...]:
    headers = TableHeaders(table)
    places = {(evidence.place, evidence.quote) for evidence in cited if evidence.element == table.id}
    return tuple(
        CitedCell(cell=cell, row=" / ".join(headers.row(cell)), column=" ".join(headers.column(cell)))
        for cell in table.cells
        if (cell.place, cell.text) in places
    )


class EvidenceNamer:
    """Sets the names of evidence: "Four Reports, Four Rulers (2024), Table 5, page 4"."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._papers = citation_names(corpus.entries())

    def claims(self, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        """Return the claims with named evidence."""
        return tuple(replace(claim, evidence=self.named(claim.evidence)) for claim in claims)

    def checks(self, checks: Sequence[Check]) -> tuple[Check, ...]:
        """Return the checks with named evidence."""
        return tuple(replace(check, support=self.named(check.support)) for check in checks)

    def named(self, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """Return the evidence with names."""
        return tuple(replace(one, name=self._name(one)) for one in evidence)

    def _name(self, evidence: Evidence) -> str:
        paper = evidence.place.paper
        element = evidence.element
        label = _label(self._corpus.element(element), self._corpus.paper(paper)) if element else ""
        return ", ".join(filter(None, (self._papers.get(paper, paper), label, where(evidence.places))))


def _label(element: Element, paper: Paper) -> str:
    """Return the printed label, else the section of a passage, else the kind of the element."""
    if element.label:
        return element.label
    section = next((one for one in paper.sections if one.id == element.section), None)
    if not isinstance(element, Passage):
        return element.kind
    if section is None:
        return element.role if element.role in ("title", "authors", "abstract") else ""
    return f"Section {section.number}" if section.number else short_title(section.title)
