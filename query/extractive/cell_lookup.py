"""Looks up the table cell that a question names fully: by its row and its column, with no other words left."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile

from paperscope_core.cancellation import check_cancelled
from paperscope_core.types import UNKNOWN_CHARACTER, Claim, Evidence, Table
from query.content_words import runs
from query.extractive.table_index import IndexedCell, TableIndex
from query.extractive.wording import FORM_WORDS, Token, citation_spans, fold, strip_citations, strip_remark, tokens
from query.question.named_elements import table_labels

__all__ = ["look_up", "table_name"]

_AUXILIARIES = "is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must"
_POLAR = re.compile(rf"(?:^|[,;:.] )(?:{_AUXILIARIES})\b")
_INTERROGATIVE = re.compile(r"\b(?:what|which|who|whom|whose|when|where|why|how(?: many| much)?)\b")
_VALUE_INTERROGATIVES = frozenset({"what", "which", "how many", "how much"})
# Words that select or compute a value: unless they belong to a header, no cell answers, whatever the caption says.
_SELECTING = frozenset(
    """average best biggest combined compare compared comparison difference fewer fewest first greater greatest higher
    highest larger largest last least less lower lowest maximal maximum mean median minimal minimum more most next
    previous range ratio second smaller smallest sum third total versus vs worst""".split()
)
# Headers of one or two letters ("P", "n", "In") match ordinary words by chance, so their case must be the same.
_SHORT_HEADER = 2
# The minimum number of words that quote a whole caption, or its beginning, and do not match by chance.
_MIN_CAPTION_WORDS = 3
_MIN_PREFIX_WORDS = 8
_MAX_NAME_WORDS = 14
# More values than this are a part of the table, not an answer.
_MAX_ROWS = 6
_AXES = ("row", "column")
_QUOTATION = re.compile(r"[“\"][^”\"]*([”\"]?)")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Question:
    """A question that a value may answer.

    `runs` are the places of all runs of words by their letters; `form` are the indices of the words that name nothing.
    """

    text: str
    words: tuple[Token, ...]
    runs: Mapping[str, Sequence[range]]
    form: frozenset[int]


def look_up(
    question: str, tables: Sequence[Table], named: Collection[str], index_of: Callable[[Table], TableIndex]
) -> tuple[Claim, Table] | None:
    """State the cell that a question names; None unless there is exactly one such cell in all tables, and all of its
    characters are known.

    Rows of one name are all stated if the question names their table.

    Args:
        question: The question, in English.
        tables: The tables to read; only those that the question names by label or caption, if it names any.
        named: Ids of the elements that the question names by label ("Table 8").
    """
    asked = _read(question)
    if asked is None:
        return None
    labels = _within(asked.words, table_labels(asked.text))
    quoted = _captioned(asked, tables)
    by_label = [table for table in tables if table.id in named] if labels else []
    if labels and not by_label:
        return None
    by_name = by_label or [table for table in tables if table.id in quoted]
    found: list[tuple[Table, list[IndexedCell]]] = []
    for table in by_name or tables:
        check_cancelled()
        at = labels | quoted.get(table.id, frozenset())
        if cells := list(_named_cells(asked, index_of(table), at, by_name=bool(by_name))):
            found.append((table, cells))
    if len(found) != 1:
        return None
    table, cells = found[0]
    if any(UNKNOWN_CHARACTER in one.text for one in cells):
        return None
    rows_of_one_name = by_name and len(cells) <= _MAX_ROWS and len({one.cell.column for one in cells}) == 1
    return (_claim(table, cells), table) if len(cells) == 1 or rows_of_one_name else None


def table_name(table: Table) -> str:
    """Return the label as printed, or else the table's place."""
    return table.label or f"the table {'in' if table.place.by_line else 'on'} {table.place.where}"


def _read(question: str) -> _Question | None:
    """None for a question to which no value is an answer: one for yes or no, or for a reason, a person, a place."""
    text = fold(question)
    lower, words = text.casefold(), tokens(text)
    asking, polar = _INTERROGATIVE.search(lower), _POLAR.search(lower)
    if polar is not None and (asking is None or polar.start() < asking.start()):
        return None
    if asking is not None and asking[0] not in _VALUE_INTERROGATIVES:
        return None
    form = {index for index, word in enumerate(words) if word.text in FORM_WORDS}
    return _Question(
        text=text,
        words=words,
        runs=runs([word.text for word in words], longest=_MAX_NAME_WORDS),
        form=_within(words, citation_spans(text)) | form,
    )


