"""Scores where figures, tables, listings and headings are on a page, against boxes that were drawn by hand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from textwrap import shorten
from typing import get_args

from paperscope_core.types import Box, Element, Figure, Paper, Passage, Table, places_of
from paperscope_lab.evaluation.gold.papers import Gold, GoldPage, GoldRegion, RegionKind
from paperscope_lab.evaluation.matching import pair_best, similarity
from paperscope_lab.evaluation.metrics.regions import area, jaccard, shared_area
from paperscope_lab.evaluation.parsing.tables import label_number
from paperscope_lab.evaluation.score import Score, score_checks, total

__all__ = ["score_layout"]

_MIN_IOU = 0.5
_MIN_COVERED = 0.95
_MAX_EXCESS = 0.05
# The margin of a crop, in points: less than half a line, so that it holds no foreign text.
_MARGIN = 4.0
# Of an element and a region, the smaller lies on the other by this part; otherwise they only touch.
_MIN_MET = 0.5
_MIN_HEADING_SIMILARITY = 0.8
_MAX_SHOWN = 80
_KIND_OF_ROLE: Mapping[str, RegionKind] = {"code": "listing", "heading": "heading"}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """An element that the parser read, with the hull of its boxes on one page."""

    kind: RegionKind
    box: Box
    label: str
    text: str


def score_layout(paper: Paper, gold: Gold) -> Score:
    """layout.KINDs.METRIC of figures, tables, listings and headings, on the pages that the gold annotates.

    - found: regions that an element of the kind overlaps with an intersection over union of 0.5, with or without the
      caption; headings whose page has a heading with a similar text.
    - whole: regions of which that element covers 95 %, with at most 5 % more area (beyond a margin of 4 pt).
    - true: elements of the kind that lie on a region of the kind; the others are phantoms.

    layout.labels: the regions found whose element has the number of their label.
    """
    return total(
        _score_kind(
            [region for region in page.regions if region.kind == kind],
            [element for element in _on_page(paper, page) if element.kind == kind],
            kind=kind,
            page=page.number,
        )
        for page in gold.pages
        for kind in get_args(RegionKind)
    )


def _on_page(paper: Paper, page: GoldPage) -> Iterator[_Found]:
    for element in paper.elements:
        kind = _kind(element)
        boxes = [place.box for place in places_of(element) if place.page == page.number]
        if kind and boxes and isinstance(element, Figure | Table | Passage):
            text = element.text if isinstance(element, Passage) else element.caption
            yield _Found(kind=kind, box=reduce(Box.union, boxes), label=element.label, text=text)


def _kind(element: Element) -> RegionKind | None:
    if isinstance(element, Figure | Table):
        return element.kind
    return _KIND_OF_ROLE.get(element.role) if isinstance(element, Passage) else None


def _score_kind(regions: Sequence[GoldRegion], found: Sequence[_Found], *, kind: RegionKind, page: int) -> Score:
    metric = f"layout.{kind}s"
    least = _MIN_HEADING_SIMILARITY if kind == "heading" else _MIN_IOU
    pairs = pair_best(regions, found, worth=_likeness if kind == "heading" else _overlap, least=least)
    scores = []
    for index, region in enumerate(regions):
        if not region.optional:
            match = found[pairs[index]] if index in pairs else None
            checks = _checks(region, match, metric=metric)
            nearest = match or max(found, key=lambda element: _overlap(region, element), default=None)
            gold = _shown(region.text or region.label, region.box)
            got = _shown(nearest.label or nearest.text, nearest.box) if nearest else ""
            scores.append(score_checks(checks, what=f"page {page}", gold=gold, got=got))
    for element in found:
        met = [region for region in regions if _meets(element, region)]
        if not met or not all(region.optional for region in met):
            checks = {f"{metric}.true": bool(met)}
            got = _shown(element.label or element.text, element.box)
            scores.append(score_checks(checks, what=f"page {page}", gold="", got=got))
    return total(scores)


def _checks(region: GoldRegion, match: _Found | None, *, metric: str) -> dict[str, bool]:
    checks = {f"{metric}.found": match is not None}
    if region.kind != "heading":
        checks[f"{metric}.whole"] = match is not None and _is_whole(region, match.box)
        if match and region.label:
            checks["layout.labels"] = label_number(match.label) == label_number(region.label)
    return checks


def _likeness(region: GoldRegion, element: _Found) -> float:
    return similarity((region.text or "").rstrip(".:"), element.text.rstrip(".:"))


def _overlap(region: GoldRegion, element: _Found) -> float:
    """Return the intersection over union, with or without the caption."""
    return max(jaccard(box, element.box) for box in _extents(region))


def _meets(element: _Found, region: GoldRegion) -> bool:
    if region.kind == "heading":
        return _likeness(region, element) >= _MIN_HEADING_SIMILARITY
    box = _extents(region)[-1]
    return shared_area(box, element.box) >= _MIN_MET * min(area(box), area(element.box))


def _is_whole(region: GoldRegion, box: Box) -> bool:
    covered = shared_area(region.box, box) >= _MIN_COVERED * area(region.box)
    return covered and any(
        area(box) - shared_area(extent.grown(_MARGIN, _MARGIN), box) <= _MAX_EXCESS * area(region.box)
        for extent in _extents(region)
    )


def _extents(region: GoldRegion) -> list[Box]:
    """Return the box, and its hull with the caption, which a crop may include."""
    return [region.box, region.box.union(region.caption_box)] if region.caption_box else [region.box]


def _shown(name: str | None, box: Box) -> str:
    return f"{shorten(name or 'no label', _MAX_SHOWN)} [{' '.join(f'{value:.0f}' for value in box)}]"
