"""Finds captions in running text, and attaches them to tables and figures."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from ingest.document.captions import normalized_label
from paperscope_core.types import Element, Figure, Passage, Table

__all__ = ["Label", "attach_captions", "label_of", "split_caption"]


FloatKind = Literal["table", "figure", "code"]
Side = Literal["above", "below"]

_KINDS: dict[str, FloatKind] = {"tab": "table", "fig": "figure", "sch": "figure", "alg": "code", "lis": "code"}
_LABEL = re.compile(
    r"(?:(?:Supplementary|Supplemental|Extended Data|Appendix)\s+)?"
    r"(?P<word>Table|Tab\.?|Figure|Fig\.?|Scheme|Algorithm|Listing)\s*"
    r"(?P<number>[A-Z]{0,2}\.?\d+(?:\.\d+)*|[IVX]+\b|[A-Z]\.\d+)(?P<mark>\s*[:|.—–-]?)\s*",
    re.IGNORECASE,
)
_UNLABELLED = re.compile(r"(?:Table)?:\s+")
_ROLES = ("paragraph", "list", "heading")
# A longer text is not a caption.
_MAX_LENGTH = 2000


class Label(NamedTuple):
    """The kind of a caption, its label, normalized ("Table 5"), and the text after it."""

    kind: FloatKind
    label: str
    rest: str


def split_caption(text: str) -> Label | None:
    """Splits a caption after its label; returns None without a label."""
    match = _LABEL.match(text)
    if not match or not match["word"][0].isupper():
        return None
    kind = _KINDS[match["word"][:3].lower()]
    return Label(kind, normalized_label(match["word"], match["number"]), text[match.end() :].strip(" :"))


def label_of(text: str) -> str:
    """Normalizes a label: `TABLE 2.` becomes `Table 2`; others stay as printed."""
    found = split_caption(text)
    return found.label if found and not found.rest else text.strip(" .:")


def attach_captions(elements: Sequence[Element]) -> list[Element]:
    """Attaches to each float without a caption the one directly above or below it.

    Between two captions, the side of the document's other captions of that kind is preferred.
    """
    texts = {index: found for index, element in enumerate(elements) if (found := _caption(element))}
    pairs = _pairs(elements, texts)
    used = set(pairs.values())
    result: list[Element] = []
    for index, element in enumerate(elements):
        if index in used:
            continue
        if index in pairs:
            caption = elements[pairs[index]]
            result.append(_captioned(element, caption, texts[pairs[index]]))
        else:
            result.append(element)
    return result


def _caption(element: Element) -> Label | None:
    """Returns the label of a passage that is a caption: the label is followed by punctuation or nothing."""
    if not isinstance(element, Passage) or element.role not in _ROLES or len(element.text) > _MAX_LENGTH:
        return None
    if match := _UNLABELLED.match(element.text):
        return Label("table", "", element.text[match.end() :].strip())
    match = _LABEL.match(element.text)
    if match and (match["mark"].strip() or match.end() == len(element.text)):
        return split_caption(element.text)
    return None


def _pairs(elements: Sequence[Element], texts: dict[int, Label]) -> dict[int, int]:
    """Returns the caption of each float, by index; each caption belongs to one float."""
    sides: dict[int, dict[Side, int]] = {}
    for index, element in enumerate(elements):
        if isinstance(element, Table | Figure | Passage) and _lacks_caption(element):
            found: dict[Side, int] = {}
            if index - 1 in texts and _fits(element, texts[index - 1]) and texts[index - 1].label:
                found["above"] = index - 1
            if index + 1 in texts and _fits(element, texts[index + 1]):
                found["below"] = index + 1
            if found:
                sides[index] = found
    candidates_of = Counter(caption for found in sides.values() for caption in found.values())
    votes: Counter[tuple[FloatKind, Side]] = Counter()
    for found in sides.values():
        for side, caption in found.items():
            votes[texts[caption].kind, side] += 2 if len(found) == 1 and candidates_of[caption] == 1 else 0
    votes.update({("table", "above"): 1, ("figure", "below"): 1, ("code", "above"): 1})
    pairs: dict[int, int] = {}
    ranked = [
        (candidates_of[caption] == 1 and len(found) == 1, votes[texts[caption].kind, side], -index, caption)
        for index, found in sides.items()
        for side, caption in found.items()
    ]
    used: set[int] = set()
    for _, _, index, caption in sorted(ranked, reverse=True):
        if -index not in pairs and caption not in used:
            pairs[-index] = caption
            used.add(caption)
    return pairs


def _lacks_caption(element: Table | Figure | Passage) -> bool:
    if isinstance(element, Passage):
        return element.role == "code" and not element.label
    return not element.label and (isinstance(element, Table) or not split_caption(element.caption))


def _fits(element: Table | Figure | Passage, label: Label) -> bool:
    match element:
        case Passage():
            return label.kind == "code"
        case Table():
            return label.kind == "table" and not (element.caption and not label.label)
        case _:
            return bool(label.label)


def _captioned(element: Element, caption: Element, label: Label) -> Element:
    """Returns the float with its caption; the image of a table becomes a table without cells."""
    match element:
        case Passage():
            return replace(element, label=label.label, caption=label.rest)
        case Figure(crop=crop, place=place) if label.kind == "table":
            return Table(
                id="",
                place=place,
                order=0,
                cells=(),
                label=label.label,
                caption=label.rest,
                caption_place=caption.place,
                crop=crop,
                confidence=0.0,
            )
        case Table() | Figure():
            return replace(element, label=label.label, caption=label.rest, caption_place=caption.place)
        case _:
            return element
