"""The extractor of text and images that resolves names and summarises terms."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from numpy import float32
from numpy.typing import NDArray

from ingest.captioning import add_to_graph
from ingest.extraction import TextExtractor
from ingest.extraction.entity_types import FLOATS, TypeSystem
from ingest.extraction.merge import connected_groups, merge_groups
from ingest.extraction.resolution import NameJudge, certain_pairs, doubtful_pairs
from ingest.extraction.summaries import Summariser, most_discussed
from paperscope_core.protocols import LanguageModel
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

__all__ = ["EmbedTexts", "ResolvingExtractor"]


EmbedTexts = Callable[[Sequence[str]], Awaitable[NDArray[float32]]]

# Three calls; the likeliest come first.
_MOST_PAIRS = 90


class ResolvingExtractor:
    """What `extractor` draws from a paper, and what was seen in its pictures, with one entity for names of one thing.

    What is certain is told by rule. Of the rest `model` judges pairs that are near by their letters, or by the unit
    vectors that `embed` gives for names, where there is one; a pair without a verdict stays apart, and is named by the
    shortfall. What is said most of gets the model's summary behind its description. Without a model there is neither.
    """

    def __init__(
        self,
        extractor: TextExtractor,
        model: LanguageModel | None,
        *,
        embed: EmbedTexts | None = None,
        types: TypeSystem | None = None,
    ) -> None:
        self._extractor = extractor
        self._judge = NameJudge(model) if model is not None else None
        self._summariser = Summariser(model) if model is not None else None
        self._embed = embed
        self._types = types or TypeSystem()

    async def extract(self, paper: Paper, chunks: Sequence[Chunk], images: PaperImages = PaperImages()) -> Extraction:
        """The paper's entities and relations. Raises as `extractor` does; a failing judge only leaves names apart."""
        drawn = await self._extractor.extract(paper, chunks)
        if images.descriptions:
            drawn = await asyncio.to_thread(add_to_graph, paper, drawn, images, types=self._types)
        sure = await asyncio.to_thread(self._joined_by_rule, drawn)
        if self._judge is None or self._summariser is None:
            return sure
        return await self._summarised(paper, await self._judged(sure, self._judge), self._summariser)

    def _joined_by_rule(self, drawn: Extraction) -> Extraction:
        return merge_groups(drawn, connected_groups(certain_pairs(_terms(drawn))), types=self._types)

    async def _judged(self, extraction: Extraction, judge: NameJudge) -> Extraction:
        terms = _terms(extraction)
        vectors = await self._embed([term.name for term in terms]) if self._embed is not None and terms else None
        pairs = await asyncio.to_thread(doubtful_pairs, terms, vectors, types=self._types, limit=_MOST_PAIRS)
        outcomes = await judge.judge(pairs, near=_neighbour_names(extraction))
        ids = [(one.id, other.id) for one, other in pairs]
        verdicts = [(pair, told) for pair, told in zip(ids, outcomes, strict=True) if isinstance(told, Verdict)]
        same = [pair for pair, verdict in verdicts if verdict.same]
        apart = {frozenset(pair) for pair, verdict in verdicts if not verdict.same}
        joined = merge_groups(extraction, connected_groups(same, apart), types=self._types)
        unjudged = tuple(told for told in outcomes if isinstance(told, UnjudgedNames))
        return replace(
            joined,
            verdicts=tuple(verdict for _, verdict in verdicts),
            shortfall=replace(joined.shortfall, unjudged=unjudged),
        )

    async def _summarised(self, paper: Paper, extraction: Extraction, summariser: Summariser) -> Extraction:
        spoken = await asyncio.to_thread(most_discussed, paper, _terms(extraction))
        told = await summariser.summarise(spoken)
        lacking = tuple(
            UnsummarisedEntity(entity=one.entity.name, reason=reason)
            for one in spoken
            if isinstance(reason := told[one.entity.id], str)
        )
        fresh = {key: entity for key, entity in told.items() if isinstance(entity, Entity)}
        return replace(
            extraction,
            entities=tuple(fresh.get(entity.id, entity) for entity in extraction.entities),
            shortfall=replace(extraction.shortfall, unsummarised=lacking),
        )


def _neighbour_names(extraction: Extraction) -> Mapping[str, Sequence[str]]:
    """For each entity the names of those it is related to, the heaviest relations first."""
    names = {entity.id: entity.name for entity in extraction.entities}
    near: dict[str, dict[str, None]] = defaultdict(dict)
    for one in sorted(extraction.relations, key=lambda one: (-one.weight, one.source, one.target)):
        near[one.source][names[one.target]] = None
        near[one.target][names[one.source]] = None
    return {key: tuple(found) for key, found in near.items()}


def _terms(extraction: Extraction) -> list[Entity]:
    """All but floats and works, which have ids of their own."""
    return [entity for entity in extraction.entities if entity.type not in (*FLOATS, WORK)]
