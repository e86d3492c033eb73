"""The extractor that needs no language model: acronyms, tables, floats, phrases, names that a trained recognizer found,
and their co-occurrence."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from ingest.extraction.cited_works import citations
from ingest.extraction.entity_types import TypeSystem
from ingest.extraction.float_entities import (
    float_entities,
    float_mentions,
    float_relations,
    inner_relations,
    nearby_relations,
)
from ingest.extraction.mentions import PaperText, SentenceEntities, TermFinder, excerpt, read_paper, sentence_relation
from ingest.extraction.merge import combine
from ingest.extraction.name_types import FITTED_TYPES, probability_of_type
from ingest.extraction.part_of_speech import tag_words
from ingest.extraction.phrases import count_phrases
from ingest.extraction.recognized import RecognizedNames
from ingest.extraction.recognizer.examples import Example
from ingest.extraction.sentence_relations import cooccurrences, neighbour_relations, pattern_relations
from ingest.extraction.table_facts import table_relations
from ingest.extraction.termhood import Termhood, load_termhood, worth_an_entity
from ingest.extraction.terms import Term, gather_terms
from ingest.sandbox.child_main import SendFrame
from ingest.sandbox.child_processes import ChildPool
from paperscope_core.cancellation import run_in_thread
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import ModelError
from paperscope_core.settings import LimitSettings
from paperscope_core.text.words import entity_key, word_key
from paperscope_core.types import STANDS_FOR, Chunk, Entity, Extraction, Paper, Relation, Table

__all__ = ["IsolatedExtractor", "LocalExtractor"]

# The time limit of a page counts once for this many letters (five pages). A short paper has it at least this often.
_LETTERS, _LEAST = 15_000, 4.0


Draw = Callable[[Paper, Sequence[Example]], Extraction]
"""Extracts from a paper and what a recognizer found in it."""


class LocalExtractor:
    """Extracts entities and relations by rules and what a recognizer found.

    Names and descriptions are the paper's own words.

    Args:
        types: The types of entities; an entity whose type is not one of these gets the last one.
    """

    def __init__(self, *, types: TypeSystem = TypeSystem()) -> None:
        self._types = types

    async def extract(
        self,
        paper: Paper,
        chunks: Sequence[Chunk],  # noqa: ARG002 - the protocol's
        found: Sequence[Example] = (),
    ) -> Extraction:
        """Return the paper's entities and relations, from its elements and the recognizer's names, not from its
        chunks."""
        return await asyncio.to_thread(self.draw, paper, found)

    @staticmethod
    def load() -> None:
        """Load the models of words, which the first paper would otherwise wait for."""
        tag_words(["words"])
        word_key("words")
        # The first paper reports that the weights are missing.
        with suppress(ModelError):
            load_termhood()

    def draw(self, paper: Paper, found: Sequence[Example] = ()) -> Extraction:
        """Return the paper's entities and relations, with the names that a recognizer found in its elements."""
        text = read_paper(paper)
        names = RecognizedNames.of(found)
        tables = [element for element in paper.elements if isinstance(element, Table)]
        counts = count_phrases(text.sentences)
        gathered, meanings = gather_terms(text, tables, counts, [*names.terms()])
        gathered = worth_an_entity(gathered, Termhood.of(text, counts, names))
        finder = TermFinder(
            {term.id: term.forms if term.searched else () for term in gathered},
            holding=[term.id for term in gathered if term.single],
        )
        terms = [replace(term, type=_type(term, names)) for term in gathered]
        named = SentenceEntities.find(text, finder, {term.id: term.score for term in terms})
        ids = {entity_key(form): term.id for term in terms for form in term.forms}
        mentions = float_mentions(paper, text)
        stated = list(pattern_relations(text.sentences, finder, {term.id: term.type for term in terms}))
        stated_pairs = {frozenset((one.source, one.target)) for one in stated}
        relations = [
            *stated,
            *(one for one in cooccurrences(named) if frozenset((one.source, one.target)) not in stated_pairs),
            *float_relations(mentions, named),
            *inner_relations(paper, finder),
            *(relation for table in tables for relation in table_relations(table, ids)),
            *(
                sentence_relation(ids[entity_key(m.short)], ids[entity_key(m.long)], STANDS_FOR, [m.sentence])
                for m in meanings
                if {entity_key(m.short), entity_key(m.long)} <= ids.keys()
            ),
        ]
        relations.extend(nearby_relations(paper, named, _ends(relations)))
        isolated = {term.id for term in terms if term.kept} - _ends(relations)
        relations.extend(neighbour_relations(named, isolated))
        floats = float_entities(paper, text, mentions)
        entities = _entities(text, terms, finder, named, linked=_ends(relations))
        typed = (replace(entity, type=self._types.fit(entity.type)) for entity in entities)
        drawn = Extraction(entities=(*floats, *typed), relations=tuple(relations))
        return combine(drawn, citations(paper, named), types=self._types)


