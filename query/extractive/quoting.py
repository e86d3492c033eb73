"""Quotes the best sentence, rows, caption or formula of each retrieved place, with its boxes."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from functools import partial

import numpy as np

from paperscope_core.cancellation import run_in_thread
from paperscope_core.protocols import Corpus, Embedder
from paperscope_core.text.escaping import shortened
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
    captioned_places_of,
)
from paperscope_core.types.tables import table_rows
from query.content_words import Rarity, content_words
from query.element_views import ImageElement, elements_of, evidence_in
from query.outline import is_outline

__all__ = ["best_places", "quotable_sentences", "quoted"]

# The gold region is among the first three sources for 84 % of the development questions, and the fourth adds 3 %.
_PLACES = 3

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


def quotable_sentences(paper: Paper) -> list[str]:
    """Return the sentences of a paper that may be quoted, without repeats, to be embedded before any question needs
    them."""
    passages = (element for element in paper.elements if isinstance(element, Passage))
    found = dict.fromkeys(sentence for passage in passages for sentence in _sentences(passage))
    return list(found)[:_MAX_EMBEDDED_SENTENCES]


def quoted(element: Passage | Reference, sentence: str, *, lead: str = "") -> Claim:
    """Return a claim that quotes a sentence of an element, after `lead`, the statement that it supports."""
    evidence = evidence_in(element, sentence)
    text = f"“{shortened(sentence, limit=_MAX_QUOTATION_LENGTH)}” ({evidence.place.where})"
    return Claim(text=f"{lead}: {text}" if lead else text, evidence=(evidence,))


async def best_places(question: str, context: Context, corpus: Corpus, embedder: Embedder) -> tuple[Claim, ...]:
    """Quote the best sources of a context, at most three of them and no element twice.

    From running text, the sentence is quoted that covers most of the question's distinctive words and is nearest in
    meaning. Raises ModelError if the embedder fails.
    """
    rarity = await run_in_thread(lambda: Rarity.of(source.content for source in context.sources))
    asked = content_words(question)
    places: list[Claim] = []
    shown: set[str] = set()
    for source in context.sources:
        if len(places) == _PLACES:
            break
        if is_outline(source):
            continue
        found = await run_in_thread(partial(_candidates, source, corpus, shown=shown, rarity=rarity, asked=asked))
        claim = await _best_of(question, found, rarity=rarity, asked=asked, embedder=embedder)
        if claim is not None:
            places.append(claim)
            shown.add(claim.evidence[0].element)
    return tuple(places)


def _candidates(
    source: ContextSource, corpus: Corpus, *, shown: Set[str], rarity: Rarity, asked: frozenset[str]
) -> Claim | list[tuple[Passage, str]] | None:
    """Return what shows a source: a claim, or the sentences to choose from; None if its elements are shown already."""
    # The source's own element first.
    elements = sorted(elements_of(source, corpus), key=lambda element: element.id != source.element)
    elements = [element for element in elements if element.id not in shown]
    if not elements:
        return None
    if isinstance(elements[0], Table):
        return _rows(elements[0], rarity, asked)
    if isinstance(elements[0], Figure):
        return _displayed(elements[0], elements[0].caption)
    if isinstance(elements[0], Equation):
        return _equation(elements[0], source, elements[1:])
    candidates = [
        (element, sentence)
        for element in elements
        if isinstance(element, Passage)
        for sentence in _sentences(element)
        if sentence in source.content
    ]
    # A heading, a listing, an entry of the bibliography.
    return candidates or quoted(elements[0], elements[0].text)


async def _best_of(
    question: str,
    found: Claim | list[tuple[Passage, str]] | None,
    *,
    rarity: Rarity,
    asked: frozenset[str],
    embedder: Embedder,
) -> Claim | None:
    """Return the claim, or the best of the sentences to choose from."""
    if not isinstance(found, list):
        return found
    vectors = await embedder.embed([question, *(sentence for _, sentence in found)])
    likeness = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0)

    def best() -> Claim:
        # Words and meaning have equal weight: both scores are from 0 to 1.
        scores = [rarity.coverage(asked, sentence) + like for (_, sentence), like in zip(found, likeness, strict=True)]
        return quoted(*found[int(np.argmax(scores))])

    return await run_in_thread(best)


def _sentences(passage: Passage) -> list[str]:
    if passage.role not in _QUOTED_ROLES:
        return []
    return [sentence for sentence in split_sentences(passage.text) if len(sentence.split()) >= _MIN_WORDS]


def _equation(equation: Equation, source: ContextSource, elements: Sequence[Element]) -> Claim:
    """Return an equation after the sentence that introduces it."""
    leads = [one for one in elements if isinstance(one, Passage) and one.order < equation.order]
    said = [sentence for one in leads for sentence in split_sentences(one.text) if sentence in source.content][-1:]
    more = [evidence_in(leads[-1], sentence) for sentence in said]
    return _displayed(equation, equation.text, *more, said=" ".join((*said, equation.text)))


def _rows(table: Table, rarity: Rarity, asked: frozenset[str]) -> Claim:
    """Return a table's caption, and the rows that cover most of the question's words, with their boxes."""
    rows = [(rarity.coverage(asked, " ".join(cell.text for cell in row)), row) for row in _rows_of(table)]
    best = sorted((row for row in rows if row[0] > 0), key=lambda row: -row[0])[:_MAX_ROWS]
    cells = [cell for share, row in best if share >= _MIN_RELATIVE_COVERAGE * best[0][0] for cell in row][:_MAX_CELLS]
    cited = [Evidence(element=table.id, place=cell.place, quote=cell.text) for cell in cells]
    claim = _displayed(table, table.caption, *cited)
    lines = dict.fromkeys(cell.row for cell in cells)
    said = "; ".join(" | ".join(cell.text for cell in cells if cell.row == line) for line in lines)
    return replace(claim, text=f"{claim.text} {said}") if said else claim


def _rows_of(table: Table) -> Iterator[list[Cell]]:
    stubs: dict[int, list[Cell]] = {}
    for cell in table.cells:
        if cell.role == "row_header":
            stubs.setdefault(cell.row, []).append(cell)
    for row in table_rows(table):
        values = [cell for _, cell in row.values]
        yield [cell for cell in dict.fromkeys((*stubs.get(row.number, ()), *values)) if cell.text.strip()]


def _displayed(element: ImageElement, quote: str, *more: Evidence, said: str | None = None) -> Claim:
    """Return a claim that shows a table, a figure or an equation with its label, and its places with the caption."""
    text = quote if said is None else said
    where = f"({element.label or element.kind}, {element.place.where})"
    place, *others = captioned_places_of(element)
    evidence = Evidence(element=element.id, place=place, quote=quote, more_places=tuple(others))
    quotation = shortened(text, limit=_MAX_QUOTATION_LENGTH)
    return Claim(text=f"“{quotation}” {where}" if text else where, evidence=(evidence, *more))
