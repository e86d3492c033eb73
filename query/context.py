"""The context as text: four headed, fenced CSV sections that parse back to equal values."""

import csv
import io
from collections.abc import Iterable, Iterator

from paperscope_core.types import Context, ContextEntity, ContextImage, ContextRelation, ContextSource, Place

__all__ = ["parse_context", "render_context"]


_HEADERS = {
    "Entities": ("id", "entity", "type", "description", "rank", "place"),
    "Relationships": ("id", "source", "target", "description", "weight", "rank", "place"),
    "Sources": ("id", "content", "element", "place"),
    "Images": ("id", "element", "label", "caption", "crop", "place"),
}
_OPEN, _CLOSE = "```csv", "```"
_BETWEEN_PLACES = "; "

_Row = tuple[str | int | float, ...]


def render_context(context: Context) -> str:
    """Renders the four sections as text that `parse_context` reads back. Several places are joined by "; "."""
    rows: dict[str, list[_Row]] = {
        "Entities": [
            (row.id, row.entity, row.type, row.description, row.rank, _join(row.places)) for row in context.entities
        ],
        "Relationships": [
            (row.id, row.source, row.target, row.description, row.weight, row.rank, _join(row.places))
            for row in context.relations
        ],
        "Sources": [(row.id, row.content, row.element, str(row.place)) for row in context.sources],
        "Images": [(row.id, row.element, row.label, row.caption, row.crop, str(row.place)) for row in context.images],
    }
    out = io.StringIO(newline="")
    for section, header in _HEADERS.items():
        out.write(f"-----{section}-----\n{_OPEN}\n{','.join(header)}\n")
        csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(rows[section])
        out.write(f"{_CLOSE}\n")
    return out.getvalue()


def parse_context(text: str) -> Context:
    """Parses text that `render_context` wrote. White space around it is ignored.

    Raises:
        ValueError: The text is not a context; the message quotes the cause.
    """
    # By default the csv module refuses fields of more than 131,072 characters; a table may be longer.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    try:
        rows = csv.reader(io.StringIO(text.strip(), newline=""), strict=True)
        sections = {section: list(_section(rows, section)) for section in _HEADERS}
        extra = next(rows, None)
    except csv.Error as error:
        raise ValueError(f"not a context: its CSV is damaged ({error})") from error
    if extra is not None:
        raise ValueError(f"not a context: {extra!r} follows its last section")
    return Context(
        entities=tuple(map(_entity, sections["Entities"])),
        relations=tuple(map(_relation, sections["Relationships"])),
        sources=tuple(map(_source, sections["Sources"])),
        images=tuple(map(_image, sections["Images"])),
    )


def _section(rows: Iterator[list[str]], section: str) -> Iterator[list[str]]:
    header = list(_HEADERS[section])
    for expected in ([f"-----{section}-----"], [_OPEN], header):
        row = next(rows, [])
        if row != expected:
            raise ValueError(f"not a context: expected {','.join(expected)!r}, found {','.join(row)[:80]!r}")
    for row in rows:
        if row == [_CLOSE]:
            return
        if len(row) != len(header):
            raise ValueError(f"not a context: {len(row)} columns in {section}, expected {len(header)}: {row!r}")
        yield row
    raise ValueError(f"not a context: the section {section!r} has no end")


def _entity(row: list[str]) -> ContextEntity:
    number, entity, kind, description, rank, places = row
    return ContextEntity(
        id=int(number), entity=entity, type=kind, description=description, rank=int(rank), places=_split(places)
    )


def _relation(row: list[str]) -> ContextRelation:
    number, source, target, description, weight, rank, places = row
    return ContextRelation(
        id=int(number),
        source=source,
        target=target,
        description=description,
        weight=float(weight),
        rank=int(rank),
        places=_split(places),
    )


def _source(row: list[str]) -> ContextSource:
    number, content, element, place = row
    return ContextSource(id=int(number), content=content, element=element, place=Place.parse(place))


def _image(row: list[str]) -> ContextImage:
    number, element, label, caption, crop, place = row
    return ContextImage(
        id=int(number), element=element, label=label, caption=caption, crop=crop, place=Place.parse(place)
    )


def _join(places: Iterable[Place]) -> str:
    return _BETWEEN_PLACES.join(map(str, places))


def _split(text: str) -> tuple[Place, ...]:
    return tuple(Place.parse(place) for place in text.split(_BETWEEN_PLACES)) if text else ()