def _type(term: Term, names: RecognizedNames) -> str:
    """Return the type that a recognizer found, else the one by the words of the name, else concept; only trusted
    ones."""
    is_trusted = term.type not in FITTED_TYPES or names.trusts(probability_of_type(term.name))
    return names.type_of(term.forms) or (term.type if is_trusted else "concept")


def _ends(relations: Sequence[Relation]) -> set[str]:
    return {end for relation in relations for end in (relation.source, relation.target)}


def _entities(
    text: PaperText, terms: Sequence[Term], finder: TermFinder, named: SentenceEntities, *, linked: set[str]
) -> Iterator[Entity]:
    """Yield terms as entities, without phrases that have no relation."""
    elements = finder.holders(text.texts)
    sentences: dict[str, list[str]] = defaultdict(list)
    for sentence, ids in zip(named.sentences, named.ids, strict=True):
        for entity in ids:
            sentences[entity].append(sentence.text)
    for term in terms:
        # A name may occur only within longer names; then its first occurrence counts.
        first = text.holding([term.name], text.texts)[:1]
        sources = text.holding(term.forms, (*elements.get(term.id, ()), *term.tables, *first))
        if sources and (term.kept or term.id in linked):
            forms = {entity_key(form): form for form in reversed(term.forms) if text.holding([form], sources)}
            yield Entity(
                id=term.id,
                name=term.name,
                type=term.type,
                description=_description(term, sentences[term.id], text.texts[(*term.tables, *sources)[0]]),
                sources=sources,
                aliases=tuple(form for key, form in forms.items() if key != entity_key(term.name)),
            )


def _description(term: Term, sentences: Sequence[str], words: str) -> str:
    """Return the sentence that defines the term, else the first that names it, else the line of its first element that
    does, after the element's first line (a table's title)."""
    if term.definition:
        return excerpt(term.definition)
    forms = "|".join(re.escape(form) for form in term.forms)
    defining = re.compile(rf"(?<!\w)(?:{forms})(?: \([^()]*\))? (?:is|are|refers? to|denotes?|measures?|consists? of) ")
    if sentences:
        return excerpt(next(filter(defining.search, sentences), sentences[0]))
    keys = [entity_key(form) for form in term.forms]
    lines = words.splitlines()
    holding = [line for line in lines if any(key in entity_key(line) for key in keys)]
    return "\n".join(dict.fromkeys(map(excerpt, [*lines[:1], *holding[:1]])))


def _extract(draw: Draw, given: tuple[Paper, Sequence[Example]], send: SendFrame) -> None:
    """Run in the child process. Frame A: the extraction."""
    send(b"A", to_json(draw(*given)).encode())


class IsolatedExtractor:
    """Wraps a picklable function: each paper is read in a child process with the limits of parsing.

    `prepare` loads in each child what the function needs; see `ChildPool`.
    """

    def __init__(self, draw: Draw, limits: LimitSettings, *, prepare: Callable[[], None]) -> None:
        self._children = ChildPool(partial(_extract, draw), memory_mb=limits.parse_memory_mb, prepare=prepare)
        self._seconds = limits.parse_seconds

    async def extract(self, paper: Paper, chunks: Sequence[Chunk], found: Sequence[Example] = ()) -> Extraction:
        """Return what the function extracts. Raise PaperFileError if the child fails, or takes too long."""
        seconds = self._seconds * max(_LEAST, sum(len(chunk.text) for chunk in chunks) / _LETTERS)
        failed = f"the entities of {paper.file!r} can't be extracted"
        run = partial(self._children.run, (paper, found), within=round(seconds, 1), failed=failed)
        return from_json(Extraction, await run_in_thread(run))
