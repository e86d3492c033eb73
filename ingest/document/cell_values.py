"""What a table cell's text says: a value, and an annotation beside it (a deviation, a difference, a mark)."""

import re
from collections.abc import Sequence
from dataclasses import replace

from paperscope_core.types import Cell

__all__ = ["split_annotation", "with_annotations"]


_LONGEST = 80
_UNSIGNED = r"[$€£]?\d[\d.,]*(?:[eE][+−-]?\d+)?\s?[%‰]?"
_NUMBER = rf"[+\-−–~≈<>≤≥]?\s?{_UNSIGNED}"
_VALUE = rf"(?:{_NUMBER}[KMBk]?(?:\s?[/×]\s?{_NUMBER})*|[-–—−])"
_INSIDE = r"[^()\[\]A-Za-z]*"
_NOTE = (
    rf"\s*(?:[(\[]{_INSIDE}\d{_INSIDE}(?:[xX]|pp|pts?)?[)\]]"  # (+0.81), [0.1, 0.3], (34%), (1.5x)
    rf"|[±∓]\s?{_UNSIGNED}"
    rf"|[↑↓▲▼△▽⇑⇓]\s?(?:{_UNSIGNED})?"
    rf"|\+\s?{_UNSIGNED}"
    rf"|\s[-−–]{_UNSIGNED}"
    r"|[₀-₉₊₋₌₍₎.]*[₀-₉]"
    r"|\^?\(?(?:\*+|∗+|[†‡§¶♯♠♣]+)\)?"
    r"|\^[a-z]\b|\^\([a-z](?:,[a-z])*\))"
)
_ANNOTATED = re.compile(rf"(?P<value>{_VALUE})(?P<note>(?:{_NOTE})+)")
_MARKED = re.compile(r"(?P<value>.*[^\s†‡*∗])(?P<note>\s*[†‡]+)", re.DOTALL)


def split_annotation(text: str) -> tuple[str, str]:
    """A value cell's value and annotation: `92.11 (+0.81)` -> `92.11`, `(+0.81)`.

    The annotation is the end of the text, "" where there is none; the value is what stands before it without the space
    between them. A text that is no number is parted from nothing but footnote marks.
    """
    match = (_ANNOTATED.fullmatch(text) or _MARKED.fullmatch(text)) if len(text) <= _LONGEST else None
    return (match["value"].rstrip(), match["note"].lstrip()) if match else (text, "")


def with_annotations(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """The cells with the annotations of their values, those that have one left as they are."""
    return tuple(
        replace(cell, annotation=note)
        if cell.role == "value" and not cell.annotation and (note := split_annotation(cell.text)[1])
        else cell
        for cell in cells
    )
