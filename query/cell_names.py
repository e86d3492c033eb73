"""Which values of a table a statement speaks of, told by the names of their rows and columns."""

import re
from dataclasses import dataclass

from paperscope.types import Cell, Table
from query.numbers import without_labels
from query.words import content_words

__all__ = ["CellNames", "Headers", "Statement"]

# What follows one of these is what something is measured against, not what it is said of.
_STANDARD = re.compile(
    r"(?i)\b(?:than|over|above|below|against|versus|vs\.?|compared (?:to|with)|relative to|outperform\w*|beats?|"
    r"exceeds?|surpass\w*|(?:improv|boost|enhanc)\w*(?: on| over| upon)?)\s+.*?"
    r"(?=[,;:()]|\.(?:\s|$)|\s(?:by|with|at|in|on|under|for|from|to|and)\s|$)"
)
_DECIMAL = re.compile(r"(?<!\w)[-+]?\d+(?:[.,]\d+)+%?|(?<!\w)\d+%")


@dataclass(frozen=True, slots=True)
class Statement:
    """The words of a statement: all that are `said`, those it is `about` (no standards of comparison), and `asked`,
    those of the question that it answers."""

    said: frozenset[str]
    about: frozenset[str]
    asked: frozenset[str]

    @classmethod
    def of(cls, text: str, *, question: str = "") -> "Statement":
        """Read a statement; values that it gives, and labels, name nothing."""
        plain = _DECIMAL.sub(" ", without_labels(text))
        asked = _DECIMAL.sub(" ", without_labels(question))
        return cls(content_words(plain), content_words(_STANDARD.sub(" ", plain)), content_words(asked))


@dataclass(frozen=True, slots=True)
class _Name:
    """The words of the headers beside a value, the title of its section among them, and of those above it."""

    row: frozenset[str]
    column: frozenset[str]

    @property
    def words(self) -> frozenset[str]:
        return self.row | self.column


class CellNames:
    """The names of a table's values: the words of the headers of row and column, and of the section's title."""

    def __init__(self, table: Table) -> None:
        self.cells = [cell for cell in table.cells if cell.role == "value"]
        self._headers = Headers(table)
        self._of = {_key(cell): self._name(cell) for cell in self.cells}
        # Rows and columns repeat the same words over and over.
        self._names = frozenset(self._of.values())
        words = [name.words for name in self._names]
        shared = frozenset.intersection(*words) if words else frozenset()
        self.telling = frozenset().union(*words) - shared
        """The words that tell some values from others."""

    def _name(self, cell: Cell) -> _Name:
        row, column = self._headers.row(cell), self._headers.column(cell)
        return _Name(content_words(" ".join(row)), content_words(" ".join(column)))

    def heads(self, cell: Cell) -> str:
        """The headers that name a value."""
        return " ".join((*self._headers.row(cell), *self._headers.column(cell)))

    def words(self, cell: Cell) -> frozenset[str]:
        """The words that name a value."""
        name = self._of.get(_key(cell))
        return name.words if name is not None else frozenset()

    def fits(self, cell: Cell, statement: Statement) -> bool:
        """Whether no other value is named more fully than this one.

        It is named more fully if the statement is about all the words of this one's names that it says, and about
        another one; or about its whole name, of which this one's has more words than are said ("BERT" of "BERT+DSC").
        The question must not speak for this one.
        """
        name = self._of.get(_key(cell))
        return name is None or not any(_is_fuller(other, name, statement) for other in self._names)

    def named(self, statement: Statement) -> list[Cell]:
        """The values whose names the statement holds best, in reading order; none where it names none."""
        return [cell for cell in self.cells if self.words(cell) & statement.said and self.fits(cell, statement)]


def _is_fuller(other: _Name, name: _Name, statement: Statement) -> bool:
    if not name.words & statement.asked <= other.words:
        return False
    if name.words & statement.said < other.words & statement.about:
        return True
    return _is_whole(other.row, name.row, other.column, name.column, statement) or _is_whole(
        other.column, name.column, other.row, name.row, statement
    )


def _is_whole(
    other: frozenset[str],
    name: frozenset[str],
    other_across: frozenset[str],
    across: frozenset[str],
    statement: Statement,
) -> bool:
    """Whether on one axis the statement says the other's whole name and only that part of this one's, while on the
    axis across it says of the other's all that it says of this one's."""
    said = name & statement.said
    whole = bool(other) and other <= statement.about and said == other and other < name
    return whole and across & statement.said <= other_across


def _key(cell: Cell) -> tuple[int, int]:
    return cell.row, cell.column


class Headers:
    """The headers of a table's cells, from the outermost to the nearest one."""

    def __init__(self, table: Table) -> None:
        self._rows: dict[int, dict[int, str]] = {}
        self._columns: dict[int, list[str]] = {}
        self._sections: list[tuple[int, str]] = []
        for cell in sorted(table.cells, key=_key):
            if cell.role == "section":
                self._sections.append((cell.row, cell.text))
            elif cell.role == "row_header":
                for row in range(cell.row, cell.row + cell.row_span):
                    self._rows.setdefault(row, {})[cell.column] = cell.text
            elif cell.role == "column_header":
                for column in range(cell.column, cell.column + cell.column_span):
                    self._columns.setdefault(column, []).append(cell.text)
        self._fill()

    def _fill(self) -> None:
        """A stub that is left empty left of another one repeats the one above it."""
        above: dict[int, str] = {}
        heads = {row for row, _ in self._sections}
        for row in range(max(self._rows, default=0) + 1):
            stubs = self._rows.get(row, {})
            if row in heads or not stubs:
                above = {}
                continue
            last = max((column for column, text in stubs.items() if text), default=-1)
            first = min((column for column, text in stubs.items() if text), default=-1)
            for column in range(first):
                if above.get(column):
                    stubs[column] = above[column]
            above = {column: text for column, text in stubs.items() if column <= last}

    def row(self, cell: Cell) -> list[str]:
        """What stands beside a cell, after the title of the section that it is in."""
        sections = [text for row, text in self._sections if row < cell.row]
        stubs = self._rows.get(cell.row, {})
        return [text for text in (*sections[-1:], *(text for _, text in sorted(stubs.items()))) if text]

    def column(self, cell: Cell) -> list[str]:
        """What stands above a cell."""
        return [text for text in self._columns.get(cell.column, ()) if text]
