"""The values and texts that the cited evidence of a statement contains."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from paperscope_core.cancellation import check_cancelled
from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Cell, Claim, Element, Evidence, Place, Table
from query.cells import CellNames, Statement
from query.content_words import content_words
from query.element_views import element_text
from query.numbers import Number, numbers_in, scales_in
from query.verification.arithmetic import NumberIndex, Wording, describes_decrease, is_printed_so

__all__ = ["CitedEvidence", "EvidenceReader", "PrintedNumber"]

# The numbers of references ("(25)", "(3, 7-9)") and levels of confidence: nothing is computed from them.
_NO_OPERANDS = re.compile(r"\(\d{1,3}(?:\s*[,;\u2013-]\s*\d{1,3})*\)|\b\d\d(?:\.\d)?\s?%\s*(?:CI\b|confidence)")
# Texts with more numbers are not used as operands: some pair of many numbers gives almost any result.
_MOST_OPERANDS = 12


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

    @property
    def heads(self) -> tuple[str, str] | None:
        """The table and the headers of its cell; None if it is no value of a table."""
        if self.cell is None or self.names is None:
            return None
        return self.evidence.element, self.names.heads(self.cell)


@dataclass(frozen=True, slots=True)
class _Group:
    """The numbers of one text, or of some cells, for one evidence; `printed` returns one by its position."""

    falls: bool
    index: NumberIndex
    printed: Callable[[int], PrintedNumber]


class EvidenceReader:
    """Reads the evidence of an answer; what its statements share is read once."""

    def __init__(
        self,
        elements: Mapping[str, Element],
        readings: Mapping[str, Sequence[str]],
        headings: Mapping[str, str],
    ) -> None:
        self.elements = elements
        self.readings = readings
        self.headings = headings
        self._names: dict[str, CellNames] = {}
        self._cells: dict[str, dict[tuple[Place, str], list[Cell]]] = {}
        self._heads: dict[str, str] = {}
        self._texts: dict[str, NumberIndex] = {}
        self._values: dict[str, frozenset[Decimal]] = {}

    def names(self, table: Table) -> CellNames:
        """Return the names of a table's cells."""
        if table.id not in self._names:
            self._names[table.id] = CellNames(table)
        return self._names[table.id]

    def cells(self, table: Table, evidence: Evidence) -> Sequence[Cell]:
        """Return the cells that an evidence cites: in a file of text, equal ones of a row have one place, its line."""
        if table.id not in self._cells:
            cells = self._cells[table.id] = {}
            for cell in table.cells:
                cells.setdefault((cell.place, cell.text), []).append(cell)
        return self._cells[table.id].get((evidence.place, evidence.quote), ())

    def heads(self, table: Table) -> str:
        """Return the caption and all headers of a table."""
        if table.id not in self._heads:
            self._heads[table.id] = "\n".join(
                (table.caption, *(one.text for one in table.cells if one.role != "value"))
            )
        return self._heads[table.id]

    def beside_values(self, table: Table, quote: str) -> list[Number]:
        """Return the numbers of a table's quotation that are no values of cells: these are compared with their
        headers."""
        if table.id not in self._values:
            values = (number.value for cell in self.names(table).cells for number in numbers_in(cell.text))
            self._values[table.id] = frozenset(values)
        return [one for one in self.numbers(quote).numbers if one.value not in self._values[table.id]]

    def numbers(self, text: str) -> NumberIndex:
        """Return the numbers of a text, without repeats."""
        if text not in self._texts:
            self._texts[text] = NumberIndex(list(dict.fromkeys(numbers_in(text, spelled=True))))
        return self._texts[text]


