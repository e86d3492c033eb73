"""Quotes the best sentence, rows, caption or formula of each retrieved place, with its boxes."""

from collections.abc import Sequence, Set
from dataclasses import replace
from functools import partial

import numpy as np

from paperscope_core.cancellation import run_in_thread
from paperscope_core.protocols import Corpus, Embedder
from paperscope_core.text.escaping import shortened
from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import (
    Claim,
    Context,
    ContextSource,
    Element,
    Equation,
    Evidence,
    Figure,
    Passage,
    Reference,
    Table,
    captioned_places_of,
)
from paperscope_core.types.tables import TableRow, column_headers, table_rows
from query.content_words import Rarity, content_words
from query.element_views import ImageElement, elements_of, evidence_in
from query.outline import is_outline

__all__ = ["best_places", "quoted"]

# On the development questions, the gold region is among the first three sources for 84 %, and the fourth adds 3 %.
_PLACES = 5

_QUOTED_ROLES = ("abstract", "paragraph", "list", "footnote")
# Shorter sentences are headings and remnants of formulas.
_MIN_WORDS = 4
_MAX_ROWS = 3
# A row whose coverage of the question is below this share of the best row's is about something else.
_MIN_RELATIVE_COVERAGE = 0.5
# The columns of a row that are shown.
_MAX_COLUMNS = 8
_MAX_QUOTATION_LENGTH = 600


def quoted(element: Passage | Reference, sentence: str, *, lead: str = "") -> Claim:
    """Return a claim that quotes a sentence of an element, after `lead`, the statement that it supports."""
    evidence = evidence_in(element, sentence)
    text = f"“{shortened(sentence, limit=_MAX_QUOTATION_LENGTH)}” ({evidence.place.where})"
    return Claim(text=f"{lead}: {text}" if lead else text, evidence=(evidence,))


async def best_places(
    question: str,
    context: Context,
    corpus: Corpus,
    embedder: Embedder,
    *,
    first: Sequence[str] = (),
    most: int = _PLACES,
) -> tuple[Claim, ...]:
    """Quote the best sources of a context, at most so many of them, and no element or quotation twice.

    From running text, the sentence is quoted that covers most of the question's distinctive words and is nearest in
    meaning. The passages with the ids `first` are quoted as a whole, before all others. Raises ModelError if the
    embedder fails.
    """
    rarity = await run_in_thread(lambda: Rarity.of(source.content for source in context.sources))
    asked = content_words(question)
    places = await run_in_thread(partial(_wholes, corpus, first[:most]))
    shown = {*first, *(claim.text for claim in places)}
    for source in context.sources:
        if len(places) == most:
            break
        if is_outline(source):
            continue
        found = await run_in_thread(partial(_candidates, source, corpus, shown=shown, rarity=rarity, asked=asked))
        claim = await _best_of(question, found, rarity=rarity, asked=asked, embedder=embedder)
        if claim is not None and claim.text not in shown:
            places.append(claim)
            shown |= {claim.evidence[0].element, claim.text}
    return tuple(places)


def _wholes(corpus: Corpus, ids: Sequence[str]) -> list[Claim]:
    """Return claims that quote passages as a whole, each after the title of its section."""
    found = []
    for element in corpus.elements(ids).values():
        if isinstance(element, Passage):
            sections = corpus.paper(element.place.paper).sections
            title = next((one.title for one in sections if one.id == element.section), element.role.capitalize())
            found.append(quoted(element, element.text, lead=title))
    return found


def _candidates(
    source: ContextSource, corpus: Corpus, *, shown: Set[str], rarity: Rarity, asked: frozenset[str]
) -> Claim | list[tuple[Passage, str]] | None:
    """Return what shows a source: a claim, or the sentences to choose from; None if its elements are shown already."""
    # The source's own element first.
    everything = sorted(elements_of(source, corpus), key=lambda element: element.id != source.element)
    elements = [element for element in everything if element.id not in shown]
    if not elements:
        return None
    if isinstance(elements[0], ImageElement):
        # The sentence that introduces a table may belong to a passage of which another one was shown.
        others = everything[1:] if isinstance(elements[0], Table) else elements[1:]
        return _float(elements[0], source, others, rarity=rarity, asked=asked)
    candidates = [
        (element, sentence)
        for element in elements
        if isinstance(element, Passage)
        for sentence in _sentences(element)
        if sentence in source.content
    ]
    if candidates:
        return candidates
    first = elements[0]
    if isinstance(first, Passage) and first.role == "heading" and len(elements) < len(everything):
        return None
    # A listing, an entry of the bibliography, or a heading whose text is not shown already.
    return quoted(first, first.text)


