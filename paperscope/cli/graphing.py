"""`paperscope graph`: what stands round an entity, as text, a drawing, GraphML or JSON."""

from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from paperscope.errors import InputError
from paperscope.files import write_atomically
from paperscope.library import Library
from paperscope.library.neighbourhood import Neighbourhood

__all__ = ["neighbourhood_view", "write_files"]

_PLACES = 3


def neighbourhood_view(found: Neighbourhood, library: Library) -> RenderableType:
    """The entity with its places, and a row for each relation."""
    center = found.center
    names = {entity.id: entity.name for entity in found.entities}
    parts: list[RenderableType] = [Text(f"{center.name}  ({center.type})", style="bold")]
    if center.aliases:
        parts.append(Text(f"also: {', '.join(center.aliases)}"))
    parts.append(Text(center.description))
    parts.append(Text(_places(center.sources, library), style="magenta"))
    grid = Grid(box=box.SIMPLE_HEAD)
    for name, ratio in (("from", 2), ("relation", 1), ("to", 2), ("what it says", 4), ("where", 2)):
        grid.add_column(name, overflow="fold", ratio=ratio)
    for relation in found.relations:
        ends = (Text(names[relation.source]), Text(relation.kind), Text(names[relation.target]))
        grid.add_row(*ends, Text(relation.description), Text(_places(relation.sources, library), style="magenta"))
    return Group(*parts, grid if found.relations else Text("No relations."))


def write_files(found: Neighbourhood, *, png: Path | None, graphml: Path | None) -> list[Path]:
    """The files that were asked for. Raises OutputError, and InputError for a drawing without matplotlib."""
    if graphml:
        write_atomically(graphml, found.to_graphml())
    if png:
        try:
            drawing = found.to_png()
        except ImportError as error:
            raise InputError('--png needs matplotlib: pip install "paperscope[plots]"') from error
        write_atomically(png, drawing)
    return [file for file in (graphml, png) if file]


def _places(sources: tuple[str, ...], library: Library) -> str:
    places = dict.fromkeys(f"{element.place.paper} {element.place.where}" for element in map(library.element, sources))
    shown = "; ".join(list(places)[:_PLACES])
    return f"{shown}; and {len(places) - _PLACES} more" if len(places) > _PLACES else shown
