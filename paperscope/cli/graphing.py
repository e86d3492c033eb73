"""`paperscope graph`: what stands round an entity, as text, a drawing, GraphML or JSON."""

from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from paperscope.errors import InputError
from paperscope.files import write_atomically
from paperscope.library.neighbourhood import Neighbourhood

__all__ = ["neighbourhood_view", "write_files"]


def neighbourhood_view(found: Neighbourhood) -> RenderableType:
    """The entity with its places, and a row for each relation."""
    center = found.center
    names = {entity.id: entity.name for entity in found.entities}
    parts: list[RenderableType] = [Text(f"{center.name}  ({center.type})", style="bold")]
    if center.aliases:
        parts.append(Text(f"also: {', '.join(center.aliases)}"))
    parts.append(Text(center.description))
    parts.append(Text(found.where(center.sources), style="magenta"))
    grid = Grid(box=box.SIMPLE_HEAD)
    for name, ratio in (("from", 2), ("relation", 1), ("to", 2), ("what it says", 4), ("where", 2)):
        grid.add_column(name, overflow="fold", ratio=ratio)
    for relation in found.relations:
        ends = (Text(names[relation.source]), Text(relation.kind), Text(names[relation.target]))
        grid.add_row(*ends, Text(relation.description), Text(found.where(relation.sources), style="magenta"))
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
