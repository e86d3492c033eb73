"""The ids of elements and sections within their paper, derived from their labels."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from paperscope_core.types import Element, Passage

__all__ = ["UniqueNames", "element_names", "safe_name", "section_names"]

_LONGEST = 40


class UniqueNames:
    """Makes names unique: one that is taken is followed by a number (`table-5-2`)."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: Counter[str] = Counter()

    def add(self, name: str) -> str:
        """Returns the name, numbered if it is taken."""
        free = name
        while free in self._taken:
            self._last[name] = max(self._last[name], 1) + 1
            free = f"{name}-{self._last[name]}"
        self._taken.add(free)
        return free


def element_names(elements: Sequence[Element]) -> list[str]:
    """Returns a name for each element: `table-7` for "Table 7", `table-7-2` for a second one.

    Passages without a label are `passage-1` and so on, other elements without one `table-unlabelled-1` and so on.
    """
    names = UniqueNames()
    unlabelled: Counter[str] = Counter()
    found: list[str] = []
    for element in elements:
        name = safe_name(element.label)
        if not name:
            unlabelled[element.kind] += 1
            stem = element.kind if isinstance(element, Passage) else f"{element.kind}-unlabelled"
            name = f"{stem}-{unlabelled[element.kind]}"
        elif element.kind == "reference" or not name[0].isalpha():
            name = f"{element.kind}-{name}"
        found.append(names.add(name))
    return found


def section_names(sections: Iterable[tuple[str, str]]) -> list[str]:
    """Returns a name for each section by its number and title: `section-4.2`, `section-abstract` without a number."""
    names = UniqueNames()
    return [names.add(f"section-{safe_name(number) or safe_name(title) or 'untitled'}") for number, title in sections]


def safe_name(text: str) -> str:
    """Returns a text as a name of lower-case letters, digits, dots and hyphens; "" if none of it remains."""
    folded = unicodedata.normalize("NFKC", text).lower()
    name = re.sub(r"[^\w.]+|_+", "-", folded)
    return re.sub(r"-{2,}", "-", re.sub(r"\.{2,}", ".", name)).strip("-.")[:_LONGEST].strip("-.")
