"""Levels of headings: counted from 1, and by their numbers where the file sets all of them alike."""

import re
from collections.abc import Sequence
from dataclasses import replace

from paperscope.types import Element, Passage

__all__ = ["section_number", "with_levels"]

_NUMBER = re.compile(r"(?:(?:Appendix|Section)\s+)?(\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z](?:\.\d{1,2}){1,3})[.:)]?\s+\S")
_DEEPEST = 9


def section_number(text: str) -> str:
    """`4.2` of `4.2 Results`, "" for a heading without a number of digits."""
    match = _NUMBER.match(text)
    return match[1] if match else ""


def with_levels(elements: Sequence[Element]) -> list[Element]:
    """The elements with the highest level of heading at 1; so is that of the abstract, however small it is set.

    If all headings have one level, as some converters write them, those with a number of several parts go deeper.
    """
    headings = [
        element
        for element in elements
        if isinstance(element, Passage) and element.role == "heading" and not _is_abstract(element)
    ]
    top = min((heading.level for heading in headings), default=1)
    flat = all(heading.level == top for heading in headings)
    result: list[Element] = []
    for element in elements:
        if isinstance(element, Passage) and element.role == "heading":
            depth = section_number(element.text).count(".") if flat else element.level - top
            result.append(replace(element, level=1 if _is_abstract(element) else min(depth + 1, _DEEPEST)))
        else:
            result.append(element)
    return result


def _is_abstract(passage: Passage) -> bool:
    return passage.text.lower().strip(" .:—") == "abstract"
