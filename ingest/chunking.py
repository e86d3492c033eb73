"""Splits a paper into chunks along its structure: sections, paragraphs, floats, references."""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ingest.document.element_text import element_text
from paperscope_core.text.sentences import split_sentences
from paperscope_core.text.words import content_words
from paperscope_core.types import (
    Chunk,
    Element,
    Equation,
    Figure,
    Paper,
    Passage,
    Place,
    Reference,
    Table,
    captioned_places_of,
    main_element,
    places_of,
)

__all__ = ["MAX_WORDS", "chunk_paper"]

MAX_WORDS = 160
"""Words of running text in a chunk: with its heading, it fits the 256 word pieces that the bundled embedder reads."""

# A caption of fewer content words ("Results.") does not say what a table or figure is about.
_TELLING_WORDS = 3
# A section of fewer words may not say what it is about without the titles above it.
_SHORT = 25
_TEXTS = ("paragraph", "list")
_CONTINUATIONS = ("where", "here", "with", "in which", "such that", "and", "for all", "subject to", "when", "if")


@dataclass(frozen=True, slots=True)
class _Piece:
    """Text of one element that is not split further; `whole` unless it is a part of the element's text."""

    element: Element
    text: str
    whole: bool = True

    @property
    def words(self) -> int:
        return len(self.text.split())

    @property
    def places(self) -> tuple[Place, ...]:
        """Where it is printed, and its caption."""
        return captioned_places_of(self.element) if self.whole else places_of(self.element, self.text)


def chunk_paper(
    paper: Paper, *, max_words: int = MAX_WORDS, pictured: Collection[str] = frozenset()
) -> tuple[Chunk, ...]:
    """Split a paper into chunks in reading order, with ids `PAPER/chunk-1` and so on.

    A table, figure or equation is one chunk of any length. In a file without pages, whose order is certain, the
    sentence before a table without a telling caption belongs to its chunk. Passages of a section are packed up to
    `max_words`, longer ones are split at sentence ends; a section's heading is part of its first chunk. References are
    packed together. Furniture and headings of sections without text are omitted, as are floats without text unless
    their ids are in `pictured`; their chunks have no text.

    Raises:
        ValueError: `max_words` is not positive.
    """
    if max_words < 1:
        raise ValueError(f"max_words must be positive, not {max_words}")
    groups = [*_float_groups(paper.elements, pictured), *_packed_groups(paper.elements, max_words=max_words)]
    groups.sort(key=lambda group: _anchor(group).order)
    return tuple(_chunk(paper, number, group) for number, group in enumerate(groups, start=1))


def _chunk(paper: Paper, number: int, group: Sequence[_Piece]) -> Chunk:
    anchor = _anchor(group)
    place = next(piece for piece in group if piece.element is anchor).places[0]
    places = dict.fromkeys(place for piece in group for place in piece.places)
    section = paper.section_path(anchor)
    return Chunk(
        id=f"{paper.id}/chunk-{number}",
        paper=paper.id,
        text="\n".join(piece.text for piece in group if piece.text),
        elements=tuple(dict.fromkeys(piece.element.id for piece in group)),
        section=section,
        place=place,
        more_places=tuple(other for other in places if other != place),
        heading=_heading(group, section, paper.title),
    )


def _heading(group: Sequence[_Piece], section: str, title: str) -> str:
    """Return what a chunk is searched by if its own text does not say what it is about: the path of its section, or the
    title of a paper without sections, for a table or figure without a telling caption and for a listing; the path above
    its section for a short section. "" for any other chunk: a remnant of a section would be found by nothing else."""
    anchor, first = _anchor(group), group[0].element
    path = ""
    if isinstance(anchor, Table | Figure):
        has_text = any(piece.text for piece in group)
        path = section or title if has_text and not _has_telling_caption(anchor) else ""
    elif isinstance(anchor, Passage) and sum(piece.words for piece in group) < _SHORT:
        if anchor.role == "code":
            path = section
        elif isinstance(first, Passage) and first.role == "heading":
            path = section.rpartition(" > ")[0]
    return path if any(map(str.isalpha, path)) else ""


def _has_telling_caption(element: Table | Figure) -> bool:
    return len(content_words(element.caption.removeprefix(element.label))) >= _TELLING_WORDS


def _anchor(group: Sequence[_Piece]) -> Element:
    return main_element([piece.element for piece in group])


