"""Reads back what `query.render_context` writes, by Python's `csv` alone."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from paperscope_core.types import Context, ContextEntity, ContextImage, ContextRelation, ContextSource, Place

__all__ = ["parse_context"]

_SECTIONS: dict[str, tuple[str, type]] = {
    "entities": ("Entities", ContextEntity),
    "relations": ("Relationships", ContextRelation),
    "sources": ("Sources", ContextSource),
    "images": ("Images", ContextImage),
}
_LANGUAGE = "csv"
_BETWEEN_PLACES = "; "


def parse_context(text: str) -> Context:
    """Parse text that `render_context` wrote. White space around it is ignored.

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
        yield kind(**_values(kind, row))
    raise ValueError(f"not a context: the section {title!r} has no end")


def _columns(kind: type) -> list[str]:
    names = ["place" if one.name == "places" else one.name for one in fields(kind)]
    return [name for name in names if name != "more_places"] + (["page"] if kind is ContextSource else [])


def _values(kind: type, row: Sequence[str]) -> dict[str, object]:
    """Return the fields of a row from its columns."""
    values: dict[str, object] = {}
    types = {one.name: one.type for one in fields(kind)}
    for column, text in zip(_columns(kind), row, strict=True):
        if column == "page":
            continue
        if column != "place":
            values[column] = _READERS[types[column]](text)
        elif "places" in types:
            values["places"] = _places(text)
        else:
            first, _, rest = text.partition(_BETWEEN_PLACES)
            values["place"] = Place.parse(first)
            if rest:
                values["more_places"] = _places(rest)
    return values


def _places(text: str) -> tuple[Place, ...]:
    return tuple(Place.parse(place) for place in text.split(_BETWEEN_PLACES)) if text else ()


_READERS: dict[Any, Callable[[str], object]] = {str: str, int: int, float: float}
