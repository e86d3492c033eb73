"""Values in table cells and their annotations (a deviation, a difference, a mark)."""

import re
from collections.abc import Sequence
from dataclasses import replace

from paperscope_core.types import UNKNOWN_CHARACTER, Cell

__all__ = ["is_annotation", "is_value", "split_annotation", "with_annotations"]

# Possessive quantifiers change no match, and avoid exponential backtracking on a row of numbers.
_PRINTED_NUMBER = r"[+\-−–±~<>≤≥≈∼$€£#]*+\s*+\d[\d.,·:/×xeE^+\-−–]*+\s*+(?:%|[KMBkmb]\b|ms|s|°)?[†‡*§¶]*+"
_CELL_VALUE = re.compile(
    rf"(?:[(\[]?+{_PRINTED_NUMBER}[)\]]?+(?:\s*+[±/(\[,→-]?+\s*+{_PRINTED_NUMBER}[)\]]?+)*"
    r"|[-–—−✓✗✔✘×✕☓]|n/?a|N/A|[Yy]es|[Nn]o)"
)
_OWN_LINE_ANNOTATION = re.compile(
    rf"[(\[]\s*+{_PRINTED_NUMBER}\s*+[)\]]|[±↑↓]\s*+{_PRINTED_NUMBER}|{_PRINTED_NUMBER}\s*+[↑↓]"
)

_MAX_LENGTH = 80  # Letters of a value with an annotation; bounds the time of the search.
# No text matches these in two ways: a text that doesn't match would be tried in all combinations.
_UNSIGNED = r"[$€£]?\d[\d.,]*+(?:[eE][+−-]?\d++)?(?:\s?[%‰])?"
_SIGNED = rf"(?:[+\-−–~≈<>≤≥]\s?)?{_UNSIGNED}"
_VALUE = rf"(?:\s?{_SIGNED}(?:\s?[KMBk])?(?:\s?[/×]\s?{_SIGNED})*+|[-–—−])"
_NOTE = (
    r"\s*+(?:[(\[][^()\[\]A-Za-z\d]*+\d[^()\[\]A-Za-z]*+(?:[xX]|pp|pts?)?[)\]]"  # (+0.81), [0.1, 0.3], (34%), (1.5x)
    rf"|[±∓]\s?{_UNSIGNED}"
    rf"|[↑↓▲▼△▽⇑⇓](?:\s?{_UNSIGNED})?"
    rf"|\+\s?{_UNSIGNED}"
    rf"|(?<=\s)[-−–]{_UNSIGNED}"
    r"|[₊₋₌₍₎.]*+[₀-₉]"
    r"|\^?\(?[*∗†‡§¶♯♠♣]\)?"
    r"|\^[a-z]\b|\^\([a-z](?:,[a-z])*\))"
)
_ANNOTATED = re.compile(rf"(?P<value>{_VALUE})(?P<note>(?:{_NOTE})++)")
_MARKED = re.compile(r"(?P<value>.*[^\s†‡*∗])(?P<note>\s*[†‡]+)", re.DOTALL)


def is_value(text: str) -> bool:
    """Return whether a text is a number, several numbers, a dash or a tick, as in a table's body rather than its
    header. A character that is not known may be a sign or a digit."""
    return bool(_CELL_VALUE.fullmatch(text.strip().replace(UNKNOWN_CHARACTER, "0")))


def is_annotation(text: str) -> bool:
    """Return whether a text is a difference or deviation printed below a value: `(+0.81)`, `± 0.2`."""
    return bool(_OWN_LINE_ANNOTATION.fullmatch(text.strip()))


def split_annotation(text: str) -> tuple[str, str]:
    """Split the text of a value cell into value and annotation: `92.11 (+0.81)` -> `92.11`, `(+0.81)`.

    The annotation is the end of the text, "" if there is none. From a text that is not a number, only footnote marks
    are split.
    """
    match = (_ANNOTATED.fullmatch(text) or _MARKED.fullmatch(text)) if len(text) <= _MAX_LENGTH else None
    return (match["value"].rstrip(), match["note"].lstrip()) if match else (text, "")


def with_annotations(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Return the cells with the annotations of their values; existing annotations are kept."""
    return tuple(
        replace(cell, annotation=note)
        if cell.role == "value" and not cell.annotation and (note := split_annotation(cell.text)[1])
        else cell
        for cell in cells
    )
