"""Finds the cells of a table that a statement refers to by row and column names."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache
from itertools import islice

from paperscope_core.text.words import plain_words
from paperscope_core.types import Cell, Table
from paperscope_core.types.tables import column_headers, is_bracketed, table_rows
from query.content_words import content_words, runs, without_quotations
from query.numbers import numbers_in, without_labels

__all__ = ["CellNames", "Statement", "TableHeaders", "name_form", "name_spans", "without_citations"]

# The words after one of these name the baseline of a comparison, not its subject.
_STANDARD = re.compile(
    r"(?i)\b(?:than|over|above|below|against|versus|vs\.?|compared (?:to|with)|relative to|outperform\w*|beats?|"
    r"exceeds?|surpass\w*|(?:improv|boost|enhanc)\w*(?: on| over| upon)?)\s+.*?"
    r"(?=[,;:()]|\.(?:\s|$)|\s(?:by|with|at|in|on|under|for|from|to|and)\s|$)"
)
# The "3.5" of "GPT-3.5" is a part of a name, and so is the "5.0" of "OntoNotes 5.0", where a table has such a header.
_DECIMAL = re.compile(r"(?P<name>(?<!\w)\w{0,30}[A-Z]\w{0,30}\s)?(?<![\w+-])[-+]?\d+(?:[.,]\d+)+%?|(?<!\w)\d+%")
_YEAR = r"[^()\d]*(?:19|20)\d\d[a-z]?"
_CITED = re.compile(rf"(?<!\s)\s*+(?:\({_YEAR}(?:;{_YEAR})*\)|\[\d[\d,\s]*\])")
# A statement that names more values in different ways names none of them more specifically than others.
_MOST_NAMED = 400
_LEAST_CONFIDENCE = 0.5
# A name in other pieces: its letters, the words of the text that it may be, and how many places are compared.
_LEAST_LETTERS, _MOST_PIECES, _MOST_PLACES = 4, 6, 20
# What continues a name before it and behind it.
_LETTER = re.compile(r"[\w+/&-]")
_LONGER = re.compile(r"[\w+/-]|\s[+&]")
# A value with its error or stars is no header, but was read as one.
_VALUE = re.compile(
    r"[-+\u2212]?\d[\d.,]*\s?%?\s?(?:[*\u2020]{1,3}\s?)?(?:[(\[][^()\[\]\w]*\d[\d\s.,%;:to\u2012-\u2014\u2212-]*[)\]]|±\D*\d.*|[*]{1,3})\s?[*]{0,3}"
)
# Longer headers are sentences, which a statement does not repeat.
_LONGEST_NAME = 100
_STARTS = re.compile(r"(?<![\w+/&-])\S")
_SUBSCRIPT = re.compile(r"(?<=(?<!\w)[^\W\d_])_\(?(?=\w)")
_RANGE = re.compile(r"(?<![\w.,-])(?P<first>\d{1,2})(?:\s?-\s?|\s(?:to|through)\s)(?P<last>\d{1,2})(?![\w.,%]*\d|%)")
_LONGEST_RANGE = 20
# "+ negative" and "- negative" are different names.
_SIGNED = re.compile(r"(?<!\S)([-+])\s?(\w+)")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with the words and numbers it uses. `about` is its text without the baselines of comparisons;
    `asked_words` are the words of the question without quotations: a quoted caption names a table and no cell of it."""

    text: str
    about: str
    values: frozenset[Decimal]
    said_words: frozenset[str]
    about_words: frozenset[str]
    asked_words: frozenset[str]

    @classmethod
    def of(cls, text: str, *, question: str = "") -> "Statement":
        """Read a statement. Its labels such as "Table 8" name nothing, and its numbers only as whole names ("25%")."""
        texts = (text, without_quotations(question))
        said, asked = (_RANGE.sub(_members, without_labels(one, keeps_positions=True)) for one in texts)
        about = _STANDARD.sub(" ", said)
        names = (_DECIMAL.sub(lambda match: match[0] if match["name"] else " ", one) for one in (said, about, asked))
        values = frozenset(number.value for number in numbers_in(text))
        return cls(
            _spaced(said.casefold()), _spaced(about.casefold()), values, *(_words(one.casefold()) for one in names)
        )

    def naming(self, heads: Mapping[str, list[str]]) -> "Statement":
        """Return the statement with the headers that it spells otherwise: in other pieces ("Step-Back" for the small
        capitals "S TEP -B ACK"), or in full ("precision" for "Prec.").

        Args:
            heads: The headers with their words.
        """
        texts = [self.text, self.about]
        pieces = [plain_words(text) for text in texts]
        joined = [runs(words, longest=_MOST_PIECES) for words in pieces]
        added: list[list[str]] = [[], []]
        for head, own in heads.items():
            key = "".join(own)
            for words, found, names in zip(pieces, joined, added, strict=True):
                places = found.get(key, [])[:_MOST_PLACES] if len(key) >= _LEAST_LETTERS else []
                otherwise = places and all(words[place.start : place.stop] != own for place in places)
                short = len(own) == 1 and len(key) > 2 and head.endswith(".")
                if otherwise or (short and any(word.startswith(key) for word in words)):
                    names.append(head)
        if not added[0]:
            return self
        text, about = (" ; ".join((text, *names)) for text, names in zip(texts, added, strict=True))
        said_words, about_words = (frozenset().union(*map(_words, names)) for names in added)
        return replace(
            self,
            text=text,
            about=about,
            said_words=self.said_words | said_words,
            about_words=self.about_words | about_words,
        )


