"""Finds figures: the graphics next to a caption, and pictures and plots without one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.document.geometry import bounding_box, contains, join_boxes, overlap, overlap_x, overlap_y
from ingest.pdf.captions import Caption, nameless
from ingest.pdf.columns import crosses
from ingest.pdf.frames import Frame, FramedFloat, frame_at, is_program
from ingest.pdf.furniture import find_furniture
from ingest.pdf.graphics import Graphics, find_running_text, graphics_of
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line
from ingest.pdf.panels import FoundPanel, find_panels, find_plots, is_marked
from ingest.pdf.tables.table_values import FoundTable
from paperscope_core.types import Box

__all__ = ["FoundFigure", "find_figures", "framed_figure"]

# Points unless said otherwise; chosen on the development papers.
_MARGIN = 4.0  # The margin between a figure's crop and its caption or the text.
_REACH = 14.0  # The largest vertical distance of a label from the graphics, doubled for a label with a mark, or in a
# font that other labels have and the text has not, and where a figure has text like captions inside.
_ASIDE = 30.0  # The largest horizontal distance of a label from the graphics.
_MIN_SIDE = 12.0  # Lower or narrower graphics are rules and logos.
_MIN_SHARED = 20.0  # Text bounds the area above or below a caption if it overlaps it by this width.
# Costs of areas, added to the figure's distance from the caption.
_BELOW_COST = 8.0  # Figures are usually above their caption.
_ACROSS_GAIN = 5.0  # A figure across all columns contains those found in one.
_BESIDE_COST = 60.0  # Figures beside their caption are rare.
_CUT_COST = 60.0  # An area that cuts graphics has a part of a figure.
_MIN_ASIDE = 60.0  # The least width of an area beside a caption, and of lines that bound an area.
_OTHER_CAPTION = 60.0  # Another caption this close to the graphics may be theirs.
_CAPTION_OVERHANG = 15.0  # A caption may extend into a gutter by this.
# Pictures and plots without a caption.
_MAX_PLOT_SHARE = 0.8  # Larger drawings are backgrounds.
_MIN_PICTURE = 80.0  # Smaller pictures are icons.
_MIN_PAGE_SHARE, _MAX_PAGE_SHARE = 0.02, 0.6  # Larger pictures are backgrounds or scans.


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundFigure:
    """A figure that begins on a page (its index from 0), with the lines printed inside it and its panels.

    `frames` are the frames of its continuation in other columns or on other pages. The caption of a picture without one
    has no lines.
    """

    page: int
    caption: Caption
    box: Box
    lines: frozenset[Line] = frozenset()
    panels: tuple[FoundPanel, ...] = ()
    frames: tuple[Frame, ...] = ()

    @property
    def text(self) -> str:
        """The lines inside, from top to bottom."""
        first = sorted(self.lines, key=lambda line: (line.baseline, line.box.x0))
        return "\n".join(line.text for line in (*first, *(line for frame in self.frames for line in frame.lines)))

    @property
    def claimed(self) -> frozenset[Line]:
        """The lines of the figure and of its caption."""
        return self.lines.union(self.caption.lines, *(frame.lines for frame in self.frames))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Surroundings:
    """The neighbourhood of a caption: captions and other boxes that no figure covers, prose, and parts of a figure.

    `font` is the font of the body.
    """

    captions: Sequence[Box]
    barriers: Sequence[Box]
    prose: Sequence[Line]
    labels: Sequence[Line]
    graphics: Graphics
    quoted: frozenset[Line]
    font: str


def framed_figure(framed: FramedFloat) -> FoundFigure:
    """Return the figure of a caption in its frames."""
    first, *others = framed.frames
    lines = frozenset(first.lines).difference(framed.caption.lines)
    return FoundFigure(page=first.page, caption=framed.caption, box=first.box, lines=lines, frames=tuple(others))


def find_figures(
    layouts: Sequence[PageLayout], tables: Sequence[FoundTable], framed: Sequence[FramedFloat] = ()
) -> list[FoundFigure]:
    """Find the figures of a document outside its tables; a picture that repeats in one place on several pages is not a
    figure.

    Args:
        layouts: The pages.
        tables: The tables of all pages.
        framed: Further floats that are known.
    """
    named = {caption for table in tables for caption in table.captions} | {each.caption for each in framed}
    claimed = {line for table in tables for line in table.lines} | {line for each in framed for line in each.lines}
    claimed |= {line for layout in layouts for caption in layout.captions for line in caption.lines}
    free = [[line for line in layout.lines if line not in claimed] for layout in layouts]
    figures: list[FoundFigure] = []
    template = _template(layouts)
    for layout, lines, furniture in zip(layouts, free, find_furniture(layouts, free), strict=True):
        taken = [part.box for table in tables for part in table.parts if part.page == layout.index]
        taken += [box for each in framed for page, box in each.boxes if page == layout.index]
        taken += [caption.box for caption in layout.captions if caption in named]
        captions = [caption for caption in layout.captions if caption not in named]
        page = _Page(layout=layout, captions=captions, taken=taken, free=lines, furniture=furniture, template=template)
        figures.extend(_figures_of_page(page))
    counts = Counter(place for layout in layouts for place in {box.rounded() for box in layout.content.images})
    return [figure for figure in figures if figure.caption.lines or counts[figure.box.rounded()] < 2]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Page:
    """A page with its captions that have no table, the boxes that tables have taken, its free lines, those of them
    that are furniture, and the drawings that most pages have."""

    layout: PageLayout
    captions: Sequence[Caption]
    taken: Sequence[Box]
    free: Sequence[Line]
    furniture: frozenset[Line]
    template: frozenset[Box]


def _template(layouts: Sequence[PageLayout]) -> frozenset[Box]:
    """Return the drawings and narrow pictures that are at the same place on most pages, such as the white
    between columns."""
    counts = Counter(
        place
        for layout in layouts
        for place in {
            *(box.rounded() for box in layout.content.drawings),
            *(box.rounded() for box in layout.content.images if min(box.width, box.height) < 2 * _MIN_SIDE),
        }
    )
    return frozenset(place for place, count in counts.items() if count > max(2, len(layouts) / 2))


def _figures_of_page(page: _Page) -> list[FoundFigure]:
    """Return the figures of the captions of a page, and its pictures and plots without a caption."""
    layout, free = page.layout, page.free
    captions = [caption for caption in page.captions if caption.kind != "other"]
    if not captions and not layout.content.images and not layout.content.drawings:
        return []
    prose = find_running_text(layout, free) | page.furniture
    graphics = graphics_of(layout, taken=page.taken)
    graphics = replace(graphics, images=[box for box in graphics.images if box.rounded() not in page.template])
    found: list[FoundFigure] = []
    blocks = [*page.taken, *(caption.box for caption in page.captions)]

    def around(caption: Caption | None) -> _Surroundings:
        used = {line for figure in found for line in figure.lines}
        own = caption.box if caption else None
        return _Surroundings(
            captions=[other.box for other in page.captions if other is not caption],
            barriers=[*(box for box in blocks if box is not own), *(figure.box for figure in found)],
            prose=[line for line in free if line in prose],
            labels=[line for line in free if line not in prose and line not in used],
            graphics=graphics,
            quoted=layout.quoted,
            font=layout.body.font,
        )

    # A caption with one area of graphics takes it before a caption with several.
    choices = {
        id(caption): sum(bool(graphics.within(area)) for _, area in _free_areas(layout, caption, around(caption))) or 9
        for caption in (captions if len(captions) > 1 else ())
    }
    for caption in sorted(captions, key=lambda caption: choices.get(id(caption), 0)):
        figure = _find(layout, caption, around(caption))  # with the figures that are already found
        found.append(figure)
    others = [*blocks, *(figure.box for figure in found), *(line.box for line in prose)]
    pictures = _lone_pictures(layout, graphics.images, others)
    found += [FoundFigure(page=layout.index, caption=nameless("figure", box), box=box) for box in pictures]
    return [*found, *_lone_plots(page, around(None))]


def _lone_plots(page: _Page, around: _Surroundings) -> Iterator[FoundFigure]:
    """Yield the plots and diagrams without a caption, with their labels."""
    layout = page.layout
    programs = [line for line in around.labels if is_program(line, layout.body)]
    solid = [*around.barriers, *(line.box for line in (*around.prose, *programs))]
    drawings = [box for box in around.graphics.drawings if box.rounded() not in page.template]
    around = replace(around, labels=[line for line in around.labels if line not in programs])
    limit = _MAX_PLOT_SHARE * layout.content.width * layout.content.height
    for plot in find_plots(drawings, lines=page.free, solid=solid):
        top, bottom = _bounds(layout, plot, solid, (plot.x0, plot.x1))
        lines, box = _with_labels(plot, around, Box(0.0, top, layout.content.width, bottom))
        free = not any(overlap(box, other) for other in solid)
        if free and box.width * box.height < limit and not frame_at(box, layout).is_text:
            yield FoundFigure(page=layout.index, caption=nameless("figure", box), box=box, lines=lines)


def _find(layout: PageLayout, caption: Caption, around: _Surroundings) -> FoundFigure:
    """Return the figure of a caption: the nearest graphics, otherwise the nearest labels."""
    drawn: list[tuple[float, Box, frozenset[Line], list[Box]]] = []
    labelled: list[tuple[float, Box, frozenset[Line]]] = []
    for cost, area in _free_areas(layout, caption, around):
        ink = around.graphics.within(area, labels=[line.box for line in around.labels] if around.quoted else ())
        box = bounding_box(ink) if ink else None
        if box and min(box.width, box.height) > _MIN_SIDE:
            box = bounding_box([box, *(image for image in around.graphics.images if _frames(image, caption))])
            lines, whole = _with_labels(box, around, area)
            cut = _CUT_COST if _is_cut(area, around.graphics) else 0.0
            drawn.append((_distance(whole, caption.box) + cost + cut, whole, lines, ink))
        labels = [line.box for line in around.labels if contains(area.grown(0, _MARGIN), line.box)]
        if labels and not drawn:
            nearest = min(labels, key=lambda box: _distance(box, caption.box))
            lines, whole = _with_labels(nearest, around, area)
            labelled.append((_distance(nearest, caption.box) + cost, whole, lines))
    if drawn:
        closest = min(drawn, key=lambda found: found[0])
        # The graphics in a narrow area may be a part of others beside the caption.
        near = (each for each in drawn if _distance(each[1], caption.box) < _ASIDE)
        whole_ones = [each for each in near if contains(each[1].grown(_MARGIN, _MARGIN), closest[1])]
        _, whole, lines, ink = max(whole_ones, key=lambda found: found[1].width * found[1].height, default=closest)
        letters = [letter for letter in around.graphics.letters if contains(whole, letter)]
        panels = find_panels(whole, lines=lines, ink=ink, letters=letters, caption=caption.text)
        return FoundFigure(page=layout.index, caption=caption, box=whole, lines=lines, panels=panels)
    if labelled:
        _, whole, lines = min(labelled, key=lambda found: found[0])
        return FoundFigure(page=layout.index, caption=caption, box=whole, lines=lines)
    return FoundFigure(page=layout.index, caption=caption, box=caption.box)


def _is_cut(area: Box, graphics: Graphics) -> bool:
    """Return whether graphics are partly left or right of an area, and partly inside."""
    return any(
        overlap_y(box, area) > 0
        and (
            box.x0 < area.x0 - _MARGIN < area.x0 + _MARGIN < box.x1
            or box.x0 < area.x1 - _MARGIN < area.x1 + _MARGIN < box.x1
        )
        for box in (*graphics.images, *graphics.drawings)
    )


def _frames(image: Box, caption: Caption) -> bool:
    """Return whether most of a caption is printed over a picture, in a corner that is left white."""
    box = caption.box
    return (
        2 * overlap_x(image, box) > box.width
        and 2 * overlap_y(image, box) > box.height
        and image.height > 2 * box.height
    )


def _with_labels(box: Box, around: _Surroundings, area: Box) -> tuple[frozenset[Line], Box]:
    """Return the labels in and next to a box, those next to them, and the box that contains them all."""
    wider = area.grown(0, _MARGIN)  # A label may be as close to the text as a crop.
    found: set[Line] = set()
    left = [line for line in around.labels if contains(wider, line.box)]
    letters = [letter for letter in around.graphics.letters if contains(wider, letter)]
    while left or letters:
        near = box.grown(_ASIDE, _REACH)
        far = near.grown(0, _REACH)
        fonts = {line.font for line in found} - {around.font}
        more = [
            line
            for line in left
            if contains(far if around.quoted or is_marked(line) or line.font in fonts else near, line.box)
        ]
        rotated = [letter for letter in letters if contains(near, letter)]
        if not more and not rotated:
            break
        found.update(more)
        left = [line for line in left if line not in found]
        letters = [letter for letter in letters if letter not in rotated]
        box = bounding_box([box, *(line.box for line in more), *rotated])
    return frozenset(found), box


def _distance(box: Box, caption: Box) -> float:
    return max(-overlap_x(box, caption), -overlap_y(box, caption), 0.0)


def _free_areas(layout: PageLayout, caption: Caption, around: _Surroundings) -> Iterator[tuple[float, Box]]:
    """Yield the free areas next to a caption with their costs: above, below, across all columns, beside.

    They keep a margin from the caption and from the text.
    """
    solid = [*around.barriers, *(line.box for line in around.prose)]
    band = _band(layout, caption, around)
    yield from _above_and_below(layout, caption, solid, band)
    if layout.columns > 1:
        for cost, area in _above_and_below(layout, caption, solid, (0.0, layout.content.width)):
            if _is_across(layout, around, area, band):
                yield cost - _ACROSS_GAIN, area
    yield from _beside(layout, caption, solid)


def _above_and_below(
    layout: PageLayout, caption: Caption, solid: Sequence[Box], band: tuple[float, float]
) -> Iterator[tuple[float, Box]]:
    left, right = band
    top, bottom = _bounds(layout, caption.box, solid, band)
    yield 0.0, Box(left - 3, top + _MARGIN - 1, right + 3, caption.box.y0 - _MARGIN)
    yield _BELOW_COST, Box(left - 3, caption.box.y1 + _MARGIN, right + 3, bottom - _MARGIN + 1)


def _bounds(layout: PageLayout, box: Box, solid: Sequence[Box], band: tuple[float, float]) -> tuple[float, float]:
    """Return the y at which other content bounds a band of x above and below a box."""
    left, right = band
    inside = [other for other in solid if min(other.x1, right) - max(other.x0, left) > _MIN_SHARED]
    top = max((other.y1 for other in inside if other.y1 <= box.y0 + 2), default=0.0)
    bottom = min((other.y0 for other in inside if other.y0 >= box.y1 - 2), default=layout.content.height)
    return top, bottom


def _is_across(layout: PageLayout, around: _Surroundings, area: Box, band: tuple[float, float]) -> bool:
    """Return whether the graphics in an area across all columns are one figure: they cross a gutter, or those outside
    the caption's column have no caption of their own."""
    ink = around.graphics.within(area)
    if any(crosses(box, gutter) for box in ink for gutter in layout.gutters):
        return True
    outside = [box for box in ink if _is_outside(box, band)]
    if not outside or len(outside) == len(ink):
        return False
    far = bounding_box(outside)
    # A background may extend beyond what is drawn over it.
    if any(
        _is_outside(box, band) and not (box.x0 <= far.x0 and far.x1 <= box.x1) for box in around.graphics.cut_by(area)
    ):
        return False
    others = [box for box in around.captions if _is_outside(box, band)]
    return not any(-overlap_y(box, far) < _OTHER_CAPTION for box in others)


