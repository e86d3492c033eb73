"""The cells whose row and column a question names in full, and nothing else of the question left over."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product, takewhile
from math import prod

from paperscope_core.types import Table
from query.extractive.question import Operation, Question
from query.extractive.table_index import Header, IndexedCell, TableIndex
from query.extractive.wording import Token, fold, runs, strip_citations, strip_remark, tokens

__all__ = ["Selection", "captioned", "select"]


# Headers of one or two letters ("P", "n", "In") meet words of running text by chance unless their case is the same.
_SHORT = 2
# So many words are quoted of a caption on purpose, not by chance: all of it, or its beginning.
_LEAST_CAPTION = 3
_LEAST_BEGINNING = 8
_MOST_READINGS = 16
_CUT = re.compile(r"\b([^\W\d_]{3,})\.(?!\w)")
_QUOTATION = re.compile(r"[“\"][^”\"]*[”\"]")

Level = tuple[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The cells that carry, on every level that the question names headers of, one of these headers.

    `named` are the headers by level, in the question's order; `wanted` is how many cells the question names.
    """

    index: TableIndex
    cells: tuple[IndexedCell, ...]
    named: Mapping[Level, tuple[Header, ...]]
    wanted: int
    by_label: bool

    def names(self, axis: str) -> bool:
        """Whether a header of this axis is named, or none need be: a table named by its label has one line of it."""
        if any(level[0] == axis for level in self.named):
            return True
        lines = {cell.cell.column if axis == "column" else cell.cell.row for cell in self.index.cells}
        return self.by_label and len(lines) == 1


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mention:
    header: Header
    at: frozenset[int]


def captioned(question: Question, tables: Sequence[Table]) -> dict[str, frozenset[int]]:
    """The tables whose caption the question quotes, whole or from its beginning.

    Returns:
        By the table's id, the indices of the caption's words in the question.
    """
    asked = [word.text for word in question.words]
    found: dict[str, frozenset[int]] = {}
    for table in tables:
        for text in (table.caption, strip_citations(table.caption)):
            caption = [word.text for word in tokens(text)]
            for start in range(len(asked)):
                size = _common(asked[start:], caption)
                if size >= _LEAST_CAPTION and (size == len(caption) or size >= _LEAST_BEGINNING):
                    found[table.id] = frozenset(range(start, max(start + size, _quotation_end(question, start))))
    return found


def _common(asked: Sequence[str], caption: Sequence[str]) -> int:
    """How many words both begin with."""
    pairs = zip(asked, caption, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _quotation_end(question: Question, start: int) -> int:
    """The index after the last word of the quotation that begins with a word, 0 if none does."""
    first = question.words[start].start
    end = next((match.end() for match in _QUOTATION.finditer(question.text) if match.start() == first - 1), 0)
    return sum(word.end <= end for word in question.words) if end else 0


def select(
    question: Question, index: TableIndex, operation: Operation | None, *, quoted: frozenset[int], by_label: bool
) -> list[Selection]:
    """The readings of a question over a table that account for each of its words.

    Args:
        question: The question.
        index: The table.
        operation: The computation that is asked for; None for a look-up, whose words must all be names.
        quoted: Indices of the question's words that name the table: its label, or its caption.
        by_label: Whether the question names the table so.

    Returns:
        One selection for each way to read the names, none where a word is left over.
    """
    mentions = _mentions(question, index, quoted)
    around = {word.text for text in _around(index) for word in tokens(text)}
    found = []
    for chosen in _readings(mentions):
        named = frozenset[int]().union(*(mention.at for mention in chosen))
        if _left_over(question, operation, named | quoted, around):
            continue
        levels = _by_level(chosen)
        cells = tuple(cell for cell in index.cells if all(cell.headers & set(headers) for headers in levels.values()))
        if cells and levels:
            found.append(
                Selection(index=index, cells=cells, named=levels, wanted=_wanted(chosen, levels), by_label=by_label)
            )
    return found


def _around(index: TableIndex) -> tuple[str, ...]:
    return (index.table.caption, *index.stub_titles)


def _wanted(mentions: Sequence[_Mention], levels: Mapping[Level, Sequence[Header]]) -> int:
    """How many cells the names call for: rows of one name count once, and so does a name that is repeated."""
    places = {level: {one.at for one in mentions if _level(one.header) == level} for level in levels}
    return prod(min(len(places[level]), len(headers)) for level, headers in levels.items())


def _left_over(question: Question, operation: Operation | None, named: frozenset[int], around: set[str]) -> bool:
    """Whether more words are left than the operation may spare, or one that asks for another operation."""
    own = operation.words | operation.verb if operation else frozenset[int]()
    asked = question.operation.words - own if question.operation else frozenset[int]()
    left = [
        index
        for index, word in enumerate(question.words)
        if index not in named | own | question.form and (index in asked or word.text not in around)
    ]
    return len(left) > (operation.spare if operation else 0)


def _mentions(question: Question, index: TableIndex, quoted: frozenset[int]) -> list[_Mention]:
    """The headers that the question names in full; what is part of a longer name is none."""
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
            same = len(letters) > _SHORT or _letters(form) == _letters(spelt)
            if same and not _is_prolonged(question, window):
                found.add(frozenset(window))
    # The longest form counts: "F1 (%)" before "F1".
    return {at for at in found if not any(at < other for other in found)}


def _spelled_out(name: str, question: Question) -> Iterator[str]:
    """A header with a word that it cuts with a period ("Prec.") as the question has it in full."""
    for match in _CUT.finditer(fold(name)):
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
    """Each way to give the same words of the question one level: a row may be called as a column is."""
    places: dict[frozenset[int], dict[Level, list[_Mention]]] = {}
    for mention in mentions:
        places.setdefault(mention.at, {}).setdefault(_level(mention.header), []).append(mention)
    ways = 1
    for levels in places.values():
        ways *= len(levels)
    if not places or ways > _MOST_READINGS:
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
