"""Selects the table cells whose row and column a question names in full or by position, with no other words left."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise, product, takewhile
from math import prod

from paperscope_core.types import Table
from query.extractive.question import Operation, Question, words_within
from query.extractive.table_index import Header, IndexedCell, TableIndex
from query.extractive.wording import FORM_WORDS, fold, strip_citations, strip_remark, tokens
from query.question.references import ORDINALS
from query.words import runs

__all__ = ["Selection", "captioned", "select", "select_counted"]

# Headers of one or two letters ("P", "n", "In") match ordinary words by chance, so their case must be the same.
_SHORT_HEADER = 2
# The minimum number of words that quote a whole caption, or its beginning, and do not match by chance.
_MIN_CAPTION_WORDS = 3
_MIN_PREFIX_WORDS = 8
_MAX_NAME_WORDS = 14
_MAX_READINGS = 16
_ABBREVIATED = re.compile(r"\b([^\W\d_]{3,})\.(?!\w)")
_QUOTATION = re.compile(r"[“\"][^”\"]*([”\"]?)")
_ORDINAL = rf"(?:{'|'.join(ORDINALS)}|last|[1-9]\d?(?:st|nd|rd|th))"
_COUNT = re.compile(rf"{_ORDINAL}|\d\d?")
_COUNTED = re.compile(
    rf"(?i)(?<![\w-])(?:{_ORDINAL}[ -](?:row|column)|(?:row|column) (?:number )?[1-9]\d?)(?![\w-]|[.,/]\d)"
)
_INTERROGATIVES = ("what", "which", "many", "much")
# The whole form of a question for one counted cell, with "|" for the words that give its column, "·" for those that
# give its row or the table, and "~" for those of the caption. Any other word leaves the question open, because it may
# ask for another cell or for several ("the row below the second row", "second from the bottom", "how many rows").
_ASKING = """a an and appear are at can contain do does find for found give given has have how in is it list listed many
me much of on please print printed read report reported s say show shown stand state tell that the there was were what
which you"""
_COUNTED_FORM = re.compile(
    rf"(?:(?:[·|~]|{'|'.join(_ASKING.split())}|from(?: the)?(?= [·|])|under(?: the)?(?= \|)|number(?! of [^|])"
    r"|(?<!many )(?:cell|entry|value)|(?<!many )(?<!what )(?<!which )(?:column|row|table))(?: |$))*"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The cells that have a named header on every level of which the question names headers.

    `named` are the headers, in the question's order within each level; `wanted` is the number of cells that the
    question names. `counted` maps an axis to the position, from 1, of the row or column that the question counts.
    """

    index: TableIndex
    cells: tuple[IndexedCell, ...]
    named: tuple[Header, ...]
    wanted: int
    by_label: bool
    counted: Mapping[str, int] = field(default_factory=dict)

    def names(self, axis: str) -> bool:
        """Whether a header of this axis is named, or none is needed because a table named by its label has a single
        line."""
        if any(header.axis == axis for header in self.named):
            return True
        return self.by_label and len({getattr(cell.cell, axis) for cell in self.index.cells}) == 1


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mention:
    """A header that the question names, and the indices of its words there."""

    header: Header
    at: frozenset[int]


def captioned(question: Question, tables: Sequence[Table]) -> dict[str, frozenset[int]]:
    """The tables whose caption the question quotes, in full or from its beginning.

    Returns:
        The indices of the caption's words in the question, by table id.
    """
    asked = [word.text for word in question.words]
    found: dict[str, frozenset[int]] = {}
    for table in tables:
        for text in (table.caption, strip_citations(table.caption)):
            caption = [word.text for word in tokens(text)]
            for start in range(len(asked)):
                common = takewhile(lambda pair: pair[0] == pair[1], zip(asked[start:], caption, strict=False))
                size = sum(1 for _ in common)
                if size >= _MIN_CAPTION_WORDS and (size == len(caption) or size >= _MIN_PREFIX_WORDS):
                    found[table.id] = frozenset(range(start, max(start + size, _quotation_end(question, start))))
    return found


def _quotation_end(question: Question, start: int) -> int:
    """The index after the last word of the quotation that begins at a word; 0 if there is none."""
    first = question.words[start].start
    end = next(
        (match.end() for match in _QUOTATION.finditer(question.text) if match[1] and match.start() == first - 1), 0
    )
    return sum(word.end <= end for word in question.words)


def select(
    question: Question, index: TableIndex, operation: Operation | None, *, quoted: frozenset[int], by_label: bool
) -> list[Selection]:
    """The interpretations of a question on a table that account for all of its words.

    Args:
        question: The question.
        index: The table.
        operation: The computation that is asked for; None for a look-up, whose words must all be names.
        quoted: Indices of the question's words that name the table: its label, or its caption.
        by_label: Whether the question names the table by label or caption.

    Returns:
        One selection for each way to interpret the names without unexplained words.
    """
    around = _surrounding_words(index)
    found = [
        _selection(index, reading, by_label=by_label)
        for reading in _readings(_mentions(question, index, quoted))
        if not _has_unexplained_words(question, operation, _named_at(reading) | quoted, around)
    ]
    return [selection for selection in found if selection.cells]