def _is_outside(box: Box, band: tuple[float, float]) -> bool:
    return box.x1 < band[0] or box.x0 > band[1]


def _beside(layout: PageLayout, caption: Caption, solid: Sequence[Box]) -> Iterator[tuple[float, Box]]:
    """Yield the free areas left and right of a caption that is beside its figure."""
    box = caption.box
    level = [other for other in solid if overlap_y(other, box) > 0]
    left = max((other.x1 for other in level if other.x1 <= box.x0), default=0.0)
    right = min((other.x0 for other in level if other.x0 >= box.x1), default=layout.content.width)
    for x0, x1 in ((left, box.x0 - _MARGIN), (box.x1 + _MARGIN, right)):
        if x1 - x0 > _MIN_ASIDE:
            top, bottom = _bounds(layout, box, solid, (x0, x1))
            yield _BESIDE_COST, Box(x0, top, x1, bottom)


def _band(layout: PageLayout, caption: Caption, around: _Surroundings) -> tuple[float, float]:
    """Return the x range that may belong to the caption.

    It is the caption's columns, cut where text wraps around a narrow figure, and halfway to an adjacent float.
    """
    box = caption.box
    left = max((x for x in layout.gutters if x <= box.x0 + _CAPTION_OVERHANG), default=0.0)
    right = min((x for x in layout.gutters if x >= box.x1 - _CAPTION_OVERHANG), default=layout.content.width)
    text = [(line.box, False) for line in around.prose if line.width > _MIN_ASIDE]
    for other, is_float in [*text, *((barrier, True) for barrier in around.barriers)]:
        if overlap_y(other, box) <= 0:
            continue
        if box.x1 < other.x0 < right:
            right = (other.x0 + box.x1) / 2 if is_float else other.x0
        elif left < other.x1 < box.x0:
            left = (other.x1 + box.x0) / 2 if is_float else other.x1
    return left, right


def _lone_pictures(layout: PageLayout, images: Sequence[Box], others: Sequence[Box]) -> list[Box]:
    """Return the pictures of a page that are as large as a figure, overlap no other box and frame no text; one may
    be stored in strips."""
    page = layout.content.width * layout.content.height
    return [
        box
        for box in join_boxes(images, gap=1.0)
        if min(box.width, box.height) >= _MIN_PICTURE
        and _MIN_PAGE_SHARE < box.width * box.height / page < _MAX_PAGE_SHARE
        and not any(overlap(box, other) for other in others)
        and not frame_at(box, layout).is_text
    ]
