"""How a page is held for reading: upright, or turned where its text runs sideways (landscape tables and pages)."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ingest.pdf.backend import PageContent
from ingest.pdf.page.turning import turned, turned_box, turned_size
from paperscope.types import Box

__all__ = ["turns_at", "views_of"]

_LEAST_SHARE = 0.2
_WHOLE_SHARE = 0.8
_LEAST_CHARS = 200
_CAPTION = re.compile(r"(Table|Tab\.|Figure|Fig\.)[A-Z]{0,2}\.?\d", re.IGNORECASE)
_SAME_BASELINE = 0.6


def views_of(page: PageContent) -> list[PageContent]:
    """The page turned each way in which it is read, the one with most text first; at least one.

    Text that runs sideways is read where it fills the page or holds a caption, and else left alone: labels of axes,
    stamps at the margin. So is the running head above a sideways table.
    """
    counts = Counter(char.direction for char in page.chars)
    read = [turns for turns, count in counts.most_common() if _is_read(page, turns, count)]
    return [replace(turned(page, turns=turns), turns=turns) for turns in read or [0]]


def _is_read(page: PageContent, turns: int, count: int) -> bool:
    share = count / len(page.chars)
    if turns == 0:
        return share >= _LEAST_SHARE
    return (share >= _WHOLE_SHARE and count >= _LEAST_CHARS) or _holds_caption(page, turns)


def _holds_caption(page: PageContent, turns: int) -> bool:
    chars = [char for char in page.chars if char.direction == turns]
    chars.sort(key=lambda char: (round(char.baseline / _SAME_BASELINE), char.x0))
    return bool(_CAPTION.search("".join(char.text for char in chars)))


def turns_at(views: Sequence[PageContent], box: Box) -> int:
    """The quarter turns at which a box of a page, as the reader sees it, is read: those of most letters in it."""
    if len(views) == 1:
        return views[0].turns
    return max(views, key=lambda view: _letters_in(view, box)).turns


def _letters_in(view: PageContent, box: Box) -> int:
    x0, y0, x1, y1 = turned_box(box, *turned_size(view.width, view.height, turns=view.turns), turns=view.turns)
    return sum(x0 <= char.x0 <= x1 and y0 <= char.baseline <= y1 for char in view.upright)
