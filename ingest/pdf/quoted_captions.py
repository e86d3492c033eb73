"""Tells captions from lines that only look like one: in running text, and inside another float."""

from bisect import bisect
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from ingest.document.geometry import contains, overlap_x, overlap_y
from ingest.pdf.captions import Caption
from ingest.pdf.frames import Frame, FramedFloat
from ingest.pdf.graphics import find_running_text
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line

__all__ = ["without_captions_in_text", "without_quoted_captions"]

# Letter sizes unless said otherwise; chosen on the development papers and on generated pages.
_PITCH = 1.42  # The largest distance between lines of one paragraph; captions are further from the text.
_SAME_SIZE = 0.4  # Points.
_SAME_EDGE = 2.0  # Points.
_MAX_INDENT = 2.5  # The first line of a paragraph may begin this far to the right.
_MIN_WORDS = 2  # The least number of words in a line of running text.
_INNER_SHARE = 0.8  # The largest height of what is drawn inside a frame, as a share of the frame's.
_MIN_ALIKE = 2  # The least number of captions of one kind that have a type of their own.


def without_captions_in_text(layouts: Sequence[PageLayout]) -> list[PageLayout]:
    """Return the pages without captions that continue the paragraph above them."""
    return [
        replace(layout, captions=tuple(each for each in layout.captions if not _continues_text(each, layout)))
        for layout in layouts
    ]


def _continues_text(caption: Caption, layout: PageLayout) -> bool:
    """Return whether a line of the same type is directly above a caption and aligned with it, with nothing next to it
    or in between."""
    first = caption.first
    if first.words[0].bold and not first.words[-1].bold:
        return False
    above = [
        line
        for line in layout.lines_between(first.baseline - _PITCH * first.size, first.baseline)
        if line.baseline < first.baseline and overlap_x(line.box, caption.box) > 0
    ]
    return len(above) == 1 and _is_text_above(above[0], first) and not _is_ruled_off(above[0], first, layout)


def _is_text_above(line: Line, first: Line) -> bool:
    return (
        abs(line.size - first.size) < _SAME_SIZE
        and line.font == first.font
        and len(line.words) >= _MIN_WORDS
        and -_SAME_EDGE < line.box.x0 - first.box.x0 < _MAX_INDENT * first.size
    )


def _is_ruled_off(line: Line, first: Line, layout: PageLayout) -> bool:
    """Return whether a drawing or a picture ends between two lines."""
    return any(
        line.baseline < y < first.middle and overlap_x(box, first.box) > 0
        for box in (*layout.content.drawings, *layout.content.images)
        for y in (box.y0, box.y1)
    )


def without_quoted_captions(
    layouts: Sequence[PageLayout], frames: Sequence[Sequence[Frame]], floats: Sequence[FramedFloat]
) -> list[PageLayout]:
    """Return the pages without captions that a float quotes; their lines are the `quoted` ones of the page.

    Those are captions inside a frame that has a caption of its own or nothing but text, and captions between a figure's
    caption and the text that are unlike the others: their type differs, or their label is another caption's or out of
    sequence.

    Args:
        layouts: The pages.
        frames: The frames of each page.
        floats: The frames that have a caption.
    """
    named = {frame: each.caption for each in floats for frame in each.frames}
    quoted: set[Caption] = set()
    for layout, found in zip(layouts, frames, strict=True):
        for caption in layout.captions:
            holder = next((frame for frame in found if caption.first in frame.lines), None)
            if holder and (holder in named or _is_amid_text(caption, holder, layout)) and named.get(holder) != caption:
                quoted.add(caption)
    rest = [[caption for caption in layout.captions if caption not in quoted] for layout in layouts]
    quoted_in_text = _without_float(layouts, rest, frames)
    rest = [[caption for caption in captions if caption not in quoted_in_text] for captions in rest]
    odd = _unlike_others([caption for captions in rest for caption in captions])
    for layout, captions, found in zip(layouts, rest, frames, strict=True):
        suspects = [caption for caption in captions if caption in odd]
        figures = [caption for caption in captions if caption.kind == "figure" and caption not in odd]
        if suspects and figures:
            solid = _solid_lines(layout, captions, found, odd)
            quoted.update(
                caption for caption in suspects if any(_is_within_reach(caption, figure, solid) for figure in figures)
            )
    return [
        replace(
            layout,
            captions=tuple(caption for caption in layout.captions if caption not in quoted | quoted_in_text),
            quoted=frozenset(line for caption in layout.captions if caption in quoted for line in caption.lines),
        )
        for layout in layouts
    ]