@dataclass(frozen=True, slots=True)
class _Axis:
    """The words of the headers on one side of a value, and the innermost header."""

    words: frozenset[str]
    head: str

    @classmethod
    def of(cls, headers: Sequence[str]) -> "_Axis":
        headers = [text for text in headers if not _VALUE.fullmatch(text.strip())]
        texts = [without_labels(without_citations(text)).casefold() for text in headers]
        words = frozenset().union(*(_words(without_labels(text).casefold()) for text in headers))
        return cls(words, _spaced(texts[-1]) if texts else "")

    def appears_in(self, text: str) -> bool:
        """Return whether the text contains the innermost header as a whole name, not as part of a longer one."""
        at = text.find(self.head) if self.head else -1
        while at >= 0:
            end = at + len(self.head)
            if not _LETTER.match(text, at - 1 if at else len(text)) and not _LONGER.match(text, end):
                return True
            at = text.find(self.head, at + 1)
        return False

    def within(self, statement: "Statement") -> "_Axis":
        """Only the words that the statement or its question uses, and the header if the statement contains it."""
        words = self.words & (statement.said_words | statement.about_words | statement.asked_words)
        named = self.appears_in(statement.text) or self.appears_in(statement.about)
        return _Axis(words, self.head if named else "")


_NO_AXIS = _Axis(frozenset(), "")


@dataclass(frozen=True, slots=True)
class _Name:
    """The row headers of a value, with its section title, and its column headers."""

    row: _Axis
    column: _Axis

    @property
    def words(self) -> frozenset[str]:
        return self.row.words | self.column.words


