"""The extractor that makes one entity of names that mean the same."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from numpy import float32
from numpy.typing import NDArray

from ingest.extraction.type_system import FLOATS, TypeSystem
from ingest.resolution.candidates import doubtful_pairs
from ingest.resolution.joining import groups_of, join
from ingest.resolution.judging import NameJudge
from ingest.resolution.rules import sure_pairs
from paperscope.protocols import EntityExtractor, LanguageModel
from paperscope.types import WORK, Chunk, Entity, Extraction, Paper, UnjudgedNames, Verdict

__all__ = ["EmbedTexts", "ResolvingExtractor"]

EmbedTexts = Callable[[Sequence[str]], Awaitable[NDArray[float32]]]

# Two calls; the likeliest come first.
_MOST_PAIRS = 60


class ResolvingExtractor:
    """What `extractor` draws from a paper, with one entity for names that mean the same.

    What is certain is told by rule. Of the rest `model` judges pairs that are near by their letters, or by the unit
    vectors that `embed` gives for names, where there is one; a pair without a verdict stays apart, and is named by the
    shortfall. Without a model nothing is judged.
    """

    def __init__(
        self,
        extractor: EntityExtractor,
        model: LanguageModel | None,
        *,
        embed: EmbedTexts | None = None,
        types: TypeSystem | None = None,
    ) -> None:
        self._extractor = extractor
        self._judge = NameJudge(model) if model is not None else None
        self._embed = embed
        self._types = types or TypeSystem()

    async def extract(self, paper: Paper, chunks: Sequence[Chunk]) -> Extraction:
        """The paper's entities and relations. Raises as `extractor` does; a failing judge only leaves names apart."""
        drawn = await self._extractor.extract(paper, chunks)
        sure = await asyncio.to_thread(self._joined_by_rule, drawn)
        return sure if self._judge is None else await self._judged(sure, self._judge)

    def _joined_by_rule(self, drawn: Extraction) -> Extraction:
        return join(drawn, groups_of(sure_pairs(_terms(drawn))), types=self._types)

    async def _judged(self, extraction: Extraction, judge: NameJudge) -> Extraction:
        terms = _terms(extraction)
        vectors = await self._embed([term.name for term in terms]) if self._embed is not None and terms else None
        pairs = await asyncio.to_thread(doubtful_pairs, terms, vectors, types=self._types, limit=_MOST_PAIRS)
        outcomes = await judge.judge(pairs)
        ids = [(one.id, other.id) for one, other in pairs]
        verdicts = [(pair, told) for pair, told in zip(ids, outcomes, strict=True) if isinstance(told, Verdict)]
        same = [pair for pair, verdict in verdicts if verdict.same]
        apart = {frozenset(pair) for pair, verdict in verdicts if not verdict.same}
        joined = join(extraction, groups_of(same, apart), types=self._types)
        unjudged = tuple(told for told in outcomes if isinstance(told, UnjudgedNames))
        return replace(
            joined,
            verdicts=tuple(verdict for _, verdict in verdicts),
            shortfall=replace(joined.shortfall, unjudged=unjudged),
        )


def _terms(extraction: Extraction) -> list[Entity]:
    """All but floats and works, which have ids of their own."""
    return [entity for entity in extraction.entities if entity.type not in (*FLOATS, WORK)]
