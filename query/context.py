"""The context as text: four headed, fenced CSV sections that parse back to equal values."""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from paperscope_core.text.escaping import markdown_fence
from paperscope_core.types import Context, ContextEntity, ContextImage, ContextRelation, ContextSource, Place

__all__ = ["parse_context", "render_context"]

# The title and the rows of each section, by the field of `Context`. The columns are the fields of a row.
_SECTIONS: dict[str, tuple[str, type]] = {
    "entities": ("Entities", ContextEntity),
    "relations": ("Relationships", ContextRelation),
    "sources": ("Sources", ContextSource),
    "images": ("Images", ContextImage),
}
_LANGUAGE = "csv"
_BETWEEN_PLACES = "; "


def render_context(context: Context) -> str:
    """Renders the four sections as text that `parse_context` reads back. Several places are joined by "; "."""
    parts = []
    for field, (title, kind) in _SECTIONS.items():
        rows = ([_written(getattr(row, one.name)) for one in fields(kind)] for row in getattr(context, field))
        out = io.StringIO(newline="")
        csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(rows)  # noqa: TID251 # is read back
        lines = f"{','.join(_columns(kind))}\n{out.getvalue()}".removesuffix("\n")
        parts.append(f"-----{title}-----\n{markdown_fence(lines, language=_LANGUAGE)}\n")
    return "".join(parts)


def parse_context(text: str) -> Context:
    """Parses text that `render_context` wrote. White space around it is ignored.

    Raises:
        ValueError: The text is not a context; the message quotes the cause.
    """
    # By default the csv module refuses fields of more than 131,072 characters; a table may be longer.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    try:
        rows = csv.reader(io.StringIO(text.strip(), newline=""), strict=True)
        sections = {field: tuple(_section(rows, title, kind)) for field, (title, kind) in _SECTIONS.items()}
        extra = next(rows, None)
    except csv.Error as error:
        raise ValueError(f"not a context: its CSV is damaged ({error})") from error
    if extra is not None:
        raise ValueError(f"not a context: {extra!r} follows its last section")
    return Context(**sections)


def _section(rows: Iterator[list[str]], title: str, kind: type) -> Iterator[Any]:
    columns = _columns(kind)
    heading, opening, header = (",".join(next(rows, [])) for _ in range(3))
    fence = "`" * max(3, opening.count("`"))
    expected = (f"-----{title}-----", f"{fence}{_LANGUAGE}", ",".join(columns))
    for found, line in zip((heading, opening, header), expected, strict=True):
        if found != line:
            raise ValueError(f"not a context: expected {line!r}, found {found[:80]!r}")
    for row in rows:
        if row == [fence]:
            return
        if len(row) != len(columns):
            raise ValueError(f"not a context: {len(row)} columns in {title}, expected {len(columns)}: {row!r}")
        yield kind(**{one.name: _READERS[one.type](text) for one, text in zip(fields(kind), row, strict=True)})
    raise ValueError(f"not a context: the section {title!r} has no end")


def _columns(kind: type) -> list[str]:
    return ["place" if one.name == "places" else one.name for one in fields(kind)]


def _written(value: str | float | Place | tuple[Place, ...]) -> str | float:
    if isinstance(value, tuple):
        return _BETWEEN_PLACES.join(map(str, value))
    return str(value) if isinstance(value, Place) else value


def _places(text: str) -> tuple[Place, ...]:
    return tuple(Place.parse(place) for place in text.split(_BETWEEN_PLACES)) if text else ()


_READERS: dict[Any, Callable[[str], object]] = {
    str: str,
    int: int,
    float: float,
    Place: Place.parse,
    tuple[Place, ...]: _places,
}
