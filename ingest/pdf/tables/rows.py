"""The words of a table as printed rows, each cut into segments."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from ingest.pdf.lines import Line, bounding_box, line_of
from ingest.pdf.words import Word
from paperscope_core.types import Box

__all__ = ["PrintedRow", "em_of", "is_annotation", "is_value", "printed_rows", "with_currency"]


_SEGMENT_GAP = 0.36
_CURRENCY_GAP = 12.0
_CURRENCIES = frozenset("$€£¥")
_BULLET = re.compile(r"[-–—•·*+▷▸]")
# Possessive, which changes no match: else a row of numbers is cut into numbers in all ways there are.
_NUMBER = r"[+\-−–±~<>≤≥≈∼$€£#]*+\s*+\d[\d.,:/×xeE^+\-−–]*+\s*+(?:%|[KMBkmb]\b|ms|s|°)?[†‡*§¶]*+"
_VALUE = re.compile(
    rf"(?:[(\[]?+{_NUMBER}[)\]]?+(?:\s*+[±/(\[,→-]?+\s*+{_NUMBER}[)\]]?+)*|[-–—−✓✗✔✘×✕☓]|n/?a|N/A|[Yy]es|[Nn]o)"
)
_ANNOTATION = re.compile(rf"[(\[]\s*{_NUMBER}\s*[)\]]|[±↑↓]\s*{_NUMBER}|{_NUMBER}\s*[↑↓]")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PrintedRow:
    """The segments on one baseline from left to right; a segment is text without a wide gap."""

    baseline: float
    segments: tuple[Line, ...]

    @property
    def box(self) -> Box:
        """The box of all segments."""
        return bounding_box(segment.box for segment in self.segments)


def is_value(text: str) -> bool:
    """A number, a pair of numbers, a dash or a tick: what stands in a table's body, not in its header."""
    return bool(_VALUE.fullmatch(text.strip()))


def is_annotation(text: str) -> bool:
    """A difference or deviation printed under a value: `(+0.81)`, `± 0.2`."""
    return bool(_ANNOTATION.fullmatch(text.strip()))


def em_of(words: Sequence[Word]) -> float:
    """The usual letter size of the words."""
    return median(word.size for word in words for _ in word.text)


def with_currency(words: Sequence[Word]) -> list[Word]:
    """The words, each lone sign of a currency as one with the amount to its right, however far off it is printed."""
    signs = {word for word in words if word.text in _CURRENCIES}
    amounts = {sign: amount for sign in signs if (amount := _amount(sign, words))}
    named = {amount: sign for sign, amount in amounts.items()}
    return [
        replace(word, text=f"{named[word].text} {word.text}", x0=named[word].x0) if word in named else word
        for word in words
        if word not in amounts
    ]


def _amount(sign: Word, words: Sequence[Word]) -> Word | None:
    """The next word on the baseline of a sign, if it is a value."""
    beside = [word for word in words if word.x0 > sign.x0 and abs(word.baseline - sign.baseline) < 1]
    word = min(beside, key=lambda word: word.x0, default=None)
    near = word is not None and word.x0 - sign.x1 < _CURRENCY_GAP * sign.size
    return word if word is not None and near and is_value(word.text) else None


def printed_rows(words: Sequence[Word], *, em: float, verticals: Sequence[float]) -> list[PrintedRow]:
    """Rows from top to bottom; `verticals` are the x of vertical rules, which cut segments too."""
    full = sorted((word for word in words if word.size > 0.8 * em), key=lambda word: word.baseline)
    rows: list[list[Word]] = []
    for word in full:
        if rows and word.baseline - rows[-1][0].baseline < 0.25 * em:
            rows[-1].append(word)
        else:
            rows.append([word])
    for word in sorted((word for word in words if word.size <= 0.8 * em), key=lambda word: word.baseline):
        host = _host(word, rows, em=em)
        if host is None:
            rows.append([word])
        else:
            host.append(word)
    ordered = sorted((_baseline(row, em=em), order) for order, row in enumerate(rows))
    return [
        PrintedRow(baseline=baseline, segments=tuple(_segments(rows[order], em=em, verticals=verticals)))
        for baseline, order in ordered
    ]


def _baseline(row: Sequence[Word], *, em: float) -> float:
    return median(word.baseline for word in ([word for word in row if word.size > 0.8 * em] or row))


def _host(word: Word, rows: Sequence[list[Word]], *, em: float) -> list[Word] | None:
    """The row of a small word: a script or mark may stray from its baseline, most of all where it touches a word."""
    near: list[tuple[float, int]] = []
    for order, row in enumerate(rows):
        shift = abs(word.baseline - _baseline(row, em=em))
        touches = any(-1 < word.x0 - other.x1 < 0.3 * em or -1 < other.x0 - word.x1 < 0.1 * em for other in row)
        if shift < (0.62 if touches else 0.3) * em:
            near.append((shift - (em if touches else 0.0), order))
    return rows[min(near)[1]] if near else None


def _segments(row: Sequence[Word], *, em: float, verticals: Sequence[float]) -> list[Line]:
    ordered = sorted(row, key=lambda word: word.x0)
    runs = [[ordered[0]]]
    right = ordered[0].x1
    for word in ordered[1:]:
        cut = any(right - 1 < x < word.x0 + 1 for x in verticals)
        if cut or word.x0 - right > _SEGMENT_GAP * em:
            runs.append([word])
        else:
            runs[-1].append(word)
        right = max(right, word.x1)
    if len(runs) > 1 and _BULLET.fullmatch(runs[0][0].text) and runs[1][0].x0 - runs[0][0].x1 < 1.5 * em:
        named = " ".join(word.text for word in runs[1])
        runs[:2] = runs[:2] if is_value(named) else [runs[0] + runs[1]]
    return [line_of(run, size=em) for run in runs]
