"""The gutter between two columns."""

from collections.abc import Sequence
from statistics import median

from ingest.pdf.words import Word

__all__ = ["gutters"]

_STEPS = 200


def gutters(pages: Sequence[tuple[float, Sequence[Word]]]) -> list[float | None]:
    """The x of each page's gutter, None on a page of one column; a page is its width and its words.

    A page whose full-width tables hide the gutter takes the document's, if most of its lines break there.
    """
    own = [_gutter(words, width=width) for width, words in pages]
    found = [gutter for gutter in own if gutter is not None]
    if not found or 2 * len(found) < len(pages):
        return own
    common = median(found)
    return [
        gutter if gutter is not None else (common if _breaks_at(words, common) else None)
        for gutter, (_, words) in zip(own, pages, strict=True)
    ]


def _gutter(words: Sequence[Word], *, width: float) -> float | None:
    """The middle of the emptiest vertical strip around the page's middle, if it is far emptier than its sides."""
    cover = [0] * _STEPS
    for word in words:
        first = max(0, int(word.x0 / width * _STEPS))
        last = min(_STEPS - 1, int(word.x1 / width * _STEPS))
        for step in range(first, last + 1):
            cover[step] += 1
    low, high = int(0.42 * _STEPS), int(0.58 * _STEPS)
    least = min(cover[low:high])
    side = median(cover[int(0.15 * _STEPS) : int(0.4 * _STEPS)] + cover[int(0.6 * _STEPS) : int(0.85 * _STEPS)])
    if not side or least > 0.25 * side:
        return None
    empty = [step for step in range(low, high) if cover[step] <= least + 0.02 * side]
    return (empty[len(empty) // 2] + 0.5) / _STEPS * width


def _breaks_at(words: Sequence[Word], gutter: float) -> bool:
    """Whether at least 40 % of the rows that stand on both sides leave a gap at the gutter."""
    rows: dict[int, list[Word]] = {}
    for word in words:
        rows.setdefault(round(word.baseline), []).append(word)
    broken = both = 0
    for row in rows.values():
        left = [word.x1 for word in row if word.center < gutter]
        right = [word.x0 for word in row if word.center >= gutter]
        if left and right:
            both += 1
            broken += min(right) - max(left) > 0.8 * row[0].size and max(left) <= gutter + 6 <= min(right) + 12
    return both > 0 and broken >= 0.4 * both
