"""File names of an exported paper, derived from the labels of its elements."""

import re
import unicodedata
from collections import Counter

from paperscope_core.types import Equation, Figure, Paper, Table

__all__ = ["crop_names", "file_stems", "safe_name", "unique_name"]

_LONGEST = 40


def file_stems(paper: Paper) -> dict[str, str]:
    """For each table, figure and equation, by its id, the path of its files without a suffix, relative to the folder.

    "Table 5" is `tables/table-5`; an element without a label is `tables/table-unlabelled-1` and so on; a taken name
    gets a number. No path leaves its folder, and no two paths differ only in case.
    """
    named: dict[str, str] = {}
    taken: set[str] = set()
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
        named[element.id] = unique_name(f"{element.kind}s/{name}", taken=taken)
    return named


def crop_names(element: Table | Figure | Equation, *, stem: str) -> dict[str, str]:
    """The paths of an element's pictures by content hash; the further parts of a continued table are numbered."""
    names = {} if element.crop is None else {element.crop: f"{stem}.png"}
    more = element.more_crops if isinstance(element, Table) else ()
    for number, crop in enumerate(more, start=2):
        names.setdefault(crop, f"{stem}-part-{number}.png")
    return names


def safe_name(text: str) -> str:
    """Returns a text as a file name of lower-case letters, digits, dots and hyphens; "" if none of it remains."""
    folded = unicodedata.normalize("NFKC", text).lower()
    name = re.sub(r"[^\w.]+|_+", "-", folded)
    return re.sub(r"-{2,}", "-", re.sub(r"\.{2,}", ".", name)).strip("-.")[:_LONGEST].strip("-.")


def unique_name(name: str, *, taken: set[str]) -> str:
    """Returns the name, followed by a number if it is taken; it is added to `taken`."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    taken.add(free)
    return free
