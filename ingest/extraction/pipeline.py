"""The steps of extraction: extractors are combined, image entities added, names resolved, and terms summarised."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from pathlib import Path

from numpy import float32
from numpy.typing import NDArray

from ingest.extraction.entity_types import FLOATS, TypeSystem
from ingest.extraction.float_entities import add_to_graph
from ingest.extraction.local_extractor import IsolatedExtractor, LocalExtractor
from ingest.extraction.merge import combine, connected_groups, merge_groups
from ingest.extraction.model_extractor import ModelExtractor
from ingest.extraction.recognized import texts_to_recognize
from ingest.extraction.recognizer.loading import load_recognizer
from ingest.extraction.sentence_relations import link_isolated_entities
from ingest.extraction.summaries import most_discussed, summarise
from ingest.extraction.synonyms import certain_pairs, doubtful_pairs, judge_names
from paperscope_core.protocols import EntityExtractor, LanguageModel
from paperscope_core.settings import ExtractSettings, LimitSettings
from paperscope_core.types import (
    WORK,
    Chunk,
    Entity,
    Extraction,
    Paper,
    PaperImages,
    UnjudgedNames,
    UnsummarisedEntity,
    Verdict,
)

__all__ = ["EmbedTexts", "ExtractText", "ResolvingExtractor", "extractor_for"]

EmbedTexts = Callable[[Sequence[str]], Awaitable[NDArray[float32]]]
"""Gives a unit-length row for each text."""

ExtractText = Callable[[Paper, Sequence[Chunk]], Awaitable[Extraction]]
"""Extracts entities and relations from a paper's text; as `EntityExtractor.extract`, but images are left out."""

# Three calls of 30 pairs; the likeliest pairs come first.
_MAX_PAIRS = 90
# In characters. Anything longer, such as encoded data, is not a name; a row of an index in PostgreSQL has at most 2,704
# bytes for the two ids of a relation.
_LONGEST_ID = 300


def extractor_for(
    model: LanguageModel | None,
    settings: ExtractSettings | None = None,
    *,
    embed: EmbedTexts | None = None,
    limits: LimitSettings | None = None,
) -> EntityExtractor:
    """Return the extractor of an installation.

    Args:
        model: Extracts entities in addition to the local extractor, judges names that may mean the same, and summarises
            terms. Without one, the local extractor works alone.
        settings: The recognizer that supplements the rules of the local extractor, and the types of entities.
        embed: Embeds names, so that names of similar meaning are judged, too.
        limits: Lets the rules work in a child process with these limits; None for this process.
    """
    settings = settings or ExtractSettings()
    types = TypeSystem.of(settings.types)
    local = (
        LocalExtractor(types=types) if limits is None else _isolated_extractor(tuple(types.meanings.items()), limits)
    )
    extract: ExtractText = local.extract
    if settings.recognizer != "none":
        load = cache(partial(load_recognizer, Path(settings.recognizer)))

        async def extract_with_names(paper: Paper, chunks: Sequence[Chunk]) -> Extraction:
            recognizer = await asyncio.to_thread(load)
            texts = await asyncio.to_thread(texts_to_recognize, paper)
            return await local.extract(paper, chunks, await recognizer.recognize(texts))

        extract = extract_with_names
    if model is None:
        return ResolvingExtractor(extract, None, types=types)
    asking = ModelExtractor(model, types=types, max_tokens=settings.tokens_per_call)

    async def extract_by_both(paper: Paper, chunks: Sequence[Chunk]) -> Extraction:
        parts = await asyncio.gather(extract(paper, chunks), asking.extract(paper, chunks))
        return link_isolated_entities(paper, combine(*parts, types=types), types=types)

    return ResolvingExtractor(extract_by_both, model, embed=embed, types=types)


@lru_cache(maxsize=1)
def _isolated_extractor(types: tuple[tuple[str, str], ...], limits: LimitSettings) -> IsolatedExtractor:
    """Return the extractor that shares child processes over all papers with the same settings."""
    local = LocalExtractor(types=TypeSystem(meanings=dict(types)))
    return IsolatedExtractor(local.draw, limits, prepare=local.load)


