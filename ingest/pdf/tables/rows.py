"""Groups the words of a table into printed rows, each split into segments at wide gaps."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from ingest.document.cell_values import is_value
from ingest.document.geometry import bounding_box, runs_of
from ingest.pdf.lines import Line, line_of
from ingest.pdf.words import Word, split_row
from paperscope_core.types import Box

__all__ = ["PrintedRow", "em_of", "printed_rows", "with_currency"]

# In letter sizes of the table; chosen on the development papers.
_SEGMENT_GAP = 0.36  # A wider gap ends a segment; word spaces are 0.2 to 0.33.
_FULL_SIZE = 0.8  # Smaller words are scripts and marks.
_ROW_SHIFT = 0.25  # The largest difference in baseline between words of one row.
_SCRIPT_SHIFT = 0.3  # The largest distance of a small word from the baseline of its row.
_TOUCHING_SHIFT = 0.62  # The same for a small word that touches a word of the row.
_AFTER, _BEFORE = 0.3, 0.1  # A small word within these distances after or before a word touches it.
_BULLET_GAP = 1.5  # The largest distance from a bullet to its item.
_CURRENCY_GAP = 12.0  # A sign may be printed at the left edge of its column.
_CURRENCIES = frozenset("$€£¥")
_BULLET = re.compile(r"[-–—•·*+▷▸]")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PrintedRow:
    """The segments on one baseline from left to right; a segment is text without a wide gap."""

    baseline: float
    segments: tuple[Line, ...]

    @property
    def box(self) -> Box:
        """The box around all segments."""
        return bounding_box(segment.box for segment in self.segments)

    @property
    def words(self) -> tuple[Word, ...]:
        """The words of all segments."""
        return tuple(word for segment in self.segments for word in segment.words)

    @property
    def text(self) -> str:
        """The texts of the segments, side by side."""
        return " ".join(segment.text for segment in self.segments)


def em_of(words: Sequence[Word]) -> float:
    """Returns the usual letter size of the words."""
    return median(word.size for word in words for _ in word.text)


def with_currency(words: Sequence[Word]) -> list[Word]:
    """Returns the words, each separate currency sign joined with the amount to its right at any distance."""
    signs = {word for word in words if word.text in _CURRENCIES}
    amounts = {sign: amount for sign in signs if (amount := _amount(sign, words))}
    sign_of = {amount: sign for sign, amount in amounts.items()}
    return [
        replace(word, text=f"{sign_of[word].text} {word.text}", x0=sign_of[word].x0) if word in sign_of else word
        for word in words
        if word not in amounts
    ]


def _amount(sign: Word, words: Sequence[Word]) -> Word | None:
    """Returns the next word on the baseline of a sign, if it is a value."""
    beside = [word for word in words if word.x0 > sign.x0 and abs(word.baseline - sign.baseline) < 1]
    word = min(beside, key=lambda word: word.x0, default=None)
    return word if word and word.x0 - sign.x1 < _CURRENCY_GAP * sign.size and is_value(word.text) else None


def printed_rows(words: Sequence[Word], *, em: float, verticals: Sequence[float] = ()) -> list[PrintedRow]:
    """Returns the rows from top to bottom; `verticals` are the x of vertical rules, which split segments, too."""
    ordered = sorted(words, key=lambda word: word.baseline)
    rows = runs_of(
        (word for word in ordered if word.size > _FULL_SIZE * em),
        joins=lambda row, word: word.baseline - row[0].baseline < _ROW_SHIFT * em,
    )
    for word in ordered:
        if word.size <= _FULL_SIZE * em:
            host = _host(word, rows, em=em)
            if host is None:
                rows.append([word])
            else:
                host.append(word)
    placed = sorted((_baseline(row, em=em), order) for order, row in enumerate(rows))
    return [
        PrintedRow(baseline=baseline, segments=tuple(_segments(rows[order], em=em, verticals=verticals)))
        for baseline, order in placed
    ]


def _baseline(row: Sequence[Word], *, em: float) -> float:
    return median(word.baseline for word in ([word for word in row if word.size > _FULL_SIZE * em] or row))


def _host(word: Word, rows: Sequence[list[Word]], *, em: float) -> list[Word] | None:
    """Returns the row of a small word: a script or mark may be off its baseline, especially if it touches a word."""
    near: list[tuple[float, int]] = []
    for order, row in enumerate(rows):
        shift = abs(word.baseline - _baseline(row, em=em))
        touches = any(-1 < word.x0 - other.x1 < _AFTER * em or -1 < other.x0 - word.x1 < _BEFORE * em for other in row)
        if shift < (_TOUCHING_SHIFT if touches else _SCRIPT_SHIFT) * em:
            near.append((shift - (em if touches else 0.0), order))
    return rows[min(near)[1]] if near else None


def _segments(row: Sequence[Word], *, em: float, verticals: Sequence[float]) -> list[Line]:
    def joins(right: float, word: Word) -> bool:
        return word.x0 - right <= _SEGMENT_GAP * em and not any(right - 1 < x < word.x0 + 1 for x in verticals)

    runs = split_row(row, joins=joins)
    if len(runs) > 1 and _BULLET.fullmatch(runs[0][0].text) and runs[1][0].x0 - runs[0][0].x1 < _BULLET_GAP * em:
        item = " ".join(word.text for word in runs[1])
        runs[:2] = runs[:2] if is_value(item) else [runs[0] + runs[1]]
    return [line_of(run, size=em) for run in runs]