def select_counted(question: Question, index: TableIndex, *, quoted: frozenset[int]) -> list[Selection] | None:
    """The single cell whose row and column the question gives by position ("second row", "column 4"), or one of them by
    name.

    Returns:
        None if the question gives no position; an empty list if words remain unexplained or the position is ambiguous.
    """
    words, mentions = [word.text for word in question.words], _mentions(question, index, quoted)
    spans = [words_within(question.words, [match.span()]) for match in _COUNTED.finditer(question.text)]
    # A header or a part of one ("First row seats") is not a position.
    spans = [span for span in spans if not any(span <= one.at for one in mentions)]
    places = [(*_count([words[number] for number in span]), span) for span in spans]
    if not places:
        return None
    counts = {axis: count for axis, count, _ in places}
    at = quoted.union(*spans)
    names = [one for one in _mentions(question, index, at) if not _COUNT.fullmatch("".join(words[i] for i in one.at))]
    readings = _readings([one for one in names if one.header.axis not in counts]) or [()]
    named = _named_at(readings[0])
    in_column = {number for axis, _, span in places if axis == "column" for number in span}
    in_column |= _named_at([one for one in readings[0] if one.header.axis == "column"])
    marks = dict.fromkeys(named | at, "·") | dict.fromkeys(in_column, "|")
    selection = _selection(index, readings[0], by_label=True)
    axes = {*counts, *(header.axis for header in selection.named)}
    if (
        len(places) > len(counts)
        or axes != {"row", "column"}
        or len(readings) > 1
        or selection.wanted > 1
        or not all(one.at <= named for one in names)
        or not _asks_for_one_cell(question, marks, index)
    ):
        return []
    lines = {axis: _lines(index, axis) for axis in counts}
    taken = {axis: lines[axis][count - 1 :][:1] for axis, count in counts.items()}
    cells = [one for one in selection.cells if all(getattr(one.cell, axis) in taken[axis] for axis in counts)]
    # "Row 4" must be both the fourth row and the row named 4, if there is one.
    called = {one.header for one in mentions if one.header.axis in counts and one.at & at}
    if len(cells) != 1 or not cells[0].headers >= called:
        return []
    counted = {axis: lines[axis].index(line[0]) + 1 for axis, line in taken.items()}
    return [replace(selection, cells=tuple(cells), counted=counted)]


def _count(words: Sequence[str]) -> tuple[str, int]:
    """The axis and position, from 1, of "second row", "4th row" and "row 4"; position 0 is the last one."""
    axis = next(word for word in words if word in ("row", "column"))
    count = next(word for word in words if _COUNT.fullmatch(word))
    if count in ORDINALS:
        return axis, ORDINALS.index(count) + 1
    return axis, 0 if count == "last" else int(re.sub(r"\D", "", count))


def _asks_for_one_cell(question: Question, marks: Mapping[int, str], index: TableIndex) -> bool:
    """Whether the question has the form `_COUNTED_FORM`.

    Words of the caption are explained, too, except those of an operation, the noun of "which model", because the value
    is not a model, and numbers, which may be another position.
    """
    words = [word.text for word in question.words]
    asked = {word for before, word in pairwise(words) if before in _INTERROGATIVES}
    asked |= {words[number] for number in question.operation.words} if question.operation else set()
    around = {word for word in _surrounding_words(index) - asked - FORM_WORDS if not _COUNT.fullmatch(word)}
    said = (marks.get(number, "~" if word in around else word) for number, word in enumerate(words))
    return _COUNTED_FORM.fullmatch(" ".join(said)) is not None


def _lines(index: TableIndex, axis: str) -> list[int]:
    """The rows or columns with values, in order; empty if merged cells or lines without values make positions
    ambiguous."""
    values = {cell for one in index.cells for cell in (one.cell, one.note) if cell is not None}
    rows, columns = ({getattr(one.cell, axis) for one in index.cells} for axis in ("row", "column"))
    others = [cell for cell in index.table.cells if cell not in values and cell.text]
    stubs = [cell for cell in others if cell.role in ("row_header", "value")]
    if any(max(cell.row_span, cell.column_span) > 1 for cell in values) or any(one.column in columns for one in stubs):
        return []
    if axis == "column":
        return sorted(columns) if columns == set(range(min(columns, default=0), index.table.shape[1])) else []
    bare = any(rows.isdisjoint(range(one.row, one.row + one.row_span)) for one in stubs)
    return [] if bare else sorted(rows)


