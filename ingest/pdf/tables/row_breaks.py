"""Decides which printed lines of a table begin a row, by a model fitted on tables whose rows are known."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.document.cell_values import is_value
from ingest.pdf.tables.table_columns import Columns
from ingest.pdf.tables.table_values import GridRow, Piece

__all__ = ["WEIGHTS", "LineContext", "begins_row", "features_of", "has_room", "known_break"]

# In letter sizes unless said otherwise.
_WORD_SPACE = 0.25  # The space before a word that did not fit on the line.
_SLACK = 0.5  # A line has no room for a word if less space than this would remain.
_STEP = 0.12  # The least difference between the space between rows and the space within them.
_MAX_SPACE = 1.5  # More space is no further evidence.
_LEAST_PITCH = 0.7  # Lines that are closer are halves of one.
_MAX_COUNT = 3
_MANY_WORDS = 5
_VALUES = 0.6  # The least share of values in a column of values.
_SINGLE = 0.9  # The least share of single words in a column of names or codes.


@dataclass(frozen=True, kw_only=True, slots=True)
class LineContext:
    """What the body lines of one table have in common.

    `leading` is the smallest distance of two lines; `spaced` says that some are clearly further apart, by more than
    `threshold`; `filled` is the largest number of texts in a line. Of the columns, `values` hold values, `plain` single
    words, and `lower` begin with a small letter. `complete` says that no line lacks a text; `wrapping` is the share of
    texts that had no room on the line above, and `stubless` the share of lines without a stub.
    """

    columns: Columns
    leading: float
    spaced: bool
    threshold: float
    filled: int
    values: frozenset[int]
    plain: frozenset[int]
    lower: frozenset[int]
    complete: bool
    wrapping: float
    stubless: float

    @classmethod
    def of(cls, zones: Sequence[Sequence[GridRow]], columns: Columns) -> "LineContext":
        """Return the context of the lines in the zones between the rules of a table."""
        lines = [row for zone in zones for row in zone]
        pairs = [pair for zone in zones for pair in pairwise(zone)]
        pitches = sorted(
            below.top - row.bottom for row, below in pairs if below.top - row.bottom > _LEAST_PITCH * columns.em
        )
        step, threshold = max(((high - low, (high + low) / 2) for low, high in pairwise(pitches)), default=(0.0, 0.0))
        pieces: dict[int, list[Piece]] = {}
        for row in lines:
            for piece in row.pieces:
                pieces.setdefault(piece.first, []).append(piece)
        plain = _columns_of(pieces, _is_single_word, share=_SINGLE)
        texts = [
            (above, piece)
            for last, row in pairs
            for above, piece in _below(last, row)
            if piece.first not in plain and not is_value(piece.text)
        ]
        counts = {len(row.pieces) for row in lines}
        return cls(
            columns=columns,
            leading=pitches[0] if pitches else 1.2 * columns.em,
            spaced=step > _STEP * columns.em,
            threshold=threshold,
            filled=max(counts, default=1),
            values=_columns_of(pieces, lambda piece: is_value(piece.text), share=_VALUES),
            plain=plain,
            lower=frozenset(column for column, found in pieces.items() if found[0].text[0].islower()),
            complete=len(counts) == 1 and counts != {1},
            wrapping=sum(not has_room(*pair, columns) for pair in texts) / len(texts) if texts else 0.0,
            stubless=sum(row.stub is None for row in lines) / max(len(lines), 1),
        )


def has_room(above: Piece, piece: Piece, columns: Columns) -> bool:
    """Return whether the last line of a text has room for the first word of the text below it."""
    word = piece.lines[0].words[0]
    used = above.lines[-1].width + _WORD_SPACE * columns.em + (word.x1 - word.x0)
    left, right = columns.intervals[above.first][0], columns.intervals[above.last][1]
    # A line that extends beyond its column shows that the line above could, too.
    return used <= max(right, piece.box.x1) - left - _SLACK * columns.em


def begins_row(last: GridRow, row: GridRow, context: LineContext) -> bool:
    """Return whether a line begins a row, given the line above: by its form, otherwise by the model if it is
    certain."""
    known = known_break(last, row, context)
    if known is not None:
        return known
    found = features_of(last, row, context)
    return sum(weight * found[name] for name, weight in WEIGHTS.items()) > _SURE


def known_break(last: GridRow, row: GridRow, context: LineContext) -> bool | None:
    """Return whether a line begins a row, None if only the model can tell.

    A line that follows a comma, or ends a broken word or a bracket, continues the row. Any other may continue it only
    if all its texts but single words wrap, or if it has no stub and is closer than rows are. A value below a value and
    a text below several texts begin a row. So does a full line with a word in a column of single words, unless it is
    closer than rows are. If no line lacks a text, nothing shows that texts wrap, and each line is a row; of a single
    column, each line that wraps continues the row.
    """
    pairs = list(_below(last, row))
    if any(sum(piece.first <= above.first <= piece.last for above in last.pieces) > 1 for piece in row.pieces):
        return True
    if any(piece.first in context.values and is_value(above.text) and is_value(piece.text) for above, piece in pairs):
        return True
    wraps = [not has_room(*pair, context.columns) for pair in pairs if pair[1].first not in context.plain]
    if all(wraps) and any(_goes_on(*pair) for pair in pairs):
        return False
    if context.filled == 1:
        return not all(wraps)
    if row.stub and any(is_value(piece.text) for piece in last.pieces) and not _is_lower_word(row.stub):
        return True
    texts = [piece for piece in row.pieces if piece.first not in context.plain]
    wrapped = bool(wraps) and all(wraps) and len(wraps) == len(texts)
    close = context.spaced and row.top - last.bottom <= context.threshold
    near = close and row.stub is None
    named = len(row.pieces) == context.filled and len(texts) < len(row.pieces)
    return True if context.complete or (named and not close) or not (wrapped or near) else None


def features_of(last: GridRow, row: GridRow, context: LineContext) -> Mapping[str, float]:
    """Return the evidence that a line begins a row, given the line above."""
    em = context.columns.em
    pitch = row.top - last.bottom
    below = list(_below(last, row))
    texts = [pair for pair in below if not is_value(pair[1].text)]
    room = {
        piece.first for above, piece in texts if piece.first in context.plain or has_room(above, piece, context.columns)
    }
    known = context.lower | context.plain
    lower = {piece.first for piece in row.pieces if piece.first not in known and _is_lower_word(piece)}
    words = [len(above.lines[-1].words) for above, piece in texts if piece.first not in room]
    return Counter(
        {
            "bias": 1.0,
            "space": min(max(pitch - context.leading, 0.0) / em, _MAX_SPACE),
            "wide": float(context.spaced and pitch > context.threshold),
            "narrow": float(context.spaced and pitch <= context.threshold),
            "fits": float(bool(room)),
            "anew": min(len(row.pieces) - len(below), _MAX_COUNT) / _MAX_COUNT,
            "stub": float(row.stub is not None),
            "stub_fits": float(0 in room),
            "stub_only": float(row.stub is not None and len(row.pieces) == 1),
            "filled": len(row.pieces) / context.filled,
            "lower": len(lower) / len(row.pieces),
            "words": min(max(words, default=0), _MANY_WORDS) / _MANY_WORDS,
            "wrapping": context.wrapping,
            "stubless": context.stubless,
        }
    )


# Fitted by scripts/fit_row_breaks.py to generated tables (`eval parsing --only generated-tables`) of the styles in
# `fitting`, and to the same lines as if all texts began with a capital. Of the 1,519 lines of held-out styles that come
# to the model, 7 are wrongly joined and 2 are wrongly kept apart.
WEIGHTS: Mapping[str, float] = {
    "bias": -0.84,
    "space": 2.31,
    "wide": 2.61,
    "narrow": -1.80,
    "fits": 3.07,
    "anew": 5.01,
    "stub": 1.18,
    "stub_fits": -0.55,
    "stub_only": 0.04,
    "filled": 3.32,
    "lower": -2.86,
    "words": -1.69,
    "wrapping": -5.55,
    "stubless": -0.01,
}
_SURE = -1.5  # Log-odds. A wrongly joined row is worse than a split one; -2 and less split rows of real tables.


def _below(last: GridRow, row: GridRow) -> Iterator[tuple[Piece, Piece]]:
    """Yield each text with the one above it."""
    over = {piece.first: piece for piece in last.pieces}
    return ((over[piece.first], piece) for piece in row.pieces if piece.first in over)


def _columns_of(
    pieces: Mapping[int, Sequence[Piece]], test: Callable[[Piece], bool], *, share: float
) -> frozenset[int]:
    """Return the columns in which more than a share of the texts pass a test."""
    return frozenset(column for column, found in pieces.items() if sum(map(test, found)) > share * len(found))


def _is_single_word(piece: Piece) -> bool:
    """Return whether a text is one word that is whole."""
    return len(piece.lines[0].words) == 1 and piece.text[-1] not in "-,"


def _is_lower_word(piece: Piece) -> bool:
    """Return whether a text begins with a word in small letters or a bracket; identifiers such as `fit(x)` are no
    words."""
    word = piece.lines[0].words[0].text
    return word[0] in "([&+" or (word[0].islower() and word.rstrip(",;:.-)").isalpha())


def _goes_on(above: Piece, piece: Piece) -> bool:
    """Return whether a text ends with a comma, or with a broken word or within brackets, which the one below ends."""
    over, under = above.lines[-1].text, piece.lines[0].text
    broken = over.endswith("-") and over[-2:-1].isalpha() and under[0].islower()
    return over.endswith(",") or broken or (over.count("(") > over.count(")") and under.count(")") > under.count("("))
