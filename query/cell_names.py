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
    r"exceeds?|surpass\w*|improv\w+ (?:on|over|upon))\s+.*?"
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


class CellNames:
    """The names of a table's values: the words of the headers of row and column, and of the section's title."""

    def __init__(self, table: Table) -> None:
        self.cells = [cell for cell in table.cells if cell.role == "value"]
        self._headers = Headers(table)
        self._words = {_key(cell): content_words(self.heads(cell)) for cell in self.cells}
        # Rows and columns repeat the same words over and over.
        self._names = frozenset(self._words.values())
        shared = frozenset.intersection(*self._names) if self._names else frozenset()
        self.telling = frozenset().union(*self._names) - shared
        """The words that tell some values from others."""

    def heads(self, cell: Cell) -> str:
        """The headers that name a value."""
        return " ".join((*self._headers.row(cell), *self._headers.column(cell)))

    def words(self, cell: Cell) -> frozenset[str]:
        """The words that name a value."""
        return self._words.get(_key(cell), frozenset())

    def fits(self, cell: Cell, statement: Statement) -> bool:
        """Whether no other value is named more fully than this one.

        It is named more fully if the statement is about all the words of this one's names that it says, and about
        another one; the question must not speak for this one.
        """
        words = self.words(cell)
        held, asked = words & statement.said, words & statement.asked
        return not any(held < names & statement.about and asked <= names for names in self._names)

    def named(self, statement: Statement) -> list[Cell]:
        """The values whose names the statement holds best, in reading order; none where it names none."""
        return [cell for cell in self.cells if self.words(cell) & statement.said and self.fits(cell, statement)]


def _key(cell: Cell) -> tuple[int, int]:
    return cell.row, cell.column


class Headers:
    """The headers of a table's cells, from the outermost to the nearest one."""

    def __init__(self, table: Table) -> None:
        self._rows: dict[int, list[str]] = {}
        self._columns: dict[int, list[str]] = {}
        self._sections: list[tuple[int, str]] = []
        for cell in sorted(table.cells, key=_key):
            if cell.role == "section":
                self._sections.append((cell.row, cell.text))
            elif cell.role == "row_header":
                for row in range(cell.row, cell.row + cell.row_span):
                    self._rows.setdefault(row, []).append(cell.text)
            elif cell.role == "column_header":
                for column in range(cell.column, cell.column + cell.column_span):
                    self._columns.setdefault(column, []).append(cell.text)

    def row(self, cell: Cell) -> list[str]:
        """What stands beside a cell, after the title of the section that it is in."""
        sections = [text for row, text in self._sections if row < cell.row]
        return [text for text in (*sections[-1:], *self._rows.get(cell.row, ())) if text]

    def column(self, cell: Cell) -> list[str]:
        """What stands above a cell."""
        return [text for text in self._columns.get(cell.column, ()) if text]