def _within(words: Sequence[Token], spans: Iterable[tuple[int, int]]) -> frozenset[int]:
    """Return the indices of the words inside one of these spans of the text."""
    return frozenset(
        index for index, word in enumerate(words) for start, end in spans if start <= word.start and word.end <= end
    )


def _captioned(question: _Question, tables: Sequence[Table]) -> dict[str, frozenset[int]]:
    """Return the tables whose caption the question quotes, in full or from its beginning.

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


def _quotation_end(question: _Question, start: int) -> int:
    """Return the index after the last word of the quotation that begins at a word; 0 if there is none."""
    first = question.words[start].start
    end = next(
        (match.end() for match in _QUOTATION.finditer(question.text) if match[1] and match.start() == first - 1), 0
    )
    return sum(word.end <= end for word in question.words)


def _named_cells(
    question: _Question, index: TableIndex, quoted: frozenset[int], *, by_name: bool
) -> Iterator[IndexedCell]:
    """Yield the cells whose headers the question names, if they and the caption leave no word unexplained.

    Args:
        quoted: Indices of the question's words that name the table: its label, or its caption.
        by_name: Whether the question names the table. An axis on which the table has a single line needs no name then.
    """
    mentions = _mentions(question, index, quoted)
    named = frozenset[int]().union(*chain.from_iterable(mentions.values()))
    explained = named | quoted | question.form
    left = (word.text for number, word in enumerate(question.words) if number not in explained)
    around = {word.text for text in (index.table.caption, *index.stub_titles) for word in tokens(text)}
    if not mentions or not (around - _SELECTING).issuperset(left):
        return
    one_row, one_column = (by_name and len({getattr(one.cell, axis) for one in index.cells}) == 1 for axis in _AXES)
    for cell in index.cells:
        axes = ((*cell.section, *cell.row), cell.column)
        row, column = ([at for name in names for at in mentions.get(name, ())] for names in axes)
        # A single word may name a row and a column.
        both = any(first.isdisjoint(second) for first in row for second in column)
        determined = both or (one_row and column) or (one_column and row)
        if determined and named == frozenset[int]().union(*row, *column):
            yield cell


def _mentions(question: _Question, index: TableIndex, quoted: frozenset[int]) -> dict[str, list[frozenset[int]]]:
    """Return the headers that the question names in full, except those inside a longer name, with the indices of the
    words of each place."""
    found = {
        name: [at for at in _places(question, name, meaning) if not at & quoted]
        for name, meaning in index.headers.items()
    }
    everywhere = set(chain.from_iterable(found.values()))
    whole = {at for at in everywhere if not any(at < other for other in everywhere)}
    return {name: kept for name, places in found.items() if (kept := [at for at in places if at in whole])}


def _places(question: _Question, name: str, meaning: str) -> Iterator[frozenset[int]]:
    short = strip_citations(name)
    for form in dict.fromkeys((name, short, strip_remark(short), meaning)):
        letters = "".join(word.text for word in tokens(form))
        if not letters.strip("+-"):
            continue
        for window in question.runs.get(letters, ()):
            spelt = question.text[question.words[window[0]].start : question.words[window[-1]].end]
            same = len(letters) > _SHORT_HEADER or _letters(form) == _letters(spelt)
            if same and not _is_prolonged(question, window):
                yield frozenset(window)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold(text)))


def _is_prolonged(question: _Question, window: range) -> bool:
    """Return whether a hyphen or a plus joins the words to a longer name: "BERT" in "BERT-large", "RAG" in "X +
    RAG"."""
    first, last = question.words[window[0]], question.words[window[-1]]
    before = question.words[: window[0]][-1:]
    after = question.words[window[-1] + 1 :][:1]
    return (
        (any(word.text == "+" for word in before) and first.text != "+")
        or any(word.text == "+" for word in after)
        or question.text[first.start - 1 : first.start] == "-"
        or (question.text[last.end : last.end + 1] == "-" and any(word.start == last.end + 1 for word in after))
    )


def _claim(table: Table, found: Sequence[IndexedCell]) -> Claim:
    """State values under the names of their rows and columns, with their cells as evidence."""
    cited = [cell for one in found for cell in (one.cell, one.note) if cell is not None]
    return Claim(
        text=f"In {table_name(table)}, {' and '.join(map(_said, found))}.",
        evidence=tuple(Evidence(element=table.id, place=cell.place, quote=cell.text) for cell in cited),
    )


def _said(found: IndexedCell) -> str:
    row, column = found.row_name, found.column_name
    return f"{row} has {found.text} under {column}" if row and column else f"{row or column} is {found.text}"