class CitedEvidence:
    """The evidence of some claims, read for one statement.

    `cells` are the numbers of the cells that are cited or that the statement names; `cited` are those to compute with:
    of these cells, and of the quoted sentences that share a word with the statement or its question.
    """

    def __init__(self, claims: Sequence[Claim], *, statement: Statement, reader: EvidenceReader) -> None:
        self.evidence = list(dict.fromkeys(evidence for claim in claims for evidence in claim.evidence))
        self._reader = reader
        self._words = statement.said_words | statement.asked_words
        self._elements = reader.elements
        self.telling = frozenset().union(*(reader.names(table).telling for table in self.tables))
        self.names = frozenset().union(*(reader.names(table).forms for table in self.tables))
        self._groups: list[_Group] = []
        self.cells: list[PrintedNumber] = []
        self.cited: list[PrintedNumber] = []
        for evidence in self.evidence:
            check_cancelled()
            self._read(evidence, statement)
        for evidence in {evidence.element: evidence for evidence in reversed(self.evidence)}.values():
            self._read_image(evidence)
        self.named = list(self._named(statement))

    @property
    def operands(self) -> list[PrintedNumber]:
        """The cited numbers to compute with; of tables, the cells that the statement names, if it names a few."""
        named = {(one.evidence.element, one.evidence.place) for one in self.named}
        few = len(named) <= _MOST_OPERANDS
        tables = {one.evidence.element for one in self.named} if few else set[str]()
        cited = [
            one
            for one in self.cited
            if one.evidence.element not in tables or (one.evidence.element, one.evidence.place) in named
        ]
        return [*(cited if len(cited) <= _MOST_OPERANDS else ()), *(self.named if few else ())]

    @property
    def tables(self) -> list[Table]:
        """The cited tables."""
        found = (self._elements.get(element) for element in dict.fromkeys(one.element for one in self.evidence))
        return [table for table in found if isinstance(table, Table)]

    def agreeing(self, number: Number, *, said: Wording) -> list[PrintedNumber]:
        """Return the printed numbers that are the stated one, in order; in a table without its scale ("in $ million")
        if the table names no other one."""
        found = list(self._agreeing(number, said))
        if not found and number.scale != 1:
            unscaled = self._agreeing(number.unscaled, said)
            found = [one for one in unscaled if one.number.scale == 1 and self._scales(one) in (set(), {number.scale})]
        return found

    def _agreeing(self, number: Number, said: Wording) -> Iterator[PrintedNumber]:
        for group in self._groups:
            for at in group.index.agreeing(number, said=said, around_falls=group.falls):
                one = group.printed(at)
                if one.part != "name" or is_printed_so(one.number, number):
                    yield one

    def _scales(self, one: PrintedNumber) -> Set[Decimal] | None:
        """Return the scales that a table names for a value; None outside tables."""
        table = self._elements.get(one.evidence.element)
        heads = one.names.heads(one.cell) if one.cell is not None and one.names is not None else ""
        return scales_in(f"{table.caption} {heads}") if isinstance(table, Table) else None

    def _read(self, evidence: Evidence, statement: Statement) -> None:
        element = self._elements.get(evidence.element)
        self._add_text(self._reader.headings.get(evidence.element, ""), evidence, "name")
        cells = self._reader.cells(element, evidence) if isinstance(element, Table) else ()
        if isinstance(element, Table) and cells:
            self._add_cells(cells, evidence, self._reader.names(element))
            self._add_text(self._reader.heads(element), evidence, "name")
            return
        if isinstance(element, Table):
            self._add_text(self._reader.beside_values(element, evidence.quote), evidence, "cited")
            self._add_text(self._reader.heads(element), evidence, "name")
            names = self._reader.names(element)
            # What the statement says of other cells may fit, too: those beside the named ones.
            self._add_cells(names.named(statement), evidence, names, printed=names.cells)
            return
        self._add_text(evidence.quote, evidence, "cited")
        if element is not None:
            self._add_text(element_text(element), evidence, "near")

    def _read_image(self, evidence: Evidence) -> None:
        """Add what was read in the image of an element; of a table's image, what its cells don't print."""
        element = self._elements.get(evidence.element)
        quoted = {one.quote for one in self.evidence}
        for text in self._reader.readings.get(evidence.element, ()):
            if text not in quoted:
                read = self._reader.beside_values(element, text) if isinstance(element, Table) else text
                self._add_text(read, evidence, "cited")

    def _add_text(
        self, text: str | Sequence[Number], evidence: Evidence, part: Literal["cited", "near", "name"]
    ) -> None:
        index = self._reader.numbers(text) if isinstance(text, str) else NumberIndex(text)
        if part == "cited":
            numbers = self._of_named_sentences(text) if isinstance(text, str) else text
            self.cited.extend(PrintedNumber(number, evidence) for number in numbers)
        falls = describes_decrease(evidence.quote)
        self._groups.append(_Group(falls, index, lambda at: PrintedNumber(index.numbers[at], evidence, part=part)))

    def _of_named_sentences(self, text: str) -> list[Number]:
        """Return the numbers of a quote to compute with. An integer in brackets may be the number of a reference."""
        found: dict[Number, None] = {}
        for sentence in split_sentences(text):
            said = {word for word in content_words(sentence.casefold()) if not word[0].isdigit()}
            if not said or said & self._words:
                found |= dict.fromkeys(numbers_in(_NO_OPERANDS.sub(" ", sentence), spelled=True))
        return list(found)

    def _add_cells(
        self, cells: Sequence[Cell], evidence: Evidence, names: CellNames, *, printed: Sequence[Cell] = ()
    ) -> None:
        found = list(_of_cells(cells, evidence, names))
        compared = list(_of_cells(printed, evidence, names)) if printed else found
        self.cells.extend(found or compared)
        self.cited.extend(one for one in found if one.part == "cited")
        index = NumberIndex([one.number for one in compared])
        self._groups.append(_Group(False, index, compared.__getitem__))

    def _named(self, statement: Statement) -> Iterator[PrintedNumber]:
        """Yield the main numbers of the cells that the statement names, once for each table."""
        seen = set[str]()
        for evidence in self.evidence:
            table = self._elements.get(evidence.element)
            if isinstance(table, Table) and table.id not in seen:
                seen.add(table.id)
                names = self._reader.names(table)
                for cell in names.named(statement):
                    yield from list(_of_cells([cell], evidence, names))[:1]


def _of_cells(cells: Iterable[Cell], evidence: Evidence, names: CellNames) -> Iterator[PrintedNumber]:
    for cell in cells:
        shown = Evidence(element=evidence.element, place=cell.place, quote=cell.text)
        for index, number in enumerate(numbers_in(cell.text, spelled=True)):
            yield PrintedNumber(
                number, shown, cell, names if cell.role == "value" else None, "near" if index else "cited"
            )
