"""A retrieved context as four tables, with places that a person can read."""

from collections.abc import Mapping, Sequence
from html import escape

from paperscope.types.context import Context
from paperscope.types.display.parts import Holder, details, files_of, fragment, grid, pictures
from paperscope.types.place import Place

__all__ = ["context_html", "context_text", "places_text"]

_PLACES = 3


def context_html(context: Context, holder: Holder) -> str:
    """Sources stand open, entities, relationships and images are folded away; `query.render_context` gives the CSV."""
    files = files_of(holder)
    sources = ((row.id, row.content, _name(row.element), places_text([row.place], files)) for row in context.sources)
    entities = (
        (row.id, row.entity, row.type, row.description, row.rank, places_text(row.places, files))
        for row in context.entities
    )
    relations = (
        (row.id, row.source, row.target, row.description, f"{row.weight:g}", row.rank, places_text(row.places, files))
        for row in context.relations
    )
    images = ((row.id, row.label, row.caption, places_text([row.place], files)) for row in context.images)
    crops = "".join(pictures([row.crop], row.label, holder) for row in context.images)
    return fragment(
        f"<p>{escape(context_text(context))}</p>",
        _open("Sources", grid(("id", "content", "element", "where"), sources)),
        details("Entities", grid(("id", "entity", "type", "description", "rank", "where"), entities)),
        details("Relationships", grid(("id", "source", "target", "description", "weight", "rank", "where"), relations)),
        details("Images", grid(("id", "label", "caption", "where"), images) + crops),
    )


def context_text(context: Context) -> str:
    """How much of each kind there is, on one line."""
    return (
        f"{len(context.sources)} sources, {len(context.entities)} entities, {len(context.relations)} relationships, "
        f"{len(context.images)} images"
    )


def places_text(places: Sequence[Place], files: Mapping[str, str]) -> str:
    """Pages and papers (by file, where it is known), each once and the first few; boxes are left out."""
    where = list(dict.fromkeys(f"{place.where} of {files.get(place.paper, place.paper)}" for place in places))
    more = len(where) - _PLACES
    return "; ".join(where[:_PLACES]) + (f"; and {more} more" if more > 0 else "")


def _name(element: str) -> str:
    return element.rpartition("/")[2]


def _open(title: str, inner: str) -> str:
    return details(title, inner).replace("<details>", "<details open>", 1)
