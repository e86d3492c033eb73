"""Finds captions in running text, and attaches them to tables and figures."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from ingest.document.caption_wording import FLOAT_WORDS, float_kind, normalized_label
from ingest.document.drafts import Caption, draft_table
from paperscope_core.types import Element, Figure, Passage, Place, Table

__all__ = ["attach_captions", "label_of", "read_caption", "split_caption"]

Side = Literal["above", "below"]

_LABEL = re.compile(
    r"(?:(?:Supplementary|Supplemental|Extended Data|Appendix)\s+)?"
    rf"(?P<word>Table|Tab\.?|Figure|Fig\.?|Scheme|Algorithm|Listing|{FLOAT_WORDS})\s*"
    r"(?P<number>[A-Z]{0,2}\.?\d+(?:\.\d+)*|[IVX]+\b|[A-Z]\.\d+)(?P<mark>\s*[:|.—–：．-]?)\s*",
    re.IGNORECASE,
)
_UNLABELLED = re.compile(r"(?:Table)?:\s+")
_ROLES = ("paragraph", "list", "heading")
# A longer text is not a caption.
_MAX_LENGTH = 2000


def split_caption(text: str, *, place: Place | None = None) -> Caption | None:
    """Split a caption after its label; return None without a label."""
    match = _LABEL.match(text)
    if not match or match["word"][0].islower():
        return None
    return Caption(
        kind=float_kind(match["word"]),
        label=normalized_label(match["word"], match["number"]),
        text=text[match.end() :].strip(" :"),
        place=place,
    )


def read_caption(text: str, *, place: Place | None) -> Caption:
    """Return a caption, which may have no label."""
    return split_caption(text, place=place) or Caption(text=text, place=place)


def label_of(text: str) -> str:
    """Normalize a label: `TABLE 2.` becomes `Table 2`; others stay as printed."""
    found = split_caption(text)
    return found.label if found and not found.text else text.strip(" .:")


def attach_captions(elements: Sequence[Element]) -> list[Element]:
    """Attach to each float without a caption the one directly above or below it.

    Between two captions, the side of the document's other captions of that kind is preferred.
    """
    captions = {index: found for index, element in enumerate(elements) if (found := _caption(element))}
    pairs = _pairs(elements, captions)
    used = set(pairs.values())
    return [
        _captioned(element, captions[pairs[index]]) if index in pairs else element
        for index, element in enumerate(elements)
        if index not in used
    ]


def _caption(element: Element) -> Caption | None:
    """Return a passage as a caption, None if it is not one: the label is followed by punctuation or nothing."""
    if not isinstance(element, Passage) or element.role not in _ROLES or len(element.text) > _MAX_LENGTH:
        return None
    if match := _UNLABELLED.match(element.text):
        return Caption(kind="table", text=element.text[match.end() :].strip(), place=element.place)
    match = _LABEL.match(element.text)
    if match and (match["mark"].strip() or match.end() == len(element.text)):
        return split_caption(element.text, place=element.place)
    return None


def _pairs(elements: Sequence[Element], captions: dict[int, Caption]) -> dict[int, int]:
    """Return the caption of each float, by index; each caption belongs to one float."""
    adjacent: tuple[tuple[Side, int], ...] = (("above", -1), ("below", 1))
    candidates = [
        (index, side, index + step)
        for index, element in enumerate(elements)
        if isinstance(element, Table | Figure | Passage) and _lacks_caption(element)
        for side, step in adjacent
        if (caption := captions.get(index + step)) and _fits(element, caption) and (caption.label or side == "below")
    ]
    of_float = Counter(index for index, _, _ in candidates)
    of_caption = Counter(at for _, _, at in candidates)
    certain = {(index, side, at) for index, side, at in candidates if of_float[index] == of_caption[at] == 1}
    votes: Counter[tuple[str, Side]] = Counter({("table", "above"): 1, ("figure", "below"): 1, ("other", "above"): 1})
    for _, side, at in certain:
        votes[captions[at].kind, side] += 2

    def rank(candidate: tuple[int, Side, int]) -> tuple[bool, int, int, int]:
        index, side, at = candidate
        return candidate in certain, votes[captions[at].kind, side], -index, at

    pairs: dict[int, int] = {}
    used: set[int] = set()
    for index, _, at in sorted(candidates, key=rank, reverse=True):
        if index not in pairs and at not in used:
            pairs[index] = at
            used.add(at)
    return pairs


def _lacks_caption(element: Table | Figure | Passage) -> bool:
    if isinstance(element, Passage):
        return element.role == "code" and not element.label
    return not element.label and (isinstance(element, Table) or not split_caption(element.caption))


def _fits(element: Table | Figure | Passage, caption: Caption) -> bool:
    match element:
        case Passage():
            return caption.kind == "other"
        case Table():
            return caption.kind == "table" and not (element.caption and not caption.label)
        case _:
            return bool(caption.label)


def _captioned(element: Element, caption: Caption) -> Element:
    """Return the float with its caption; the image of a table becomes a table without cells."""
    match element:
        case Passage():
            return replace(element, label=caption.label, caption=caption.text)
        case Figure() if caption.kind == "table":
            return draft_table((), element.place, caption=caption, crop=element.crop)
        case Table() | Figure():
            return replace(element, label=caption.label, caption=caption.text, caption_place=caption.place)
        case _:
            return element
