"""HTML building blocks for displayed values."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Protocol

from paperscope_core.types.images import PaperImages

if TYPE_CHECKING:
    from paperscope_core.types.elements import Element, PaperEntry


__all__ = [
    "ContentSource",
    "NoContent",
    "aside",
    "bullet_list",
    "details",
    "file_names",
    "fragment",
    "grid",
    "image_tags",
    "shortened",
    "warning",
]


# No colour but for marks, so that it reads on a light and on a dark page. Where a class is said twice, a notebook's own
# rules for tables (all to the right) would win.
_STYLE = """
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
"""


class ContentSource(Protocol):
    """Who holds what values only name; `Library` is one. What is not found raises KeyError."""

    def crop(self, crop: str) -> bytes:
        """A crop's PNG bytes by content hash."""

    def element(self, element: str) -> "Element":
        """An element by id."""

    def images(self, paper: str) -> PaperImages:
        """What a vision model saw in a paper's pictures."""

    def entries(self) -> "Sequence[PaperEntry]":
        """The papers, without their elements."""


class NoContent:
    """The holder of nothing: values are shown without pictures."""

    def crop(self, crop: str) -> bytes:
        """Raises KeyError."""
        raise KeyError(crop)

    def element(self, element: str) -> "Element":
        """Raises KeyError."""
        raise KeyError(element)

    def images(self, paper: str) -> PaperImages:  # noqa: ARG002 # the protocol's form
        """Nothing was seen."""
        return PaperImages()

    def entries(self) -> "Sequence[PaperEntry]":
        """There are none."""
        return ()


def file_names(holder: ContentSource) -> Mapping[str, str]:
    """What people call papers, by id: their files."""
    return {entry.id: entry.file for entry in holder.entries()}


def fragment(*parts: str) -> str:
    """Parts of HTML as one block with its style: no script, no address, nothing that reaches out of it."""
    return f'<div class="paperscope"><style>{_STYLE}</style>{"".join(parts)}</div>'


def aside(text: str) -> str:
    """A line that stands back."""
    return f'<p class="aside">{escape(text)}</p>' if text else ""


def warning(text: str) -> str:
    """A line that stands out."""
    return f'<p class="warning">{escape(text)}</p>'


def bullet_list(items: Iterable[str]) -> str:
    """A list of HTML items; "" where there are none."""
    rows = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{rows}</ul>" if rows else ""


def details(title: str, inner: str) -> str:
    """What is folded away under a title; "" where there is nothing."""
    return f"<details><summary>{escape(title)}</summary>{inner}</details>" if inner else ""


def grid(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of texts; "" where it has no rows."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{table}</div>' if body else ""


def image_tags(crops: Iterable[str], title: str, holder: ContentSource) -> str:
    """The crops that the holder has; the others are passed over."""
    return "".join(_image(crop, title, holder) for crop in crops)


def _image(crop: str, title: str, holder: ContentSource) -> str:
    try:
        data = base64.b64encode(holder.crop(crop)).decode()
    except KeyError:
        return ""
    return f'<img alt="{escape(title)}" src="data:image/png;base64,{data}">'


def shortened(text: str, *, limit: int = 240) -> str:
    """A text of at most `limit` characters; "…" stands for what is left out."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