class ResolvingExtractor:
    """Adds image entities to an extraction, merges names that mean the same, and summarises terms.

    Rules merge names where they are certain. A model judges pairs of names that share letters or, with `embed`, have
    similar vectors. A pair without a verdict stays apart and is listed in the shortfall. Terms that the paper discusses
    most get a summary behind their description. Without a model, only the rules apply.
    """

    def __init__(
        self,
        extract_text: ExtractText,
        model: LanguageModel | None,
        *,
        embed: EmbedTexts | None = None,
        types: TypeSystem = TypeSystem(),
    ) -> None:
        self._extract_text = extract_text
        self._model = model
        self._embed = embed
        self._types = types

    async def extract(self, paper: Paper, chunks: Sequence[Chunk], images: PaperImages = PaperImages()) -> Extraction:
        """Return the paper's entities and relations. Raise what `extract_text` raises; where the judge fails, names
        stay apart."""
        extraction = await self._extract_text(paper, chunks)
        if images.descriptions:
            extraction = await asyncio.to_thread(add_to_graph, paper, extraction, images, types=self._types)
        extraction = _without_endless_names(extraction)
        groups = await asyncio.to_thread(lambda: connected_groups(certain_pairs(_terms(extraction))))
        extraction = await asyncio.to_thread(merge_groups, extraction, groups, types=self._types)
        if self._model is None:
            return extraction
        extraction = await self._merged_by_model(extraction, self._model)
        return await _summarised(paper, extraction, self._model)

    async def _merged_by_model(self, extraction: Extraction, model: LanguageModel) -> Extraction:
        terms = _terms(extraction)
        vectors = await self._embed([term.name for term in terms]) if self._embed is not None and terms else None
        pairs = await asyncio.to_thread(doubtful_pairs, terms, vectors, types=self._types, limit=_MAX_PAIRS)
        outcomes = await judge_names(model, pairs, near=_neighbour_names(extraction))
        judged = [
            ((one.id, other.id), outcome)
            for (one, other), outcome in zip(pairs, outcomes, strict=True)
            if isinstance(outcome, Verdict)
        ]
        same = [pair for pair, verdict in judged if verdict.same]
        apart = {frozenset(pair) for pair, verdict in judged if not verdict.same}
        merged = merge_groups(extraction, connected_groups(same, apart), types=self._types)
        unjudged = tuple(outcome for outcome in outcomes if isinstance(outcome, UnjudgedNames))
        return replace(
            merged,
            verdicts=tuple(verdict for _, verdict in judged),
            shortfall=replace(merged.shortfall, unjudged=unjudged),
        )


async def _summarised(paper: Paper, extraction: Extraction, model: LanguageModel) -> Extraction:
    discussed = await asyncio.to_thread(most_discussed, paper, _terms(extraction))
    outcomes = await summarise(model, discussed)
    lacking = tuple(
        UnsummarisedEntity(entity=one.entity.name, reason=outcome)
        for one, outcome in zip(discussed, outcomes, strict=True)
        if isinstance(outcome, str)
    )
    summarised = {outcome.id: outcome for outcome in outcomes if isinstance(outcome, Entity)}
    return replace(
        extraction,
        entities=tuple(summarised.get(entity.id, entity) for entity in extraction.entities),
        shortfall=replace(extraction.shortfall, unsummarised=lacking),
    )


def _neighbour_names(extraction: Extraction) -> Mapping[str, Sequence[str]]:
    """For each entity the names of its neighbours, by the heaviest relations first."""
    names = {entity.id: entity.name for entity in extraction.entities}
    near: dict[str, dict[str, None]] = defaultdict(dict)
    for one in sorted(extraction.relations, key=lambda one: (-one.weight, one.source, one.target)):
        near[one.source][names[one.target]] = None
        near[one.target][names[one.source]] = None
    return {key: tuple(found) for key, found in near.items()}


def _without_endless_names(extraction: Extraction) -> Extraction:
    """Return the extraction without entities whose ids are too long, and their relations."""
    kept = tuple(entity for entity in extraction.entities if len(entity.id) <= _LONGEST_ID)
    if len(kept) == len(extraction.entities):
        return extraction
    ids = {entity.id for entity in kept}
    relations = tuple(one for one in extraction.relations if {one.source, one.target} <= ids)
    return replace(extraction, entities=kept, relations=relations)


def _terms(extraction: Extraction) -> list[Entity]:
    """Return all entities but floats and works, which have ids of their own."""
    return [entity for entity in extraction.entities if entity.type not in (*FLOATS, WORK)]
