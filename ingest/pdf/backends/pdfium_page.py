"""What a page prints, read with PDFium before the page's rotation flag turns it."""

from typing import Any, TypeAlias

from ingest.pdf.backend import PageContent
from ingest.pdf.backends.pdfium_paths import Drawn, drawn_objects
from ingest.pdf.backends.pdfium_text import chars_of
from ingest.pdf.backends.shapes import sort_shapes

__all__ = ["page_content"]

# pypdfium2 ships no types.
Untyped: TypeAlias = Any


def page_content(page: Untyped, *, number: int) -> PageContent:
    """The page's content, measured on the unrotated page from the top left corner of its visible box."""
    left, bottom, right, top = page.get_bbox()
    drawn = Drawn(left=left, top=top)
    for item in drawn_objects(page):
        drawn.add(item)
    shapes = sort_shapes(drawn.shapes)
    return PageContent(
        number=number,
        width=right - left,
        height=top - bottom,
        chars=chars_of(page, box=(left, bottom, right, top)),
        horizontal=shapes.horizontal,
        vertical=shapes.vertical,
        fills=shapes.fills,
        images=tuple(drawn.images),
        drawings=tuple(drawn.drawings),
    )
