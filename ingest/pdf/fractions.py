"""Folds fractions within a line of text into one word: `2pre/(pre+rec)`."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from ingest.document.pages import HorizontalRule
from ingest.pdf.formulas import read_formula
from ingest.pdf.words import Word, split_row

__all__ = ["fold_fractions"]

# Points, or letter sizes; chosen on the development papers.
_MAX_BAR = 200.0  # Points; a longer rule belongs to a table.
_MIN_TABLE_RULE = 60.0  # Points; a rule this wide that repeats with the same ends belongs to a table.
_OVERHANG = 1.5  # Points by which words may extend beyond their bar.
_SHORTFALL = 4.0  # Points by which the longer side may be shorter than its bar.
_REACH = 2.6  # The largest distance of numerators and denominators from their bar.
_ADJACENT = 1.6  # The largest distance of their lines next to the bar.
_ABOVE_BAR = 0.45  # The largest distance of the numerator's baseline above the bar.
_ON_RULE = 0.1  # Points or letter sizes; the rounding tolerance for a baseline above a rule.
_BELOW_BAR = 0.3  # The least distance of a denominator's baseline below the bar.
_FRACTION_BASELINE = 0.35  # The distance from the bar down to the baseline of the line.
_SAME_BASELINE, _SAME_SIZE = 0.3, 0.05  # Points, and the largest relative difference in size within a row.
_CELL_DISTANCE = 12.0  # The largest distance between cells of a row.
_HEADER_REACH = 3.0  # The largest distance of a rule in a header from the rules above and below.
_CELL_GAP = 1.0  # Words further apart on both sides of a rule are cells of a table.


def fold_fractions(words: Sequence[Word], rules: Sequence[HorizontalRule], *, below: float) -> list[Word]:
    """Replaces the words above and below each fraction bar by one word, narrow bars first.

    Only letters smaller than `below` are folded, those of fractions within a line. A rule that does not end with its
    longer side, or a wide rule with the same ends as another, belongs to a table.
    """
    left = list(words)
    for rule in sorted(rules, key=lambda rule: rule.width):
        if rule.width <= _MAX_BAR and not _is_repeated(rule, rules) and not _underlines_cell(rule, left, rules):
            left = _fold(left, rule, below=below)
    return left


def _is_repeated(rule: HorizontalRule, rules: Sequence[HorizontalRule]) -> bool:
    return rule.width > _MIN_TABLE_RULE and any(
        abs(other.x0 - rule.x0) < 1 and abs(other.x1 - rule.x1) < 1 and abs(other.y - rule.y) > 1.5 for other in rules
    )


def _underlines_cell(rule: HorizontalRule, words: Sequence[Word], rules: Sequence[HorizontalRule]) -> bool:
    """Whether words of the same size, without bars above or below them, are level with the word above the rule and with
    the word below it: the rule underlines a cell, and the word below belongs to the next row.

    Under the title of a group of columns, between the wider rules of a header, only the word below has such words.
    """
    inside = [word for word in words if _is_within(word, rule)]
    above = [word for word in inside if word.baseline <= rule.y + _ON_RULE]
    beneath = [word for word in inside if word.baseline > rule.y + _ON_RULE]
    if not above or not beneath:
        return False
    over, under = max(above, key=lambda word: word.baseline), min(beneath, key=lambda word: word.baseline)
    bars = [other for other in rules if abs(other.y - rule.y) < 0.5]
    free = [word for word in words if not any(bar.x0 - 2 <= word.center <= bar.x1 + 2 for bar in bars)]
    level_over, level_under = (
        any(
            abs(word.baseline - cell.baseline) < _SAME_BASELINE
            and abs(word.size - cell.size) < _SAME_SIZE * cell.size
            and abs(word.center - rule.x0) < _CELL_DISTANCE * cell.size
            for word in free
        )
        for cell in (over, under)
    )
    return level_under and (level_over or _is_in_header(rule, rules, size=over.size))


def _is_in_header(rule: HorizontalRule, rules: Sequence[HorizontalRule], *, size: float) -> bool:
    """Whether wider rules are close above and below."""
    wider = [
        other.y - rule.y for other in rules if other.x0 <= rule.x0 < rule.x1 <= other.x1 and other.width > rule.width
    ]
    reach = _HEADER_REACH * size
    return any(-reach < distance < -1 for distance in wider) and any(1 < distance < reach for distance in wider)


def _fold(words: list[Word], rule: HorizontalRule, *, below: float) -> list[Word]:
    beside = [
        word
        for word in words
        if _is_within(word, rule) and word.size < below and abs(word.baseline - rule.y) < _ADJACENT * word.size
    ]
    if not beside:
        return words
    size = median(word.size for word in beside)
    over = [word for word in beside if rule.y - _REACH * size < word.baseline <= rule.y + _ON_RULE * size]
    under = [word for word in beside if rule.y + _BELOW_BAR * size < word.baseline < rule.y + _REACH * size]
    if not over or not under or rule.y - max(word.baseline for word in over) > _ABOVE_BAR * size:
        return words
    if not (_fills(over, rule) or _fills(under, rule)) or (
        _are_cells(over, size=size) and _are_cells(under, size=size)
    ):
        return words
    largest = max([*over, *under], key=lambda word: word.size)
    fraction = replace(
        largest,
        text=read_formula([*over, *under], [rule]),
        x0=rule.x0,
        x1=rule.x1,
        baseline=rule.y + _FRACTION_BASELINE * largest.size,
        math=1.0,
    )
    folded = {*over, *under}
    return [*(word for word in words if word not in folded), fraction]


def _is_within(word: Word, rule: HorizontalRule) -> bool:
    return rule.x0 - _OVERHANG <= word.x0 and word.x1 <= rule.x1 + _OVERHANG


def _are_cells(words: Sequence[Word], *, size: float) -> bool:
    """Whether words are far apart, as the cells above and below a table's rule are."""
    return len(split_row(words, joins=lambda right, word: word.x0 - right <= _CELL_GAP * size)) > 1


def _fills(words: Sequence[Word], rule: HorizontalRule) -> bool:
    """Whether the words are about as wide as the bar."""
    left, right = min(word.x0 for word in words), max(word.x1 for word in words)
    return left - rule.x0 < _SHORTFALL and rule.x1 - right < _SHORTFALL
