"""The line numbers that review copies print beside their text."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.document.pages import HorizontalRule
from ingest.pdf.words import Word

__all__ = ["find_line_numbers"]


_SEED = 8
_ENOUGH = 20
_STEPS = (1, 2, 5, 10)
_IN_STEP = 0.75
_CROSSED = 0.06
_TABLE = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class _Strip:
    """A vertical strip of the pages, in x, and the numbers in it."""

    x0: float
    x1: float
    numbers: frozenset[Word]

    def holds(self, word: Word) -> bool:
        return self.x0 - 1 <= word.x0 and word.x1 <= self.x1 + 1

    def touches(self, word: Word) -> bool:
        return word.x0 < self.x1 and word.x1 > self.x0


def find_line_numbers(
    pages: Sequence[Sequence[Word]], *, rules: Sequence[Sequence[HorizontalRule]] = ()
) -> list[list[list[Word]]]:
    """The line numbers of each page, one list a strip of them; `rules` are the horizontal rules page by page.

    A strip holds numbers, aligned, that count upwards in even steps, and hardly a page prints anything else there. A
    strip that lies under the rules of a table is a column of it; one of raised numbers marks the entries of a list.
    """
    numbers = [[word for word in words if _is_number(word)] for words in pages]
    strips = _merged([strip for page in numbers for strip in _strips(page)])
    strips = [strip for strip in strips if len(strip.numbers) >= _ENOUGH and _is_clear(strip, pages)]
    strips = [strip for strip in strips if not _is_tabular(strip, numbers, rules) and not _is_raised(strip, pages)]
    return [[found for strip in strips if (found := _along(strip, page))] for page in numbers]


def _along(strip: _Strip, numbers: Sequence[Word]) -> list[Word]:
    return sorted((word for word in numbers if strip.holds(word)), key=lambda word: word.baseline)


def _is_number(word: Word) -> bool:
    return len(word.text) <= 4 and word.text.isdecimal()


def _strips(numbers: Sequence[Word]) -> Iterator[_Strip]:
    """The strips of a page's numbers that count upwards, aligned at the left or at the right."""
    for side in ("left", "right"):
        groups: dict[int, list[Word]] = {}
        for word in numbers:
            groups.setdefault(round(word.x0 if side == "left" else word.x1), []).append(word)
        for key, members in groups.items():
            group = sorted((*members, *groups.get(key + 1, ())), key=lambda word: word.baseline)
            if len(group) >= _SEED and _counts_up(group):
                yield _strip(group)


def _strip(numbers: Iterable[Word]) -> _Strip:
    found = frozenset(numbers)
    return _Strip(x0=min(word.x0 for word in found), x1=max(word.x1 for word in found), numbers=found)


def _counts_up(numbers: Sequence[Word]) -> bool:
    steps = Counter(int(after.text) - int(before.text) for before, after in pairwise(numbers))
    step, count = steps.most_common(1)[0]
    return step in _STEPS and count >= _IN_STEP * (len(numbers) - 1)


def _merged(strips: Sequence[_Strip]) -> list[_Strip]:
    merged: list[_Strip] = []
    for strip in sorted(strips, key=lambda strip: strip.x0):
        if merged and strip.x0 < merged[-1].x1:
            merged[-1] = _strip(merged[-1].numbers | strip.numbers)
        else:
            merged.append(strip)
    return merged


def _is_clear(strip: _Strip, pages: Sequence[Sequence[Word]]) -> bool:
    """Whether, on the pages that number their lines, few rows of words cross the strip."""
    rows = crossed = 0
    for words in pages:
        if any(strip.holds(word) and _is_number(word) for word in words):
            rows += len({round(word.baseline) for word in words})
            crossed += len({round(word.baseline) for word in words if strip.touches(word) and not strip.holds(word)})
    return crossed <= _CROSSED * rows


def _is_tabular(strip: _Strip, numbers: Sequence[Sequence[Word]], rules: Sequence[Sequence[HorizontalRule]]) -> bool:
    """Whether, on most pages that number their lines there, the rules of a table lie over the strip: one between its
    numbers, or three."""
    pages = ruled = 0
    for page, page_rules in zip(numbers, rules, strict=False):
        baselines = [word.baseline for word in page if strip.holds(word)]
        if baselines:
            over = [rule.y for rule in page_rules if rule.x0 <= strip.x0 + 1 and strip.x1 - 1 <= rule.x1]
            pages += 1
            ruled += len(over) >= _TABLE or any(min(baselines) < y < max(baselines) for y in over)
    return 2 * ruled > pages


def _is_raised(strip: _Strip, pages: Sequence[Sequence[Word]]) -> bool:
    """Whether most of the numbers stand before a word and above its baseline, as raised marks of entries do."""
    total = raised = 0
    for words in pages:
        for number in (word for word in words if _is_number(word) and strip.holds(word)):
            total += 1
            raised += any(
                -1 < word.x0 - number.x1 < word.size
                and 0.15 * word.size < word.baseline - number.baseline < 0.6 * word.size
                for word in words
            )
    return 2 * raised > total
