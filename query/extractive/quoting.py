"""Quotes the best sentence, rows, caption or formula of each retrieved place, with its boxes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from paperscope_core.protocols import Corpus, Embedder
from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import (
    Cell,
    Claim,
    Context,
    ContextSource,
    Element,
    Equation,
    Evidence,
    Figure,
    Paper,
    Passage,
    Reference,
    Table,
)
from paperscope_core.types.tables import table_rows
from query.words import Rarity, content_words

__all__ = ["PLACES", "best_places", "quotable_sentences", "quoted"]


PLACES = 3
"""How many places are shown. The gold region is among the first three sources for 84 % of the development questions,
and the fourth adds 3 %."""

_QUOTED_ROLES = ("abstract", "paragraph", "list", "footnote")
# Shorter sentences are headings and remnants of formulas.
_MIN_WORDS = 4
_MAX_ROWS = 3
# A row whose coverage of the question is below this share of the best row's is about something else.
_MIN_RELATIVE_COVERAGE = 0.5
_MAX_CELLS = 12
_MAX_QUOTATION_LENGTH = 600
# The further sentences of a very long document are embedded when a question first needs them.
_MAX_EMBEDDED_SENTENCES = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class _Candidate:
    """A sentence of a source."""

    passage: Passage
    sentence: str


def quotable_sentences(paper: Paper) -> list[str]:
    """The sentences of a paper that may be quoted, without repeats, to be embedded before any question needs them."""
    passages = (element for element in paper.elements if isinstance(element, Passage))
    found = dict.fromkeys(sentence for passage in passages for sentence in _sentences(passage))
    return list(found)[:_MAX_EMBEDDED_SENTENCES]


def quoted(passage: Passage, sentence: str, *, lead: str = "") -> Claim:
    """A claim that quotes a sentence of a passage, after `lead`, the statement that it supports."""
    text = f"“{_shortened(sentence)}” ({passage.place.where})"
    evidence = Evidence(element=passage.id, place=passage.place, quote=sentence)
    return Claim(text=f"{lead}: {text}" if lead else text, evidence=(evidence,))


async def best_places(question: str, context: Context, corpus: Corpus, embedder: Embedder) -> tuple[Claim, ...]:
    """Quote the best sources of a context, at most `PLACES` of them and no element twice.

    From running text, the sentence is quoted that covers most of the question's distinctive words and is nearest in
    meaning. Raises ModelError if the embedder fails.
    """
    rarity = Rarity.of(source.content for source in context.sources)
    asked = content_words(question)
    places: list[Claim] = []
    shown: set[str] = set()
    for source in context.sources:
        if len(places) == PLACES:
            break
        elements = [element for element in _elements_of(source, corpus) if element.id not in shown]
        claim = await _best_of(question, source, elements, rarity=rarity, asked=asked, embedder=embedder)
        if claim is not None:
            places.append(claim)
            shown.add(claim.evidence[0].element)
    return tuple(places)


def _elements_of(source: ContextSource, corpus: Corpus) -> list[Element]:
    """The elements of a source's chunk, the source's own element first."""
    chunks = corpus.chunks_of([source.element])
    ids = next((chunk.elements for chunk in chunks if chunk.shown == source.content), ())
    return list(corpus.elements(tuple(dict.fromkeys((source.element, *ids)))).values())


async def _best_of(
    question: str,
    source: ContextSource,
    elements: Sequence[Element],
    *,
    rarity: Rarity,
    asked: frozenset[str],
    embedder: Embedder,
) -> Claim | None:
    if elements and isinstance(elements[0], Table):
        return _rows(elements[0], rarity, asked)
    if elements and isinstance(elements[0], Figure):
        return _figure(elements[0])
    if elements and isinstance(elements[0], Equation):
        return _equation(elements[0], source, elements[1:])
    candidates = [
        _Candidate(passage=element, sentence=sentence)
        for element in elements
        if isinstance(element, Passage)
        for sentence in _sentences(element)
        if sentence in source.content
    ]
    if not candidates:
        return _whole_element(elements[0]) if elements else None
    vectors = await embedder.embed([question, *(one.sentence for one in candidates)])
    likeness = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0)
    # Words and meaning have equal weight: both scores are from 0 to 1.
    scores = [rarity.coverage(asked, one.sentence) + like for one, like in zip(candidates, likeness, strict=True)]
    best = candidates[int(np.argmax(scores))]
    return quoted(best.passage, best.sentence)


def _sentences(passage: Passage) -> list[str]:
    if passage.role not in _QUOTED_ROLES:
        return []
    return [sentence for sentence in split_sentences(passage.text) if len(sentence.split()) >= _MIN_WORDS]


def _whole_element(element: Element) -> Claim | None:
    """A whole element without sentences: a heading, a listing, an entry of the bibliography."""
    if isinstance(element, Passage):
        return quoted(element, element.text)
    if not isinstance(element, Reference):
        return None
    evidence = Evidence(element=element.id, place=element.place, quote=element.text)
    return Claim(text=f"“{_shortened(element.text)}” ({element.place.where})", evidence=(evidence,))


def _figure(figure: Figure) -> Claim:
    evidence = Evidence(element=figure.id, place=figure.place, quote=figure.caption)
    return Claim(text=_named(figure, figure.caption), evidence=(evidence,))


def _equation(equation: Equation, source: ContextSource, elements: Sequence[Element]) -> Claim:
    """An equation after the sentence that introduces it."""
    evidence = [Evidence(element=equation.id, place=equation.place, quote=equation.text)]
    leads = [one for one in elements if isinstance(one, Passage) and one.order < equation.order]
    said = [sentence for one in leads for sentence in split_sentences(one.text) if sentence in source.content]
    if said:
        evidence.append(Evidence(element=leads[-1].id, place=leads[-1].place, quote=said[-1]))
    return Claim(text=_named(equation, " ".join((*said[-1:], equation.text))), evidence=tuple(evidence))


def _rows(table: Table, rarity: Rarity, asked: frozenset[str]) -> Claim:
    """A table's caption, and the rows that cover most of the question's words, with their boxes."""
    rows = [(rarity.coverage(asked, " ".join(cell.text for cell in row)), row) for row in _rows_of(table)]
    best = sorted((row for row in rows if row[0] > 0), key=lambda row: -row[0])[:_MAX_ROWS]
    cells = [cell for share, row in best if share >= _MIN_RELATIVE_COVERAGE * best[0][0] for cell in row][:_MAX_CELLS]
    evidence = [Evidence(element=table.id, place=table.place, quote=table.caption)]
    evidence += [Evidence(element=table.id, place=cell.place, quote=cell.text) for cell in cells]
    lines = dict.fromkeys(cell.row for cell in cells)
    said = "; ".join(" | ".join(cell.text for cell in cells if cell.row == line) for line in lines)
    return Claim(text=_named(table, table.caption) + (f" {said}" if said else ""), evidence=tuple(evidence))


def _rows_of(table: Table) -> Iterator[list[Cell]]:
    stubs: dict[int, list[Cell]] = {}
    for cell in table.cells:
        if cell.role == "row_header":
            stubs.setdefault(cell.row, []).append(cell)
    for row in table_rows(table):
        values = [cell for _, cell in row.values]
        yield [cell for cell in dict.fromkeys((*stubs.get(row.number, ()), *values)) if cell.text.strip()]


def _named(element: Table | Figure | Equation, said: str) -> str:
    where = f"{element.label}, {element.place.where}" if element.label else f"{element.kind}, {element.place.where}"
    return f"“{_shortened(said)}” ({where})" if said else f"({where})"


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_QUOTATION_LENGTH else f"{text[: _MAX_QUOTATION_LENGTH - 1].rstrip()}…"
