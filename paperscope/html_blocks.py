"""HTML building blocks for displayed values.

HTML is `Markup`; every other `str` is text, and is escaped. The HTML contains no script and no address, and takes its
colours from the page around it, light or dark.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from paperscope_core.errors import NotFoundError, UnknownCropError, UnknownElementError
from paperscope_core.protocols import ContentSource
from paperscope_core.text.escaping import html
from paperscope_core.types.elements import Element, PaperEntry
from paperscope_core.types.image_findings import PaperImages

__all__ = [
    "NoContent",
    "aside",
    "bullet_list",
    "details",
    "file_names",
    "fragment",
    "grid",
    "image_tags",
    "numbered_list",
    "warning",
]

# No colours except for marks, so that it suits light and dark pages. `.paperscope.paperscope` takes precedence over a
# notebook's own rules for tables, which align all cells to the right.
_STYLE = Markup("""
.paperscope { max-width: 60em; line-height: 1.45; }
.paperscope p { margin: 0 0 .4em; }
.paperscope .title { font-weight: 600; }
.paperscope .text { white-space: pre-wrap; margin: 0 0 .6em; }
.paperscope .aside { opacity: .7; font-size: .9em; }
.paperscope .warning { border-left: .25em solid #d98e04; padding-left: .6em; margin: .2em 0; }
.paperscope figure { margin: .8em 0; overflow-x: auto; }
.paperscope figcaption { margin-bottom: .3em; }
.paperscope img { display: block; max-width: 100%; background: #fff; }
.paperscope svg { display: block; max-width: 100%; height: auto; }
.paperscope details { margin: .3em 0; }
.paperscope summary { cursor: pointer; }
.paperscope .wide { overflow-x: auto; }
.paperscope.paperscope table { border-collapse: collapse; font-size: .85em; margin: .3em 0; }
.paperscope.paperscope th, .paperscope.paperscope td { border: 1px solid #8886; padding: .15em .5em; text-align: left;
  vertical-align: top; white-space: pre-line; }
.paperscope caption { display: none; }
.paperscope mark { background: #ffe066; color: #000; }
""")


class NoContent:
    """A `ContentSource` without content: values are shown without images."""

    def crop(self, crop: str) -> bytes:
        """Raise NotFoundError."""
        raise UnknownCropError(crop)

    def element(self, element: str) -> Element:
        """Raise NotFoundError."""
        raise UnknownElementError(element)

    def images(self, _paper: str) -> PaperImages:
        """Return no readings."""
        return PaperImages()

    def entries(self) -> Sequence[PaperEntry]:
        """Return no papers."""
        return ()


def file_names(content: ContentSource) -> Mapping[str, str]:
    """Return the file name of each paper, by paper id."""
    return {entry.id: entry.file for entry in content.entries()}


def fragment(*parts: Markup) -> Markup:
    """Return one block of HTML with its style sheet."""
    return html('<div class="paperscope"><style>{}</style>{}</div>', _STYLE, Markup().join(parts))


def aside(text: str) -> Markup:
    """Return a paragraph of secondary text; "" without text."""
    return html('<p class="aside">{}</p>', text) if text else Markup()


def warning(text: str) -> Markup:
    """Return a highlighted paragraph."""
    return html('<p class="warning">{}</p>', text)


def bullet_list(items: Iterable[str]) -> Markup:
    """Return a bullet list; "" without items."""
    rows = _list_items(items)
    return html("<ul>{}</ul>", rows) if rows else Markup()


def numbered_list(items: Iterable[str]) -> Markup:
    """Return a list numbered from 1; "" without items."""
    rows = _list_items(items)
    return html("<ol>{}</ol>", rows) if rows else Markup()


def _list_items(items: Iterable[str]) -> Markup:
    return Markup().join(html("<li>{}</li>", item) for item in items)


def details(title: str, inner: str, *, open_: bool = False) -> Markup:
    """Return a foldable section; "" without content."""
    tag = "details open" if open_ else "details"
    return html("<{}><summary>{}</summary>{}</details>", tag, title, inner) if inner else Markup()


def grid(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """Return a table; "" without rows."""
    head = Markup().join(html("<th>{}</th>", name) for name in header)
    body = Markup().join(html("<tr>{}</tr>", Markup().join(html("<td>{}</td>", cell) for cell in row)) for row in rows)
    table = html("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>", head, body)
    return html('<div class="wide">{}</div>', table) if body else Markup()


def image_tags(crops: Iterable[str], title: str, content: ContentSource) -> Markup:
    """Return the images of those crops that `content` has, embedded as data URLs."""
    return Markup().join(_image_tag(crop, title, content) for crop in crops)


def _image_tag(crop: str, title: str, content: ContentSource) -> Markup:
    try:
        data = base64.b64encode(content.crop(crop)).decode()
    except NotFoundError:
        return Markup()
    return html('<img alt="{}" src="data:image/png;base64,{}">', title, data)
