"""Selects the table cells whose row and column a question names in full or by position, with no other words left."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product, takewhile
from math import prod

from paperscope_core.types import Table
from query.extractive.question import Operation, Question, words_within
from query.extractive.table_index import Header, IndexedCell, TableIndex
from query.extractive.wording import Token, fold, runs, strip_citations, strip_remark, tokens
from query.question.references import ORDINALS

__all__ = ["Selection", "captioned", "select", "select_counted"]


# Headers of one or two letters ("P", "n", "In") match ordinary words by chance, so their case must be the same.
_SHORT_HEADER = 2
# The minimum number of words that quote a whole caption, or its beginning, and do not match by chance.
_MIN_CAPTION_WORDS = 3
_MIN_PREFIX_WORDS = 8
_MAX_READINGS = 16
_ABBREVIATED = re.compile(r"\b([^\W\d_]{3,})\.(?!\w)")
_QUOTATION = re.compile(r"[“\"][^”\"]*[”\"]")
_ORDINAL = rf"(?:{'|'.join(ORDINALS)}|last|[1-9]\d?(?:st|nd|rd|th))"
_COUNT = re.compile(rf"{_ORDINAL}|\d\d?")
_COUNTED = re.compile(
    rf"(?i)(?<![\w-])(?:{_ORDINAL}[ -](?:row|column)|(?:row|column) (?:number )?[1-9]\d?)(?![\w-]|[.,/]\d)"
)
# "The row below the second row", "the last row but one", "how many values": these ask for another cell, or for several.
_ELSEWHERE = re.compile(
    r"(?i)\b(?:above|across|after|another|before|behind|below|besides?|between|beyond|but|down|further|near|off|one|out"
    r"|over|past|through|till|until|up|rows|columns|cells|values|numbers|entries|from .* to"
    r"|under (?:the )?(?:\w+[ -])?row"
    r"|(?:what|which) (?:author|column|paper|row|table)s?)\b"
)

Level = tuple[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The cells that have a named header on every level of which the question names headers.

    `named` are the headers by level, in the question's order; `wanted` is the number of cells that the question names.
    `counted` maps an axis to the position, from 1, of the row or column that the question counts.
    """

    index: TableIndex
    cells: tuple[IndexedCell, ...]
    named: Mapping[Level, tuple[Header, ...]]
    wanted: int
    by_label: bool
    counted: Mapping[str, int] = field(default_factory=dict)

    def names(self, axis: str) -> bool:
        """Whether a header of this axis is named, or none is needed because a table named by its label has a single
        line."""
        if any(level[0] == axis for level in self.named):
            return True
        lines = {cell.cell.column if axis == "column" else cell.cell.row for cell in self.index.cells}
        return self.by_label and len(lines) == 1


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mention:
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
                size = _common_prefix_length(asked[start:], caption)
                if size >= _MIN_CAPTION_WORDS and (size == len(caption) or size >= _MIN_PREFIX_WORDS):
                    found[table.id] = frozenset(range(start, max(start + size, _quotation_end(question, start))))
    return found


