"""Tables without rules: aligned columns beside a caption."""

from collections.abc import Container, Sequence
from itertools import pairwise

from ingest.pdf.captions import Caption
from ingest.pdf.page.layout import PageLayout
from ingest.pdf.page.lines import Line, bounds
from ingest.pdf.tables.grid import TableRegion
from ingest.pdf.tables.regions import Side
from ingest.pdf.tables.rows import PrintedRow, em_of, printed_rows
from ingest.pdf.tables.strips import strips_of
from ingest.pdf.tables.turned import turned_words

__all__ = ["borderless_region", "region_of_run", "run_of_rows"]

_LARGEST_GAP = 3.0
_FARTHEST = 4.0
_TOUCH = 15.0
_SPLIT = 0.6
_WRAPPED = 0.35


def borderless_region(
    layout: PageLayout, caption: Caption, *, side: Side, captions: Sequence[Caption]
) -> TableRegion | None:
    """The run of lines next to a caption that falls into columns, on the usual side first; None if there is none."""
    others: tuple[Side, ...] = ("above", "below") if side == "above" else ("below", "above")
    taken = {line for other in captions for line in other.lines}
    for place in others:
        edge = caption.box.y0 if place == "above" else caption.box.y1
        run = run_of_rows(layout, edge=edge, band=_band(layout, caption), place=place, taken=taken)
        if len(run) >= 3 and (region := region_of_run(layout, run)) is not None and region[1] >= 3:
            return region[0]
    return None


def region_of_run(layout: PageLayout, run: Sequence[Line]) -> tuple[TableRegion, int] | None:
    """The region of some lines and its printed rows, None if most of them don't fall into columns."""
    words = tuple(word for line in run for word in line.words)
    box = bounds(line.box for line in run)
    rows = printed_rows(words, em=em_of(words), verticals=())
    if not _in_columns(rows, em=em_of(words)):
        return None
    partial = tuple(
        rule for rule in layout.content.horizontal if box.x0 - 4 <= rule.x0 <= box.x1 and box.y0 < rule.y < box.y1
    )
    full = tuple(sorted(rule.y for rule in partial if rule.x1 - rule.x0 > 0.9 * (box.x1 - box.x0)))
    words += turned_words(layout, box, words, rules=full)
    return TableRegion(box=box, words=words, rules=(box.y0, *full, box.y1), ruled=False), len(rows)


def _in_columns(rows: Sequence[PrintedRow], *, em: float) -> bool:
    """Whether most rows have several texts; fewer will do where all others go on within one column of theirs."""
    split = [row for row in rows if len(row.segments) > 1]
    if len(split) >= _SPLIT * len(rows):
        return True
    if len(split) < max(3, _WRAPPED * len(rows)):
        return False
    strips = strips_of(split, em=em, verticals=())
    rest = [row.box for row in rows if len(row.segments) == 1]
    return len(strips) > 1 and not any(box.x0 < strip.middle < box.x1 for box in rest for strip in strips)


def run_of_rows(
    layout: PageLayout, *, edge: float, band: tuple[float, float], place: Side, taken: Container[Line]
) -> list[Line]:
    """Lines outward from an edge, within a band of x, until a large gap, a line taken or a line of running text."""
    step = -1 if place == "above" else 1
    left, right = band
    run: list[Line] = []
    for line in sorted(layout.lines, key=lambda line: step * line.baseline):
        top, bottom = line.box.y0, line.box.y1
        ahead = bottom <= edge + 2 if step < 0 else top >= edge - 2
        beside = bool(run) and abs(line.baseline - run[-1].baseline) < 0.5 * line.size
        if not (ahead or beside) or line.center < left or line.center > right:
            continue
        gap = 0.0 if beside else (edge - bottom if step < 0 else top - edge)
        limit = (_LARGEST_GAP if run else _FARTHEST) * line.size
        if line in taken or gap > limit or _is_running(line, right - left):
            break
        run.append(line)
        edge = min(edge, top) if step < 0 else max(edge, bottom)
    return run


def _band(layout: PageLayout, caption: Caption) -> tuple[float, float]:
    """The columns over which a caption stands."""
    edges = (0.0, *layout.gutters, layout.content.width)
    touched = [
        (left, right)
        for left, right in pairwise(edges)
        if min(right, caption.box.x1) - max(left, caption.box.x0) > _TOUCH
    ]
    return (touched[0][0], touched[-1][1]) if touched else (0.0, layout.content.width)


def _is_running(line: Line, width: float) -> bool:
    gaps = [second.x0 - first.x1 for first, second in pairwise(line.words)]
    return len(gaps) > 5 and line.width > 0.7 * min(width, 400) and max(gaps) < 0.75 * line.size