def _selection(index: TableIndex, reading: Sequence[_Mention], *, by_label: bool) -> Selection:
    """The cells that have one of the named headers on each level."""
    levels: defaultdict[str, list[_Mention]] = defaultdict(list)
    for mention in sorted(reading, key=lambda mention: min(mention.at)):
        levels[mention.header.level].append(mention)
    headers = [dict.fromkeys(mention.header for mention in mentions) for mentions in levels.values()]
    # Rows with the same name count once, and so do repeated names.
    places = [{mention.at for mention in mentions} for mentions in levels.values()]
    return Selection(
        index=index,
        cells=tuple(cell for cell in index.cells if all(cell.headers & level.keys() for level in headers)),
        named=tuple(header for level in headers for header in level),
        wanted=prod(min(len(at), len(level)) for at, level in zip(places, headers, strict=True)),
        by_label=by_label,
    )


def _surrounding_words(index: TableIndex) -> set[str]:
    return {word.text for text in (index.table.caption, *index.stub_titles) for word in tokens(text)}


def _has_unexplained_words(
    question: Question, operation: Operation | None, named: frozenset[int], around: set[str]
) -> bool:
    """Whether more words remain than the operation allows, or one that asks for another operation."""
    own = operation.words | operation.verb if operation else frozenset[int]()
    asked = question.operation.words - own if question.operation else frozenset[int]()
    left = [
        index
        for index, word in enumerate(question.words)
        if index not in named | own | question.form and (index in asked or word.text not in around)
    ]
    return len(left) > (operation.spare if operation else 0)


@lru_cache(maxsize=64)  # One question is compared with many tables.
def _windows(words: tuple[str, ...]) -> Mapping[str, list[range]]:
    return runs(words, longest=_MAX_NAME_WORDS)


def _mentions(question: Question, index: TableIndex, quoted: frozenset[int]) -> list[_Mention]:
    """The headers that the question names in full, except those inside a longer name."""
    windows = _windows(tuple(word.text for word in question.words))
    found = [
        _Mention(header=header, at=at)
        for header in index.headers
        for at in _places(question, header, windows)
        if not at & quoted
    ]
    return [one for one in found if not any(one.at < other.at for other in found)]


def _places(question: Question, header: Header, windows: Mapping[str, list[range]]) -> set[frozenset[int]]:
    found = set[frozenset[int]]()
    name = header.name
    forms = (header.text, name, strip_remark(name), header.meaning, *_spelled_out(name, question))
    for form in dict.fromkeys(filter(None, forms)):
        letters = "".join(word.text for word in tokens(form))
        if not letters.strip("+-"):
            continue
        for window in windows.get(letters, ()):
            spelt = question.text[question.words[window[0]].start : question.words[window[-1]].end]
            same = len(letters) > _SHORT_HEADER or _letters(form) == _letters(spelt)
            if same and not _is_prolonged(question, window):
                found.add(frozenset(window))
    # The longest form takes precedence: "F1 (%)" over "F1".
    return {at for at in found if not any(at < other for other in found)}


def _spelled_out(name: str, question: Question) -> Iterator[str]:
    """A header with its abbreviated word ("Prec.") spelled out as in the question."""
    folded = fold(name)
    for match in _ABBREVIATED.finditer(folded):
        cut = match[1].casefold()
        for word in question.words:
            if word.text.startswith(cut) and word.text != cut:
                yield f"{folded[: match.start()]}{word.text}{folded[match.end() :]}"


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold(text)))


def _is_prolonged(question: Question, window: range) -> bool:
    """Whether a hyphen or a plus joins the words to a longer name: "BERT" in "BERT-large", "RAG" in "X + RAG"."""
    first, last = question.words[window[0]], question.words[window[-1]]
    before = question.words[: window[0]][-1:]
    after = question.words[window[-1] + 1 :][:1]
    return (
        (any(word.text == "+" for word in before) and first.text != "+")
        or any(word.text == "+" for word in after)
        or question.text[first.start - 1 : first.start] == "-"
        or (question.text[last.end : last.end + 1] == "-" and any(word.start == last.end + 1 for word in after))
    )


def _readings(mentions: Sequence[_Mention]) -> list[tuple[_Mention, ...]]:
    """Each way to assign the same words of the question to one level: a row may have the same name as a column."""
    places: defaultdict[frozenset[int], dict[str, list[_Mention]]] = defaultdict(dict)
    for mention in mentions:
        places[mention.at].setdefault(mention.header.level, []).append(mention)
    if not places or prod(map(len, places.values())) > _MAX_READINGS:
        return []
    chosen = product(*(levels.values() for levels in places.values()))
    return [tuple(mention for group in groups for mention in group) for groups in chosen]


def _named_at(reading: Sequence[_Mention]) -> frozenset[int]:
    return frozenset[int]().union(*(mention.at for mention in reading))
