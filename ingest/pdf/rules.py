"""Rules that are page furniture: the line under a running head is no part of a table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ingest.pdf.backend import HorizontalRule, PageContent

__all__ = ["without_running_rules"]

_MARGIN = 0.12
_REPEATS = 3


def without_running_rules(pages: Sequence[PageContent]) -> list[PageContent]:
    """The pages without rules in their outer eighth that come again at the same spot on three pages or more."""
    counts = Counter(key for page in pages for key in {_spot(rule) for rule in page.horizontal})
    return [
        replace(
            page,
            horizontal=tuple(
                rule
                for rule in page.horizontal
                if counts[_spot(rule)] < _REPEATS or _MARGIN * page.height < rule.y < (1 - _MARGIN) * page.height
            ),
        )
        for page in pages
    ]


def _spot(rule: HorizontalRule) -> tuple[int, int, int]:
    return round(rule.x0), round(rule.x1), round(rule.y)
