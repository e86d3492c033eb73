"""Finds the entities that a language model wrote in the text that it was given."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from ingest.extraction.recognizer.examples import Span

__all__ = ["AlignedSpan", "Alignment", "Marked", "Named", "align_marked", "align_named", "occurrences"]

Outcome = Literal["exact", "diff", "rejected", "unknown label", "empty", "repeated"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Marked:
    """A text that a model repeated without its marks, and the entities [start, end) that it marked in it."""

    text: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """An entity that a model named: which occurrence of its surface in the text, from 1; None for the next one."""

    surface: str
    label: str
    occurrence: int | None = None


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """The entities that lie on a text, and the number of entities with each outcome.

    Outcomes are `exact` (the text is repeated, or the surface found), `diff` (found by the difference of the texts),
    `rejected` (not found), `unknown label`, `empty` (white space alone) and `repeated` (the same entity twice).
    """

    spans: tuple[Span, ...]
    outcomes: Counter[str]


_LONGEST, _LONGEST_EXTRA = 2, 200
"""A longer text is no repetition of the given one, and its difference would take quadratic time."""

AlignedSpan = tuple[Span, Outcome]


def align_marked(text: str, marked: Marked, labels: Iterable[str]) -> Alignment:
    """Move entities of a repeated text to the given one.

    Where the texts differ, an entity is kept if both its first and last character are among the equal parts of the
    difference, and the letters between them are the same but for white space, case and Unicode form.

    Args:
        text: The given text.
        marked: The model's text and entities.
        labels: The known labels.
    """
    if len(marked.text) > _LONGEST * len(text) + _LONGEST_EXTRA:
        return Alignment(spans=(), outcomes=Counter(rejected=len(marked.spans)))
    if marked.text == text:
        return _collect(((span, "exact") for span in marked.spans), text, labels)
    places = _equal_places(marked.text, text)
    return _collect((_moved(span, marked.text, text, places) for span in marked.spans), text, labels)


def align_named(text: str, named: Sequence[Named], labels: Iterable[str]) -> Alignment:
    """Find named entities in a text.

    An entity without an occurrence is the first that no earlier one of the same surface took, among those that are
    whole words if there are any. Of a surface that the text lacks, the forms that are equal but for white space, case
    and Unicode form are looked for.
    """
    taken: Counter[str] = Counter()
    found: list[AlignedSpan] = []
    for entity in named:
        surface = entity.surface.strip()
        places, outcome = occurrences(text, surface), "exact"
        if not places:
            places, outcome = _folded_occurrences(text, surface), "diff"
        if entity.occurrence is None:
            places = _whole_words(text, places)
        number = entity.occurrence if entity.occurrence is not None else taken[surface] + 1
        taken[surface] = max(taken[surface], number)
        if not surface:
            found.append((Span(start=0, end=0, label=entity.label), "empty"))
        elif 1 <= number <= len(places):
            start, end = places[number - 1]
            found.append((Span(start=start, end=end, label=entity.label), "exact" if outcome == "exact" else "diff"))
        else:
            found.append((Span(start=0, end=0, label=entity.label), "rejected"))
    return _collect(found, text, labels)


def _collect(found: Iterable[AlignedSpan], text: str, labels: Iterable[str]) -> Alignment:
    known, outcomes = set(labels), Counter[str]()
    spans: dict[tuple[int, int, str], Span] = {}
    for span, outcome in found:
        kept, counted = _checked(span, outcome, text, known)
        if kept is not None and (key := (kept.start, kept.end, kept.label)) in spans:
            counted = "repeated"
        elif kept is not None:
            spans[key] = kept
        outcomes[counted] += 1
    return Alignment(spans=tuple(spans[key] for key in sorted(spans)), outcomes=outcomes)


def _checked(span: Span, outcome: Outcome, text: str, known: set[str]) -> tuple[Span | None, str]:
    """Return a span without white space at its ends, or None, and its outcome."""
    if outcome not in ("exact", "diff"):
        return None, outcome
    inside = text[span.start : span.end]
    start, end = span.start + len(inside) - len(inside.lstrip()), span.end - len(inside) + len(inside.rstrip())
    if start >= end:
        return None, "empty"
    if span.label not in known:
        return None, "unknown label"
    return Span(start=start, end=end, label=span.label, confidence=span.confidence), outcome


def _equal_places(written: str, text: str) -> dict[int, int]:
    """Return the place in the text of each character of the written text that the difference finds in both."""
    blocks = SequenceMatcher(None, written, text, autojunk=False).get_matching_blocks()
    return {block.a + at: block.b + at for block in blocks for at in range(block.size)}


def _moved(span: Span, written: str, text: str, places: dict[int, int]) -> AlignedSpan:
    inside = [at for at in range(span.start, span.end) if not written[at].isspace()]
    if not inside:
        return span, "empty"
    first, last = places.get(inside[0]), places.get(inside[-1])
    if first is None or last is None or first > last:
        return span, "rejected"
    moved = Span(start=first, end=last + 1, label=span.label, confidence=span.confidence)
    if _folded(written[span.start : span.end]) != _folded(text[moved.start : moved.end]):
        return span, "rejected"
    return moved, "diff"


def occurrences(text: str, surface: str) -> list[tuple[int, int]]:
    """Return the places [start, end) where the characters of a surface stand in a text; they may overlap."""
    found = []
    at = text.find(surface) if surface else -1
    while at >= 0:
        found.append((at, at + len(surface)))
        at = text.find(surface, at + 1)
    return found


def _folded_occurrences(text: str, surface: str) -> list[tuple[int, int]]:
    key = _folded(surface)
    letters: list[str] = []
    sources: list[int] = []
    for at, character in enumerate(text):
        folded = _folded(character)
        letters.append(folded)
        sources.extend([at] * len(folded))
    whole = "".join(letters)
    found = []
    at = whole.find(key) if key else -1
    while at >= 0:
        found.append((sources[at], sources[at + len(key) - 1] + 1))
        at = whole.find(key, at + 1)
    return found


def _whole_words(text: str, places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places that don't cut a word in two; all, if each does (writing without spaces)."""
    whole = [
        (start, end)
        for start, end in places
        if not (start and text[start - 1].isalnum() and text[start].isalnum())
        and not (end < len(text) and text[end].isalnum() and text[end - 1].isalnum())
    ]
    return whole or places


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