def _float_groups(elements: Sequence[Element], pictured: Collection[str]) -> Iterator[list[_Piece]]:
    before = {element.order: element for element in elements}
    texts = [element for element in elements if isinstance(element, Passage) and element.role in _TEXTS]
    for element in elements:
        if isinstance(element, Table | Figure):
            text = element_text(element).strip()
            if text or element.id in pictured:
                leads = isinstance(element, Table) and element.place.by_line and not _has_telling_caption(element)
                yield [*(_lead(element, before.get(element.order - 1)) if leads else ()), _Piece(element, text)]
        elif isinstance(element, Equation):
            group = _with_explanation(element, texts)
            if any(piece.text for piece in group) or element.id in pictured:
                yield group


def _lead(table: Element, before: Element | None) -> list[_Piece]:
    """Return the last sentence of the text directly before a table in its section ("On the test set:")."""
    if not isinstance(before, Passage) or before.role not in _TEXTS or before.section != table.section:
        return []
    return [_Piece(before, sentence, whole=False) for sentence in split_sentences(before.text)[-1:]]


def _with_explanation(equation: Equation, texts: Sequence[Passage]) -> list[_Piece]:
    """Return the equation and its LaTeX with the sentence before it and, if it continues the equation ("where p is
    ..."), the one after."""
    before = [text for text in texts if text.order < equation.order and text.section == equation.section][-1:]
    after = [text for text in texts if text.order > equation.order and text.section == equation.section][:1]
    lead = [_Piece(text, parts[-1], whole=False) for text in before if (parts := split_sentences(text.text))]
    follow = [_Piece(text, parts[0], whole=False) for text in after if (parts := split_sentences(text.text))]
    explaining = [
        piece for piece in follow if piece.text[0].islower() or piece.text.casefold().startswith(_CONTINUATIONS)
    ]
    text = "\n".join(filter(None, (element_text(equation), equation.latex_line)))
    return [*lead, _Piece(equation, text), *explaining]


def _packed_groups(elements: Iterable[Element], *, max_words: int) -> Iterator[list[_Piece]]:
    """Pack each run of a section; footnotes, code and the title are packed separately."""
    for run in _runs(elements):
        headings = [element for element in run if isinstance(element, Passage) and element.role == "heading"]
        by_kind: dict[str, list[_Piece]] = {}
        for element in run:
            if element not in headings:
                by_kind.setdefault(_kind(element), []).append(_Piece(element, element_text(element).strip()))
        for number, pieces in enumerate(by_kind.values()):
            opening = [_Piece(heading, heading.text.strip()) for heading in headings] if number == 0 else []
            yield from _pack(opening, pieces, max_words=max_words)


def _runs(elements: Iterable[Element]) -> Iterator[list[Element]]:
    """Yield consecutive passages and references of a section, ignoring floats and furniture."""
    texts = (
        element
        for element in elements
        if isinstance(element, Reference) or (isinstance(element, Passage) and element.role != "furniture")
    )
    printed = (element for element in texts if element_text(element).strip())
    for _, run in groupby(printed, key=lambda element: element.section):
        yield list(run)


def _kind(element: Element) -> str:
    if isinstance(element, Reference):
        return "reference"
    role = element.role if isinstance(element, Passage) else ""
    if role in ("title", "authors"):
        return "front"
    return role if role in ("footnote", "code") else "text"


def _pack(opening: list[_Piece], pieces: Iterable[_Piece], *, max_words: int) -> Iterator[list[_Piece]]:
    room = max(max_words - sum(piece.words for piece in opening), max_words // 2, 1)
    group = list(opening)
    used = 0
    for piece in pieces:
        for part in [piece] if used + piece.words <= room else _split(piece, max_words=room):
            if used and used + part.words > room:
                yield group
                group, used, room = [], 0, max_words
            group.append(part)
            used += part.words
    if used:
        yield group


def _split(piece: _Piece, *, max_words: int) -> list[_Piece]:
    """Split a piece that is too long at sentence ends, and a sentence that is too long between words.

    The parts have about equal lengths, so that there is no short remainder.
    """
    if piece.words <= max_words:
        return [piece]
    share = piece.words / math.ceil(piece.words / max_words)
    parts: list[list[str]] = [[]]
    for sentence in split_sentences(piece.text):
        words = sentence.split()
        for start in range(0, len(words), max_words):
            portion = words[start : start + max_words]
            if parts[-1] and (len(parts[-1]) + len(portion) > max_words or len(parts[-1]) >= share):
                parts.append([])
            parts[-1].extend(portion)
    return [_Piece(piece.element, " ".join(part), whole=False) for part in parts if part]
