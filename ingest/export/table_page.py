"""One table as an HTML page of its own."""

import base64
from collections.abc import Iterator, Sequence
from html import escape

from ingest.export.html_page import html_page
from ingest.export.sound_text import sound
from paperscope.types import Table

__all__ = ["table_page"]


def table_page(table: Table, *, paper: str, pictures: Sequence[bytes]) -> str:
    """The table under the title of its paper, and how it is printed: `pictures` are PNG, and become part of the page.

    Every text is escaped.
    """
    title = " · ".join(filter(None, [table.label, paper]))
    return html_page(sound(title), _body(sound(table), sound(paper), pictures), pictures="data:")


def _body(table: Table, paper: str, pictures: Sequence[bytes]) -> Iterator[str]:
    yield f'<p class="authors" dir="auto">{escape(paper)}, {table.place.where}</p>'
    yield f'<div class="scroll" dir="auto">{table.to_html()}</div>'
    if pictures:
        sources = (f"data:image/png;base64,{base64.b64encode(picture).decode()}" for picture in pictures)
        images = "".join(f'<img src="{source}" alt="the table as printed">' for source in sources)
        yield f"<details><summary>As printed</summary>{images}</details>"
