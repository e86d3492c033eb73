"""From the row numbers that a model cites to elements, places and quotes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paperscope.protocols import Corpus
from paperscope.sentences import sentences
from paperscope.types import Cell, Context, ContextSource, Element, Evidence, ImageFinding, Place, Table, paper_words
from query.cell_names import CellNames, Statement
from query.element_text import element_text
from query.numbers import Number, numbers_in
from query.table_excerpt import without_note
from query.words import content_words

__all__ = ["EvidenceFinder"]

_ROW = re.compile(r"\[?\s*([ERSI])\s*(\d{1,4})\s*\]?")
_MOST_CELLS = 12
_MOST_NAMED = 6
_LONGEST_QUOTE = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceFinder:
    """Resolves row ids ("S3", "R1", "E0", "I0") of one context; `findings` are by the image's row number."""

    corpus: Corpus
    context: Context
    question: str = ""
    findings: Mapping[int, ImageFinding] = field(default_factory=dict)

    def find(self, row: str, *, claim: str) -> tuple[Evidence, ...]:
        """The evidence that a row holds for a claim; empty if there is no such row.

        It is as narrow as can be told: in a table the cells that print the claim's numbers, or that it names where it
        computes, in a passage the sentence nearest to the claim, and those that print its further numbers. Only the
        paper's own words are quoted, never what a vision model saw in its pictures.
        """
        match = _ROW.fullmatch(row.strip())
        if match is None:
            return ()
        section, number = match[1], int(match[2])
        if section == "S":
            sources = [source for source in self.context.sources if source.id == number]
            return tuple(evidence for source in sources for evidence in self._source(source, claim))
        if section == "I":
            finding = self.findings.get(number)
            return (Evidence(element=finding.element, place=finding.place, quote=finding.text),) if finding else ()
        rows = self.context.entities if section == "E" else self.context.relations
        return tuple(
            Evidence(element=element.id, place=element.place, quote=paper_words(row.description)[:_LONGEST_QUOTE])
            for row in rows
            if row.id == number
            for place in row.places[:1]
            for element in self._elements_at(place)
        )

    def _source(self, source: ContextSource, claim: str) -> tuple[Evidence, ...]:
        elements = self._elements_of(source)
        tables = [element for element in elements if isinstance(element, Table)]
        cells = [
            Evidence(element=table.id, place=cell.place, quote=cell.text)
            for table in tables
            for cell in self._cells(table, claim)
        ]
        if cells:
            return tuple(cells[:_MOST_CELLS])
        quotes = _sentences_for(without_note(paper_words(source.content)), claim)
        return tuple(self._quoted(quote, source, elements) for quote in quotes)

    def _quoted(self, quote: str, source: ContextSource, elements: Sequence[Element]) -> Evidence:
        holder = next((element for element in elements if quote in element_text(element)), source)
        element = holder.element if isinstance(holder, ContextSource) else holder.id
        return Evidence(element=element, place=holder.place, quote=quote[:_LONGEST_QUOTE])

    def _cells(self, table: Table, claim: str) -> list[Cell]:
        """For each number of the claim the cell that prints it and whose row and column it names best; the cells that
        it names where a number is printed in none of these."""
        names = CellNames(table)
        statement = Statement.of(claim, question=self.question)
        chosen: dict[tuple[int, int], Cell] = {}
        numbers = list(numbers_in(claim))
        for number in numbers:
            printing = [cell for cell in table.cells if cell.role == "value" and _states(cell.text, number)]
            fitting = [cell for cell in printing if names.fits(cell, statement)]
            named = names.named(statement) if not fitting else []
            if fitting:
                named = [
                    max(
                        fitting,
                        key=lambda cell: len(names.words(cell) & (statement.said_words | statement.asked_words)),
                    )
                ]
            chosen |= {(cell.row, cell.column): cell for cell in named if len(named) <= _MOST_NAMED}
        return list(chosen.values())

    def _elements_of(self, source: ContextSource) -> list[Element]:
        chunks = self.corpus.chunks_of([source.element])
        ids = next((chunk.elements for chunk in chunks if chunk.shown == source.content), (source.element,))
        return [self.corpus.element(element) for element in ids]

    def _elements_at(self, place: Place) -> list[Element]:
        elements = self.corpus.paper(place.paper).elements
        return [element for element in elements if element.place == place][:1]


def _sentences_for(text: str, claim: str) -> list[str]:
    """The sentence, or line of a table, that shares most words and numbers with the claim; for each number of the claim
    that it lacks, the one among those that print it."""
    asked = content_words(claim)
    parts: Sequence[str] = [part for line in text.splitlines() for part in sentences(line)] or [text]

    def shared(part: str) -> int:
        return len(asked & content_words(part))

    chosen = [max(parts, key=shared)]
    for number in numbers_in(claim):
        if not any(_states(part, number) for part in chosen):
            chosen += sorted((part for part in parts if _states(part, number)), key=shared)[-1:]
    return chosen


def _states(text: str, number: Number) -> bool:
    return any(other.value == number.value for other in numbers_in(text, spelled=True))