class CellNames:
    """The header words that name each value of a table."""

    def __init__(self, table: Table) -> None:
        self.cells = [cell for cell in table.cells if cell.role == "value"]
        self._headers = TableHeaders(table)
        self._below = {(cell.row - 1, cell.column): cell for cell in self.cells}
        # Nothing is concluded from a grid that is more likely wrong than right.
        self._in_doubt = table.confidence < _LEAST_CONFIDENCE
        self._axis = cache(_Axis.of)
        self._of = {_key(cell): self._name(cell) for cell in self.cells}
        # Computed once, because rows and columns share many words.
        self._names = frozenset(self._of.values())
        inner = {axis.head for name in self._names for axis in (name.row, name.column)}
        self._head_words = {head: plain_words(head) for head in inner if head}
        self._spelled = lru_cache(maxsize=16)(self._find_spelled)
        self._alike = lru_cache(maxsize=16)(self._find_alike)
        self._best = lru_cache(maxsize=16)(self._find_best)
        self._stated = lru_cache(maxsize=16)(self._find_stated)
        heads = (name_form(cell.text) for cell in table.cells if cell.role != "value")
        self.forms = frozenset(head for head in heads if any(map(str.isalpha, head)))
        """The headers that are names, in the form of `name_form`."""
        words = [name.words for name in self._names]
        shared = frozenset.intersection(*words) if words else frozenset()
        self.telling = frozenset().union(*words) - shared
        """The words that tell some values from others."""

    def _name(self, cell: Cell) -> _Name:
        return _Name(self._axis(tuple(self._headers.row(cell))), self._axis(tuple(self._headers.column(cell))))

    def heads(self, cell: Cell) -> str:
        """Return the headers of a value as one text."""
        return " ".join((*self._headers.row(cell), *self._headers.column(cell)))

    def qualifying(self, cell: Cell) -> list[Cell]:
        """Return the cells with what qualifies a value, such as its standard error: the cell itself, if it prints more
        than one number, and one in brackets below."""
        below = self._below.get(_key(cell))
        several = next(islice(numbers_in(cell.text), 1, None), None) is not None
        return [*([cell] if several else ()), *([below] if below is not None and is_bracketed(below.text) else ())]

    def words(self, cell: Cell) -> frozenset[str]:
        """Return the header words of a value."""
        name = self._of.get(_key(cell))
        return name.words if name is not None else frozenset()

    def names_row(self, cell: Cell, statement: Statement) -> bool:
        """Return whether the statement contains the row header of the value as a whole name."""
        name = self._of.get(_key(cell))
        return name is not None and name.row.appears_in(self._spelled(statement).text)

    def fits(self, cell: Cell, statement: Statement) -> bool:
        """Return whether the statement names no other value more specifically than this one.

        Another value is named more specifically if the statement shares with it all the words that it shares with this
        value and more, ignoring baselines of comparisons; or if the statement contains the other's row or column header
        as a whole name but not this one's ("BERT", not "BERT+DSC"). The words of the question must not point to this
        value. Where the value has no header on a side, the table may name it elsewhere: words shared with the others'
        headers there say nothing, only their whole names do.

        If the statement states each value of a row that it names most specifically, and further ones, it does not name
        all that it states ("QUOREF has 6.52M negative and 38.6K positive examples, a ratio of 169"): the others are in
        the same row; or in the same column, if it states each value that it names.
        """
        name = self._of.get(_key(cell))
        statement = self._spelled(statement)
        best = self._best(statement)
        if self._in_doubt or name is None or best is None or name in best or self._fits_without_header(name, statement):
            return True
        rows, columns = self._stated(statement)
        return name.row in rows or name.column in columns

    def _fits_without_header(self, name: _Name, statement: Statement) -> bool:
        """Return whether a value without a row header, or without a column header, fits by its other names."""
        if name.row.words and name.column.words:
            return False
        axes, alike = self._alike(statement)
        ours = _Name(axes[name.row], axes[name.column])
        others = (
            _Name(
                one.row if name.row.words or one.row.head else _NO_AXIS,
                one.column if name.column.words or one.column.head else _NO_AXIS,
            )
            for one in alike
        )
        return not any(_is_fuller(other, ours, statement) for other in others)

    def named(self, statement: Statement) -> list[Cell]:
        """Return the values that the statement names most specifically, in reading order; empty if it names none."""
        statement = self._spelled(statement)
        axes, _ = self._alike(statement)
        said = {
            name
            for name in self._best(statement) or ()
            if name.words & statement.said_words or axes[name.row].head or axes[name.column].head
        }
        return [cell for cell in self.cells if self._of[_key(cell)] in said]

    def _find_spelled(self, statement: Statement) -> Statement:
        return statement.naming(self._head_words)

    def _find_stated(self, statement: Statement) -> tuple[frozenset[_Axis], frozenset[_Axis]]:
        """Return the rows of which the statement states all named values, and the columns if it does so of all rows."""
        rows: dict[_Axis, bool] = {}
        columns = set[_Axis]()
        for cell in self.named(statement):
            number = None if is_bracketed(cell.text) else next(numbers_in(cell.text), None)
            name = self._of[_key(cell)]
            rows[name.row] = rows.get(name.row, True) and (number is None or number.value in statement.values)
            columns.add(name.column)
        return frozenset(row for row in rows if rows[row]), frozenset(columns if all(rows.values()) else ())

    def _find_alike(self, statement: Statement) -> tuple[dict[_Axis, _Axis], dict[_Name, list[_Name]]]:
        """Return what the statement uses of each axis, and the names by what it uses of them."""
        axes = {axis: axis.within(statement) for name in self._names for axis in (name.row, name.column)}
        alike: dict[_Name, list[_Name]] = {}
        for name in self._names:
            alike.setdefault(_Name(axes[name.row], axes[name.column]), []).append(name)
        return axes, alike

    def _find_best(self, statement: Statement) -> frozenset[_Name] | None:
        """Return the names of which none is named more specifically; None if the statement names too many."""
        _, alike = self._alike(statement)
        if len(alike) > _MOST_NAMED:
            return None
        best = (named for named in alike if not any(_is_fuller(other, named, statement) for other in alike))
        return frozenset(name for named in best for name in alike[named])


