"""From the row numbers that a model cites to elements, places and quotes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paperscope.protocols import Corpus
from paperscope.sentences import sentences
from paperscope.types import Cell, Context, ContextSource, Element, Evidence, ImageFinding, Place, Table, paper_words
from query.element_text import element_text
from query.numbers import Number, numbers_in
from query.words import content_words

__all__ = ["EvidenceFinder"]

_ROW = re.compile(r"\[?\s*([ERSI])\s*(\d{1,4})\s*\]?")
_MOST_CELLS = 6
_LONGEST_QUOTE = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceFinder:
    """Resolves row ids ("S3", "R1", "E0", "I0") of one context; `findings` are by the image's row number."""

    corpus: Corpus
    context: Context
    findings: Mapping[int, ImageFinding] = field(default_factory=dict)

    def find(self, row: str, *, claim: str) -> tuple[Evidence, ...]:
        """The evidence that a row holds for a claim; empty if there is no such row.

        It is as narrow as can be told: in a table the cells that print the claim's numbers, in a passage the sentence
        nearest to the claim. Only the paper's own words are quoted, never what a vision model saw in its pictures.
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
            for cell in _cells_for(table, claim)
        ]
        if cells:
            return tuple(cells[:_MOST_CELLS])
        quote = _nearest_sentence(paper_words(source.content), claim)
        holder = next((element for element in elements if quote in element_text(element)), None)
        if holder is None:
            return (Evidence(element=source.element, place=source.place, quote=quote[:_LONGEST_QUOTE]),)
        return (Evidence(element=holder.id, place=holder.place, quote=quote[:_LONGEST_QUOTE]),)

    def _elements_of(self, source: ContextSource) -> list[Element]:
        chunks = self.corpus.chunks_of([source.element])
        ids = next((chunk.elements for chunk in chunks if chunk.shown == source.content), (source.element,))
        return [self.corpus.element(element) for element in ids]

    def _elements_at(self, place: Place) -> list[Element]:
        elements = self.corpus.paper(place.paper).elements
        return [element for element in elements if element.place == place][:1]


def _cells_for(table: Table, claim: str) -> list[Cell]:
    """For each number of the claim the cell that prints it; among several the one whose row and column it names."""
    asked = content_words(claim)
    chosen: dict[tuple[int, int], Cell] = {}
    for number in numbers_in(claim):
        cells = [cell for cell in table.cells if cell.role == "value" and _prints(cell, number)]
        if cells:
            best = max(cells, key=lambda cell: len(asked & content_words(_headers(table, cell))))
            chosen[best.row, best.column] = best
    return list(chosen.values())


def _prints(cell: Cell, number: Number) -> bool:
    return any(other.value == number.value for other in numbers_in(cell.text))


def _headers(table: Table, cell: Cell) -> str:
    """The names of the cell's row and column, with the title of the section that it stands under."""
    heads = [
        other.text
        for other in table.cells
        if other.role != "value" and (other.row <= cell.row < other.row + other.row_span or _above(other, cell))
    ]
    sections = [other.text for other in table.cells if other.role == "section" and other.row < cell.row]
    return " ".join((*heads, *sections[-1:]))


def _above(header: Cell, cell: Cell) -> bool:
    return header.role == "column_header" and header.column <= cell.column < header.column + header.column_span


def _nearest_sentence(text: str, claim: str) -> str:
    """The sentence, or line of a table, that shares most words and numbers with the claim."""
    asked = content_words(claim)
    parts: Sequence[str] = [part for line in text.splitlines() for part in sentences(line)] or [text]
    return max(parts, key=lambda part: len(asked & content_words(part)))
