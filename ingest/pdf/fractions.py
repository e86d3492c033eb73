"""Fractions within a line of text, read from their bars into one word: `2pre/(pre+rec)`."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from ingest.document.pages import HorizontalRule
from ingest.pdf.formulas import read_formula
from ingest.pdf.words import Word

__all__ = ["fold_fractions"]


_REACH = 2.6
_LONGEST = 200.0
_WIDE = 60.0
_BESIDE = 12.0
_ON_BAR = 0.45
_CELL_GAP = 1.0


def fold_fractions(words: Sequence[Word], rules: Sequence[HorizontalRule], *, below: float) -> list[Word]:
    """Put one word in place of what stands above and below a bar, narrow bars first.

    Only letters smaller than `below` are folded: those of fractions within a line. A rule that does not end where its
    longer side ends is no bar, nor is a wide one with the ends of another: they are a table's.
    """
    left = list(words)
    for rule in sorted(rules, key=lambda rule: rule.x1 - rule.x0):
        if rule.x1 - rule.x0 > _LONGEST or _is_repeated(rule, rules):
            continue
        if not _underlines_cell(rule, left, rules):
            left = _fold(left, rule, below=below)
    return left


def _is_repeated(rule: HorizontalRule, rules: Sequence[HorizontalRule]) -> bool:
    return rule.x1 - rule.x0 > _WIDE and any(
        abs(other.x0 - rule.x0) < 1 and abs(other.x1 - rule.x1) < 1 and abs(other.y - rule.y) > 1.5 for other in rules
    )


def _underlines_cell(rule: HorizontalRule, words: Sequence[Word], rules: Sequence[HorizontalRule]) -> bool:
    """Whether words of one size stand beside what is above the rule and beside what is below, without bars of their
    own: the rule underlines a cell, and what is below belongs to the next row."""
    inside = [word for word in words if rule.x0 - 1.5 <= word.x0 and word.x1 <= rule.x1 + 1.5]
    over = max((word for word in inside if word.baseline <= rule.y + 0.1), key=lambda word: word.baseline, default=None)
    under = min((word for word in inside if word.baseline > rule.y + 0.1), key=lambda word: word.baseline, default=None)
    if over is None or under is None:
        return False
    bars = [other for other in rules if abs(other.y - rule.y) < 0.5]
    free = [word for word in words if not any(bar.x0 - 2 <= word.center <= bar.x1 + 2 for bar in bars)]
    return all(
        any(
            abs(word.baseline - cell.baseline) < 0.3
            and abs(word.size - cell.size) < 0.05 * cell.size
            and abs(word.center - rule.x0) < _BESIDE * cell.size
            for word in free
        )
        for cell in (over, under)
    )


def _fold(words: list[Word], rule: HorizontalRule, *, below: float) -> list[Word]:
    beside = [
        word
        for word in words
        if rule.x0 - 1.5 <= word.x0
        and word.x1 <= rule.x1 + 1.5
        and word.size < below
        and abs(word.baseline - rule.y) < 1.6 * word.size
    ]
    if not beside:
        return words
    size = median(word.size for word in beside)
    over = [word for word in beside if rule.y - _REACH * size < word.baseline <= rule.y + 0.1 * size]
    under = [word for word in beside if rule.y + 0.3 * size < word.baseline < rule.y + _REACH * size]
    if over and rule.y - max(word.baseline for word in over) > _ON_BAR * size:
        return words
    if not over or not under or not (_fills(over, rule) or _fills(under, rule)):
        return words
    if _are_cells(over, size=size) and _are_cells(under, size=size):
        return words
    big = max([*over, *under], key=lambda word: word.size)
    fraction = replace(
        big,
        text=read_formula([*over, *under], [rule]),
        x0=rule.x0,
        x1=rule.x1,
        baseline=rule.y + 0.35 * big.size,
        math=1.0,
    )
    folded = {id(word) for word in (*over, *under)}
    return [*(word for word in words if id(word) not in folded), fraction]


def _are_cells(words: Sequence[Word], *, size: float) -> bool:
    """Whether words stand far apart, as the cells above and below a table's rule do."""
    right = min(word.x1 for word in words)
    widest = 0.0
    for word in sorted(words, key=lambda word: word.x0):
        widest = max(widest, word.x0 - right)
        right = max(right, word.x1)
    return widest > _CELL_GAP * size


def _fills(words: Sequence[Word], rule: HorizontalRule) -> bool:
    """Whether the words are as wide as the bar, give or take 4 pt at either end."""
    return min(word.x0 for word in words) - rule.x0 < 4 and rule.x1 - max(word.x1 for word in words) < 4
