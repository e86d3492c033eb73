"""Finds the entities that a language model wrote in the text that it was given."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from ingest.extraction.recognizer.examples import Span

__all__ = [
    "AlignedSpan",
    "Alignment",
    "Marked",
    "Named",
    "align_marked",
    "align_named",
    "folded_label",
    "letters",
    "occurrences",
]

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

    The texts are compared without white space, case and Unicode form. Where they still differ, an entity is kept if
    both its first and last character are among the equal parts of the difference, and those between them are equal.

    Args:
        text: The given text.
        marked: The model's text and entities.
        labels: The known labels. A written one may differ in case, and have other marks between its words.
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
    and Unicode form are looked for. Occurrences that only number the list, or count from 0, are understood so.
    """
    taken: Counter[str] = Counter()
    found: list[AlignedSpan] = []
    stand = [_places_of(text, entity.surface.strip()) for entity in named]
    numbers = _occurrence_numbers(named, [len(places) for places, _ in stand])
    for entity, (all_places, outcome), given in zip(named, stand, numbers, strict=True):
        surface = entity.surface.strip()
        places = all_places if given is not None else _whole_words(text, all_places)
        number = given if given is not None else taken[surface] + 1
        taken[surface] = max(taken[surface], number)
        if not surface:
            found.append((Span(start=0, end=0, label=entity.label), "empty"))
        elif 1 <= number <= len(places):
            start, end = places[number - 1]
            found.append((Span(start=start, end=end, label=entity.label), outcome))
        else:
            found.append((Span(start=0, end=0, label=entity.label), "rejected"))
    return _collect(found, text, labels)


def _places_of(text: str, surface: str) -> tuple[list[tuple[int, int]], Outcome]:
    if places := occurrences(text, surface):
        return places, "exact"
    return _folded_occurrences(text, surface), "diff"


def _occurrence_numbers(named: Sequence[Named], counts: Sequence[int]) -> list[int | None]:
    """Return the occurrence of each entity as the text counts them."""
    given = [entity.occurrence for entity in named]
    first = int(0 not in given)
    impossible = any(
        number is not None and number - first >= count for number, count in zip(given, counts, strict=True)
    )
    if impossible and len(given) > 1 and given == list(range(first, first + len(given))):
        return [None] * len(given)
    return [None if number is None else number + 1 - first for number in given]


def _collect(found: Iterable[AlignedSpan], text: str, labels: Iterable[str]) -> Alignment:
    known, outcomes = _Labels(labels), Counter[str]()
    spans: dict[tuple[int, int, str], Span] = {}
    for span, outcome in found:
        kept, counted = _checked(span, outcome, text, known)
        if kept is not None and (key := (kept.start, kept.end, kept.label)) in spans:
            counted = "repeated"
        elif kept is not None:
            spans[key] = kept
        outcomes[counted] += 1
    return Alignment(spans=tuple(spans[key] for key in sorted(spans)), outcomes=outcomes)


def folded_label(label: str) -> str:
    """Return a label without case, with a blank for each mark between its words."""
    return re.sub(r"[\s_-]+", " ", label).strip().casefold()


class _Labels:
    """The known labels, by how models may write them."""

    def __init__(self, labels: Iterable[str]) -> None:
        self._known = set(labels)
        folded = Counter(map(folded_label, self._known))
        self._folded = {key: label for label in self._known if folded[key := folded_label(label)] == 1}

    def find(self, written: str) -> str | None:
        return written if written in self._known else self._folded.get(folded_label(written))


def _checked(span: Span, outcome: Outcome, text: str, labels: _Labels) -> tuple[Span | None, str]:
    """Return a span without white space at its ends, or None, and its outcome."""
    if outcome not in ("exact", "diff"):
        return None, outcome
    inside = text[span.start : span.end]
    start, end = span.start + len(inside) - len(inside.lstrip()), span.end - len(inside) + len(inside.rstrip())
    if start >= end:
        return None, "empty"
    if (label := labels.find(span.label)) is None:
        return None, "unknown label"
    return Span(start=start, end=end, label=label, confidence=span.confidence), outcome


def letters(text: str) -> tuple[str, list[int]]:
    """Return a text without white space, case and Unicode form, and the place of the source of each character."""
    parts = [(at, folded) for at, character in enumerate(text) if (folded := _folded(character))]
    return "".join(part for _, part in parts), [at for at, part in parts for _ in part]


def _equal_places(written: str, text: str) -> dict[int, tuple[int, int]]:
    """Return the first and the last place in the text of each character of the written text that the difference finds
    in both."""
    (one, sources), (other, targets) = letters(written), letters(text)
    pairs: Iterable[tuple[int, int]] = enumerate(range(len(other)))
    if one != other:
        blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
        pairs = ((block.a + at, block.b + at) for block in blocks for at in range(block.size))
    found: dict[int, tuple[int, int]] = {}
    for here, there in pairs:
        first, last = found.get(sources[here], (targets[there], targets[there]))
        found[sources[here]] = (min(first, targets[there]), max(last, targets[there]))
    return found


def _moved(span: Span, written: str, text: str, places: Mapping[int, tuple[int, int]]) -> AlignedSpan:
    inside = [at for at in range(span.start, span.end) if not written[at].isspace()]
    if not inside:
        return span, "empty"
    if inside[0] not in places or inside[-1] not in places:
        return span, "rejected"
    moved = replace(span, start=places[inside[0]][0], end=places[inside[-1]][1] + 1)
    if moved.start >= moved.end or _folded(written[span.start : span.end]) != _folded(text[moved.start : moved.end]):
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
    whole, sources = letters(text)
    return [(sources[start], sources[end - 1] + 1) for start, end in occurrences(whole, key)]


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
    lower = unicodedata.normalize("NFKD", text).casefold()
    return "".join(unicodedata.normalize("NFKD", lower).split())
