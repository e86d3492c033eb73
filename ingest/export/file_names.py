"""File names of an exported paper, derived from the labels of its elements."""

from collections import Counter

from ingest.document.assembly import UniqueNames, safe_name
from paperscope_core.types import Equation, Figure, Paper, Table

__all__ = ["crop_names", "file_stems"]


def file_stems(paper: Paper) -> dict[str, str]:
    """For each table, figure and equation, by its id, the path of its files without a suffix, relative to the folder.

    "Table 5" is `tables/table-5`; an element without a label is `tables/table-unlabelled-1` and so on; a taken name
    gets a number. No path leaves its folder, and no two paths differ only in case.
    """
    named: dict[str, str] = {}
    names = UniqueNames()
    unlabelled: Counter[str] = Counter()
    for element in paper.elements:
        if not isinstance(element, Table | Figure | Equation):
            continue
        name = safe_name(element.label)
        if not name:
            unlabelled[element.kind] += 1
            name = f"{element.kind}-unlabelled-{unlabelled[element.kind]}"
        elif not name[0].isalpha():
            name = f"{element.kind}-{name}"
        named[element.id] = names.add(f"{element.kind}s/{name}")
    return named


def crop_names(element: Table | Figure | Equation, *, stem: str) -> dict[str, str]:
    """Return the paths of an element's pictures by content hash; its further parts are numbered."""
    names = {} if element.crop is None else {element.crop: f"{stem}.png"}
    more = element.more_crops if isinstance(element, Table | Figure) else ()
    for number, crop in enumerate(more, start=2):
        names.setdefault(crop, f"{stem}-part-{number}.png")
    return names