def _is_fuller(other: _Name, name: _Name, statement: Statement) -> bool:
    if not name.words & statement.asked_words <= other.words:
        return False
    axes = ((other.row, name.row), (other.column, name.column))
    if any(theirs.head != ours.head and ours.appears_in(statement.text) for theirs, ours in axes):
        return False
    said = statement.said_words
    if not all(ours.words & said <= theirs.words for theirs, ours in axes):
        return False
    more = (other.words & said) - name.words
    if more & statement.about_words:
        return True
    return any(theirs.head != ours.head and theirs.appears_in(statement.about) for theirs, ours in axes)


def name_form(text: str) -> str:
    """Return the text as names are compared: without labels, citations and capitals, with single spaces."""
    return _spaced(without_labels(without_citations(text))).casefold()


def name_spans(text: str, names: Set[str]) -> list[tuple[int, int]]:
    """Return where a text contains the names as whole words, the longest one at each place; all are in `name_form`."""
    sizes = sorted({len(name) for name in names if 0 < len(name) <= _LONGEST_NAME}, reverse=True)
    found: list[tuple[int, int]] = []
    for match in _STARTS.finditer(text) if sizes else ():
        start = match.start()
        if found and start < found[-1][1]:
            continue
        ends = (start + size for size in sizes if text[start : start + size] in names)
        end = next((end for end in ends if not text[end : end + 1].isalnum()), None)
        if end is not None:
            found.append((start, end))
    return found


def without_citations(text: str) -> str:
    """Return the name without citations: "ELMo (Peters et al., 2018)", "ByteNet [18]"."""
    return _CITED.sub("", text)


def _members(match: re.Match[str]) -> str:
    """Return the integers of a range: "seeds 1 to 4" names seed 2."""
    first, last = int(match["first"]), int(match["last"])
    return ", ".join(map(str, range(first, last + 1))) if first < last <= first + _LONGEST_RANGE else match[0]


def _words(text: str) -> frozenset[str]:
    # The "model" of "d_model" is no word.
    return content_words(_SUBSCRIPT.sub("", text)) | {f"{sign}{word}" for sign, word in _SIGNED.findall(text)}


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _key(cell: Cell) -> tuple[int, int]:
    return cell.row, cell.column


class TableHeaders:
    """The row and column headers of each cell, outermost first."""

    def __init__(self, table: Table) -> None:
        self._rows = {row.number: [*row.sections, *row.headers] for row in table_rows(table)}
        self._columns = column_headers(table)

    def row(self, cell: Cell) -> list[str]:
        """Return the row headers of a cell, after the title of its section."""
        return self._rows.get(cell.row, [])

    def column(self, cell: Cell) -> Sequence[str]:
        """Return the column headers of a cell."""
        return self._columns[cell.column]