def _common_prefix_length(asked: Sequence[str], caption: Sequence[str]) -> int:
    """The number of words in the common prefix."""
    pairs = zip(asked, caption, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _quotation_end(question: Question, start: int) -> int:
    """The index after the last word of the quotation that begins at a word; 0 if there is none."""
    first = question.words[start].start
    end = next((match.end() for match in _QUOTATION.finditer(question.text) if match.start() == first - 1), 0)
    return sum(word.end <= end for word in question.words) if end else 0


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
    mentions = _mentions(question, index, quoted)
    around = {word.text for text in _surrounding_texts(index) for word in tokens(text)}
    found = []
    for chosen in _readings(mentions):
        named = frozenset[int]().union(*(mention.at for mention in chosen))
        if _has_unexplained_words(question, operation, named | quoted, around):
            continue
        levels = _by_level(chosen)
        cells = tuple(cell for cell in index.cells if all(cell.headers & set(headers) for headers in levels.values()))
        if cells and levels:
            found.append(
                Selection(
                    index=index, cells=cells, named=levels, wanted=_wanted_cells(chosen, levels), by_label=by_label
                )
            )
    return found


def select_counted(question: Question, index: TableIndex, *, quoted: frozenset[int]) -> list[Selection] | None:
    """The single cell whose row and column the question gives by position ("second row", "column 4"), or one of them by
    name.

    Returns:
        None if the question gives no position; an empty list if words remain unexplained or the position is ambiguous.
    """
    words, mentions = [word.text for word in question.words], _mentions(question, index, quoted)
    spans = [words_within(question.words, [match.span()]) for match in _COUNTED.finditer(question.text)]
    # A header or a part of one ("First row seats") is not a position.
    places = [at for at in spans if not any(at <= one.at for one in mentions)]
    if not places:
        return None
    counts = dict(_count([words[number] for number in at]) for at in places)
    at = quoted.union(*places)
    names = [one for one in _mentions(question, index, at) if not _COUNT.fullmatch("".join(words[i] for i in one.at))]
    readings = _readings([one for one in names if one.header.axis not in counts]) or [()]
    named, levels = frozenset[int]().union(*(one.at for one in readings[0])), _by_level(readings[0])
    both = len(places) == len(counts) and {*counts, *(axis for axis, _ in levels)} == {"row", "column"}
    single = len(readings) == 1 and _wanted_cells(readings[0], levels) == 1 and all(one.at <= named for one in names)
    # Numbers must be explained, and so must the noun of "which model", because the value is not a model.
    asked = {word for before, word in pairwise(words) if before in ("what", "which")}
    around = {
        word.text for text in _surrounding_texts(index) for word in tokens(text) if not _COUNT.fullmatch(word.text)
    } - asked
    if (
        not both
        or not single
        or _ELSEWHERE.search(question.text)
        or _has_unexplained_words(question, None, named | at, around)
    ):
        return []
    lines = {axis: _lines(index, axis) for axis in counts}
    taken = {axis: lines[axis][count - 1 :][:1] for axis, count in counts.items()}
    # "Row 4" must be both the fourth row and the row named 4, if there is one.
    called = {one.header for one in mentions if one.header.axis in counts and one.at & at}
    cells = tuple(
        cell
        for cell in index.cells
        if all(getattr(cell.cell, axis) in line for axis, line in taken.items())
        and all(cell.headers & set(headers) for headers in levels.values())
    )
    if len(cells) != 1 or not cells[0].headers >= called:
        return []
    counted = {axis: lines[axis].index(line[0]) + 1 for axis, line in taken.items()}
    return [Selection(index=index, cells=cells, named=levels, wanted=1, by_label=True, counted=counted)]


def _count(words: Sequence[str]) -> tuple[str, int]:
    """The axis and position, from 1, of "second row", "4th row" and "row 4"; position 0 is the last one."""
    axis = next(word for word in words if word in ("row", "column"))
    count = next(word for word in words if _COUNT.fullmatch(word))
    if count in ORDINALS:
        return axis, ORDINALS.index(count) + 1
    return axis, 0 if count == "last" else int(re.sub(r"\D", "", count))


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


def _surrounding_texts(index: TableIndex) -> tuple[str, ...]:
    return (index.table.caption, *index.stub_titles)


def _wanted_cells(mentions: Sequence[_Mention], levels: Mapping[Level, Sequence[Header]]) -> int:
    """The number of cells that the names refer to: rows with the same name count once, and so do repeated names."""
    places = {level: {one.at for one in mentions if _level(one.header) == level} for level in levels}
    return prod(min(len(places[level]), len(headers)) for level, headers in levels.items())


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


def _mentions(question: Question, index: TableIndex, quoted: frozenset[int]) -> list[_Mention]:
    """The headers that the question names in full, except those inside a longer name."""
    windows = runs(question.words)
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
        words = tokens(form)
        letters = "".join(word.text for word in words)
        if not letters.strip("+-") or not letters:
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
    for match in _ABBREVIATED.finditer(fold(name)):
        cut = match[1].casefold()
        for word in question.words:
            if word.text.startswith(cut) and word.text != cut:
                yield f"{fold(name)[: match.start()]}{word.text}{fold(name)[match.end() :]}"


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold(text)))


def _is_prolonged(question: Question, window: range) -> bool:
    """Whether a hyphen or a plus joins the words to a longer name: "BERT" in "BERT-large", "RAG" in "X + RAG"."""
    words, text = question.words, question.text
    before = words[window[0] - 1] if window[0] > 0 else None
    after = words[window[-1] + 1] if window[-1] + 1 < len(words) else None
    start, end = words[window[0]].start, words[window[-1]].end
    return (
        (_joins(before) and words[window[0]].text != "+")
        or _joins(after)
        or text[start - 1 : start] == "-"
        or (text[end : end + 1] == "-" and after is not None and after.start == end + 1)
    )


def _joins(word: Token | None) -> bool:
    return word is not None and word.text == "+"


def _readings(mentions: Sequence[_Mention]) -> list[tuple[_Mention, ...]]:
    """Each way to assign the same words of the question to one level: a row may have the same name as a column."""
    places: dict[frozenset[int], dict[Level, list[_Mention]]] = {}
    for mention in mentions:
        places.setdefault(mention.at, {}).setdefault(_level(mention.header), []).append(mention)
    ways = 1
    for levels in places.values():
        ways *= len(levels)
    if not places or ways > _MAX_READINGS:
        return []
    chosen = product(*(levels.values() for levels in places.values()))
    return [tuple(mention for group in groups for mention in group) for groups in chosen]


def _by_level(mentions: Sequence[_Mention]) -> dict[Level, tuple[Header, ...]]:
    levels: defaultdict[Level, dict[Header, None]] = defaultdict(dict)
    for mention in sorted(mentions, key=lambda mention: min(mention.at)):
        levels[_level(mention.header)][mention.header] = None
    return {level: tuple(headers) for level, headers in levels.items()}


def _level(header: Header) -> Level:
    return header.axis, header.level
