"""Fractions within a line of text, read from their bars into one word: `2pre/(pre+rec)`."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from ingest.pdf.backend import HorizontalRule
from ingest.pdf.formulas import read_formula
from ingest.pdf.words import Word

__all__ = ["fold_fractions"]

_REACH = 2.6
_LONGEST = 200.0


def fold_fractions(words: Sequence[Word], rules: Sequence[HorizontalRule], *, below: float) -> list[Word]:
    """Put one word in place of what stands above and below a bar, narrow bars first.

    Only letters smaller than `below` are folded: those of fractions within a line. A rule that does not end where its
    longer side ends is no bar.
    """
    left = list(words)
    for rule in sorted(rules, key=lambda rule: rule.x1 - rule.x0):
        if rule.x1 - rule.x0 <= _LONGEST:
            left = _fold(left, rule, below=below)
    return left


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
    if not over or not under or not (_fills(over, rule) or _fills(under, rule)):
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


def _fills(words: Sequence[Word], rule: HorizontalRule) -> bool:
    """Whether the words are as wide as the bar, give or take 4 pt at either end."""
    return min(word.x0 for word in words) - rule.x0 < 4 and rule.x1 - max(word.x1 for word in words) < 4