def _is_amid_text(caption: Caption, frame: Frame, layout: PageLayout) -> bool:
    """Return whether a caption is neither the first nor the last text of a frame, in which nothing is drawn."""
    if caption.first is frame.lines[0] or frame.lines[-1] in caption.lines:
        return False
    drawn = (*layout.content.images, *layout.content.drawings)
    return not any(contains(frame.box, box) and box.height < _INNER_SHARE * frame.box.height for box in drawn)


def _without_float(
    layouts: Sequence[PageLayout], captions: Sequence[Sequence[Caption]], frames: Sequence[Sequence[Frame]]
) -> set[Caption]:
    """Return the captions between running text whose label is also on a caption next to other content."""
    counts = Counter(caption.label for found in captions for caption in found if not caption.continues)
    alone: set[Caption] = set()
    named: set[str] = set()
    for layout, found, boxes in zip(layouts, captions, frames, strict=True):
        repeated = [caption for caption in found if counts[caption.label] > 1 and not caption.continues]
        if repeated:
            solid = set(_solid_lines(layout, found, boxes, set(found)))
            alone.update(caption for caption in repeated if _is_between(caption, layout, solid))
            named.update(caption.label for caption in repeated if caption not in alone)
    return {caption for caption in alone if caption.label in named}


def _is_between(caption: Caption, layout: PageLayout, solid: Collection[Line]) -> bool:
    """Return whether nothing but running text or the end of the column is above and below a caption, and nothing is
    next to it."""
    _, y0, _, y1 = caption.box
    lines = [line for line in layout.lines if line not in caption.lines and overlap_x(line.box, caption.box) > 0]
    drawn = (*layout.content.images, *layout.content.drawings)
    above = max((line for line in lines if line.middle < y0), key=lambda line: line.middle, default=None)
    below = min((line for line in lines if line.middle > y1), key=lambda line: line.middle, default=None)
    top = above.middle if above else 0.0
    bottom = below.middle if below else layout.content.height
    column = bisect(layout.gutters, caption.box.center)
    free = not any(
        (overlap_x(box, caption.box) > 0 and box.y1 > top and box.y0 < bottom)
        or (overlap_y(box, caption.box) > 0 and bisect(layout.gutters, box.center) == column)
        for box in drawn
    )
    return free and all(line is None or line in solid for line in (above, below))


def _unlike_others(captions: Sequence[Caption]) -> set[Caption]:
    """Return the captions whose type differs from most, or whose label is another one's or out of sequence."""
    if not captions:
        return set()
    usual = Counter(map(_style, captions)).most_common(1)[0][0]
    odd = {caption for caption in captions if _style(caption) != usual}
    # Tables and figures may be captioned in different types.
    for kind in ("table", "figure"):
        alike = [caption for caption in captions if caption.kind == kind]
        style, count = Counter(map(_style, alike)).most_common(1)[0] if alike else (usual, 0)
        if 2 * count > len(alike) and count >= _MIN_ALIKE:
            odd -= {caption for caption in alike if _style(caption) == style}
    labels = Counter(caption.label for caption in captions if caption not in odd)
    repeated = {caption for caption in captions if labels[caption.label] > 1 and not caption.continues}
    return odd | repeated | {caption for caption in captions if _predecessor(caption.label) not in {"", *labels}}


def _predecessor(label: str) -> str:
    """`Table 3` -> `Table 2`; "" for the first label and others than whole numbers."""
    word, _, number = label.rpartition(" ")
    return f"{word} {int(number) - 1}" if number.isascii() and number.isdecimal() and int(number) > 1 else ""


def _style(caption: Caption) -> tuple[float, str, bool]:
    """Return the type of a label: its size, its font and its weight."""
    word = caption.first.words[0]
    return round(2 * word.size) / 2, word.font.split("-")[0], word.bold


def _solid_lines(
    layout: PageLayout, captions: Sequence[Caption], frames: Sequence[Frame], odd: set[Caption]
) -> list[Line]:
    """Return the lines that are no part of a figure: running text outside frames, and the usual captions."""
    taken = {line for caption in captions for line in caption.lines}
    framed = {line for frame in frames for line in frame.lines}
    text = find_running_text(layout, [line for line in layout.lines if line not in taken | framed])
    return [*text, *(line for caption in captions if caption not in odd for line in caption.lines)]


def _is_within_reach(caption: Caption, figure: Caption, solid: Sequence[Line]) -> bool:
    """Return whether nothing but a figure's contents can be between a caption and the figure's."""
    top, bottom = sorted((caption.box, figure.box), key=lambda box: box.y0)
    if overlap_x(top, bottom) <= 0 or overlap_y(top, bottom) > 0:
        return False
    return not any(top.y1 < line.middle < bottom.y0 and overlap_x(line.box, figure.box) > 0 for line in solid)
