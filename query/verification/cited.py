"""The values and texts that the cited evidence of a statement contains."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from paperscope_core.types import Cell, Claim, Element, Evidence, Table
from query.cells import CellNames, Statement
from query.elements import element_text
from query.numbers import Number, numbers_in

__all__ = ["CitedEvidence", "PrintedNumber"]


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A number and the evidence that prints it; in a table also the cell and the names of the table's cells."""

    number: Number
    evidence: Evidence
    cell: Cell | None = None
    names: CellNames | None = None
    part: Literal["cited", "near", "name"] = "cited"
    """Whether it is cited itself, is near what is (the rest of a passage, a cell's annotation), or in what names it
    (a header, a caption)."""


class CitedEvidence:
    """The evidence of some claims, read for one statement."""

    def __init__(self, claims: Sequence[Claim], *, statement: Statement, elements: Mapping[str, Element]) -> None:
        self.evidence = list(dict.fromkeys(evidence for claim in claims for evidence in claim.evidence))
        self._elements = elements
        self._names = {table.id: CellNames(table) for table in self.tables}
        self.telling = frozenset().union(*(names.telling for names in self._names.values()))
        self.printed = list(chain.from_iterable(self._printed(evidence, statement) for evidence in self.evidence))
        self.named = list(chain.from_iterable(self._named(evidence, statement) for evidence in self.evidence))

    @property
    def tables(self) -> list[Table]:
        """The cited tables."""
        found = (self._elements.get(evidence.element) for evidence in self.evidence)
        return [table for table in dict.fromkeys(found) if isinstance(table, Table)]

    def _printed(self, evidence: Evidence, statement: Statement) -> Iterator[PrintedNumber]:
        element = self._elements.get(evidence.element)
        cell = _cell_at(evidence, element)
        if isinstance(element, Table) and cell is not None:
            names = self._names[element.id]
            yield from _of_cells([cell], evidence, names)
            yield from _texts(f"{element.caption}\n{names.heads(cell)}", evidence, "name")
            return
        yield from (PrintedNumber(number, evidence) for number in numbers_in(evidence.quote, spelled=True))
        if isinstance(element, Table):
            heads = "\n".join(cell.text for cell in element.cells if cell.role != "value")
            yield from _texts(f"{element.caption}\n{heads}", evidence, "name")
            names = self._names[element.id]
            yield from _of_cells(names.named(statement) or names.cells, evidence, names)
        elif element is not None:
            yield from _texts(element_text(element), evidence, "near")

    def _named(self, evidence: Evidence, statement: Statement) -> Iterator[PrintedNumber]:
        """The main numbers of the cells that the statement names, once for each table."""
        element = self._elements.get(evidence.element)
        first = next(other for other in self.evidence if other.element == evidence.element)
        if isinstance(element, Table) and evidence is first:
            names = self._names[element.id]
            for cell in names.named(statement):
                yield from list(_of_cells([cell], evidence, names))[:1]


def _cell_at(evidence: Evidence, element: Element | None) -> Cell | None:
    if not isinstance(element, Table):
        return None
    cells = (cell for cell in element.cells if cell.place == evidence.place and cell.text == evidence.quote)
    return next(cells, None)


def _of_cells(cells: Iterable[Cell], evidence: Evidence, names: CellNames) -> Iterator[PrintedNumber]:
    for cell in cells:
        shown = Evidence(element=evidence.element, place=cell.place, quote=cell.text)
        for index, number in enumerate(numbers_in(cell.text, spelled=True)):
            yield PrintedNumber(
                number, shown, cell, names if cell.role == "value" else None, "near" if index else "cited"
            )


def _texts(text: str, evidence: Evidence, part: Literal["near", "name"]) -> Iterator[PrintedNumber]:
    for number in numbers_in(text, spelled=True):
        yield PrintedNumber(number, evidence, part=part)
