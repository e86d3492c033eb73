"""Finds the line numbers printed beside the text of review copies."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.document.geometry import runs_of
from ingest.document.pages import HorizontalRule
from ingest.pdf.pdf_words import Word

__all__ = ["find_line_numbers"]

# Chosen on the review copies among the development papers.
_MIN_ALIGNED = 8  # The least number of aligned, increasing numbers on a page.
_MIN_NUMBERS = 20  # The least number of them in a strip of all pages.
_STEPS = (1, 2, 5, 10)  # The intervals at which journals number lines.
_COUNTING_SHARE = 0.75  # The least share of increasing numbers; others may be footnote marks or page numbers.
_MAX_CROSSED_SHARE = 0.06  # The largest share of rows that cross the strip, as running heads do.
_TABLE_RULES = 3  # The number of rules that span the strip in a table.
_RAISED_BY = (0.15, 0.6)  # Letter sizes.


@dataclass(frozen=True, kw_only=True, slots=True)
class _Strip:
    """A vertical strip of the pages, in x, and the numbers in it."""

    x0: float
    x1: float
    numbers: frozenset[Word]

    def contains(self, word: Word) -> bool:
        return self.x0 - 1 <= word.x0 and word.x1 <= self.x1 + 1

    def overlaps(self, word: Word) -> bool:
        return word.x0 < self.x1 and word.x1 > self.x0


def find_line_numbers(
    pages: Sequence[Sequence[Word]], *, rules: Sequence[Sequence[HorizontalRule]] = ()
) -> list[list[list[Word]]]:
    """Find the line numbers of each page, one list per strip; `rules` are the horizontal rules of each page.

    A strip contains aligned numbers that increase in even steps, and hardly any other text. A strip under the rules of
    a table is one of its columns; a strip of raised numbers marks the entries of a list.
    """
    numbers = [[word for word in words if _is_number(word)] for words in pages]
    seeds = sorted((strip for page in numbers for strip in _strips(page)), key=lambda strip: strip.x0)
    strips: list[_Strip] = []
    for group in runs_of(seeds, joins=lambda group, strip: strip.x0 < max(other.x1 for other in group)):
        strip = _strip(word for seed in group for word in seed.numbers)
        if (
            len(strip.numbers) >= _MIN_NUMBERS
            and _is_clear(strip, pages)
            and not _is_tabular(strip, numbers, rules)
            and not _is_raised(strip, pages)
        ):
            strips.append(strip)
    found = [[[word for word in page if strip.contains(word)] for strip in strips] for page in numbers]
    return [[sorted(words, key=lambda word: word.baseline) for words in page if words] for page in found]


def _is_number(word: Word) -> bool:
    return len(word.text) <= 4 and word.text.isdecimal()


def _strips(numbers: Sequence[Word]) -> Iterator[_Strip]:
    """Yield the strips of a page's increasing numbers, aligned left or right."""
    for side in ("left", "right"):
        groups: dict[int, list[Word]] = {}
        for word in numbers:
            groups.setdefault(round(word.x0 if side == "left" else word.x1), []).append(word)
        for key, members in groups.items():
            group = sorted((*members, *groups.get(key + 1, ())), key=lambda word: word.baseline)
            if len(group) >= _MIN_ALIGNED and _counts_up(group):
                yield _strip(group)


def _strip(numbers: Iterable[Word]) -> _Strip:
    found = frozenset(numbers)
    return _Strip(x0=min(word.x0 for word in found), x1=max(word.x1 for word in found), numbers=found)


def _counts_up(numbers: Sequence[Word]) -> bool:
    steps = Counter(int(after.text) - int(before.text) for before, after in pairwise(numbers))
    step, count = steps.most_common(1)[0]
    return step in _STEPS and count >= _COUNTING_SHARE * (len(numbers) - 1)


def _is_clear(strip: _Strip, pages: Sequence[Sequence[Word]]) -> bool:
    """Return whether few rows of words cross the strip on the pages that have numbers in it."""
    rows = crossed = 0
    for words in pages:
        if any(strip.contains(word) and _is_number(word) for word in words):
            rows += len({round(word.baseline) for word in words})
            crossed += len(
                {round(word.baseline) for word in words if strip.overlaps(word) and not strip.contains(word)}
            )
    return crossed <= _MAX_CROSSED_SHARE * rows


def _is_tabular(strip: _Strip, numbers: Sequence[Sequence[Word]], rules: Sequence[Sequence[HorizontalRule]]) -> bool:
    """Return whether the rules of a table span the strip on most pages that have numbers in it: one rule between the
    numbers, or three anywhere."""
    pages = ruled = 0
    for page, page_rules in zip(numbers, rules, strict=False):
        baselines = [word.baseline for word in page if strip.contains(word)]
        if baselines:
            over = [rule.y for rule in page_rules if rule.x0 <= strip.x0 + 1 and strip.x1 - 1 <= rule.x1]
            pages += 1
            ruled += len(over) >= _TABLE_RULES or any(min(baselines) < y < max(baselines) for y in over)
    return 2 * ruled > pages


def _is_raised(strip: _Strip, pages: Sequence[Sequence[Word]]) -> bool:
    """Return whether most of the numbers precede a word and are above its baseline, as raised marks of entries are."""
    low, high = _RAISED_BY
    numbered = [(number, words) for words in pages for number in words if _is_number(number) and strip.contains(number)]
    raised = sum(
        any(
            -1 < word.x0 - number.x1 < word.size
            and low * word.size < word.baseline - number.baseline < high * word.size
            for word in words
        )
        for number, words in numbered
    )
    return 2 * raised > len(numbered)
