"""File names of an exported paper, derived from the labels of its elements."""

from ingest.document.assembly import element_names
from paperscope_core.types import Equation, Figure, Paper, Table

__all__ = ["crop_names", "file_stems"]


def file_stems(paper: Paper) -> dict[str, str]:
    """For each table, figure and equation, by its id, the path of its files without a suffix, relative to the folder.

    "Table 5" is `tables/table-5`; an element without a label is `tables/table-unlabelled-1` and so on; a taken name
    gets a number. No path leaves its folder, and no two paths differ only in case.
    """
    shown = [element for element in paper.elements if isinstance(element, Table | Figure | Equation)]
    return {one.id: f"{one.kind}s/{name}" for one, name in zip(shown, element_names(shown), strict=True)}


def crop_names(element: Table | Figure | Equation, *, stem: str) -> dict[str, str]:
    """Return the paths of an element's pictures by content hash; its further parts are numbered."""
    names = {} if element.crop is None else {element.crop: f"{stem}.png"}
    more = element.more_crops if isinstance(element, Table | Figure) else ()
    for number, crop in enumerate(more, start=2):
        names.setdefault(crop, f"{stem}-part-{number}.png")
    return names
