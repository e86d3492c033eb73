"""The element that a found figure becomes."""

from ingest.pdf.captions import Caption
from ingest.pdf.figures.find import FoundFigure
from ingest.pdf.places import Places
from paperscope.types import Figure, Panel, Table

__all__ = ["figure_element"]


def figure_element(found: FoundFigure, places: Places) -> Figure | Table:
    """A figure, or a table without cells where a table's caption stands beside a picture."""
    place = places.at(found.page, found.box)
    caption: Caption = found.caption
    caption_place = places.at(found.page, caption.box) if caption.lines else None
    if caption.kind == "table":
        return Table(
            id="",
            place=place,
            order=0,
            cells=(),
            label=caption.label,
            caption=caption.text,
            caption_place=caption_place,
            confidence=0.0,
        )
    return Figure(
        id="",
        place=place,
        order=0,
        label=caption.label,
        caption=caption.text,
        caption_place=caption_place,
        text=found.text,
        panels=tuple(
            Panel(mark=panel.mark, place=places.at(found.page, panel.box), caption=panel.caption)
            for panel in found.panels
        ),
    )