def _float(
    element: ImageElement,
    source: ContextSource,
    others: Sequence[Element],
    *,
    rarity: Rarity,
    asked: frozenset[str],
) -> Claim:
    match element:
        case Table():
            leads = [] if element.caption else _leads(element, source, others)
            return _rows(element, rarity, asked, section=source.section, leads=leads)
        case Figure():
            return _displayed(element, element.caption, section=source.section)
        case Equation():
            return _equation(element, source, others)


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
    leads = _leads(equation, source, elements)
    said = " ".join((*(lead.quote for lead in leads), equation.text))
    return _displayed(equation, equation.text, *leads, said=said)


def _leads(element: ImageElement, source: ContextSource, elements: Sequence[Element]) -> list[Evidence]:
    """Return the sentence of a source that introduces its element, if it has one."""
    before = [one for one in elements if isinstance(one, Passage) and one.order < element.order]
    found = [(one, sentence) for one in before for sentence in split_sentences(one.text) if sentence in source.content]
    return [evidence_in(one, sentence) for one, sentence in found[-1:]]


def _rows(table: Table, rarity: Rarity, asked: frozenset[str], *, section: str, leads: Sequence[Evidence]) -> Claim:
    """Return a table's caption, or the sentence that introduces it, and below its headers the rows that cover most of
    the question's words, with the boxes of their cells; the first rows of a table without a caption if none does."""
    rows = [row for row in table_rows(table) if row.values]
    shares = {row.number: rarity.coverage(asked, _row_text(row)) for row in rows}
    most = max(shares.values(), default=0.0)
    best = [row for row in rows if most and shares[row.number] >= _MIN_RELATIVE_COVERAGE * most]
    best = sorted(best, key=lambda row: -shares[row.number]) if most or table.caption else rows
    chosen = sorted(best[:_MAX_ROWS], key=lambda row: row.number)
    headers = [" ".join(names) for names in column_headers(table)]
    columns = _columns(chosen, headers, rarity, asked)
    lines, cited = [], list[Evidence]()
    for row in chosen:
        cells = [*((cell.column, cell) for cell in row.stubs), *row.values]
        printed = {column: cell for column, cell in cells if column in columns}
        texts = (printed[column].text if column in printed else "" for column in columns)
        lines.append(" | ".join(" ".join(text.split()) for text in texts))
        cited += [Evidence(element=table.id, place=cell.place, quote=cell.text) for cell in printed.values()]
    said = " ".join(lead.quote for lead in leads) or None
    claim = _displayed(table, table.caption, *leads, *dict.fromkeys(cited), said=said, section=section)
    header = " | ".join(headers[column] for column in columns)
    grid = [header, *lines] if header.strip(" |") else lines
    return replace(claim, text="\n".join((claim.text, *grid))) if lines else claim


def _row_text(row: TableRow) -> str:
    return " ".join(cell.text for cell in (*row.stubs, *(cell for _, cell in row.values)))


def _columns(rows: Sequence[TableRow], headers: Sequence[str], rarity: Rarity, asked: frozenset[str]) -> list[int]:
    """Return the columns that are shown: those that name the rows, and those whose headers the question names best."""
    stubs = {cell.column for row in rows for cell in row.stubs}
    values = {column for row in rows for column, _ in row.values} - stubs
    ranked = sorted(values, key=lambda column: (-rarity.coverage(asked, headers[column]), column))
    return sorted({*stubs, *ranked[: max(_MAX_COLUMNS - len(stubs), 1)]})


def _displayed(element: ImageElement, quote: str, *more: Evidence, said: str | None = None, section: str = "") -> Claim:
    """Return a claim that shows a table, a figure or an equation with its label, and its places with the caption.

    `section` is where it is, which is told of one that has no label.
    """
    text = quote if said is None else said
    name = element.label or ", ".join(filter(None, (element.kind, section)))
    where = f"({name}, {element.place.where})"
    place, *others = captioned_places_of(element)
    evidence = Evidence(element=element.id, place=place, quote=quote, more_places=tuple(others))
    quotation = shortened(text, limit=_MAX_QUOTATION_LENGTH)
    return Claim(text=f"“{quotation}” {where}" if text else where, evidence=(evidence, *more))
