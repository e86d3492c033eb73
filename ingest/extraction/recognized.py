"""Types of entities by a trained recognizer, which reads names in their sentences."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import get_args

from ingest.document.element_text import element_text
from ingest.extraction.entity_types import TermType, TypeSystem
from ner.examples import Example
from ner.recognizer import Recognizer
from paperscope_core.text.words import singular_key
from paperscope_core.types import Chunk, Entity, Extraction, Paper, Passage

__all__ = ["RecognizedTypes"]

Weights = dict[str, dict[str, float]]
"""The sum of confidences by key of a name and label."""

_READ = frozenset({"abstract", "paragraph", "list", "footnote"})
_TERMS = frozenset(get_args(TermType))


class RecognizedTypes:
    """An extractor whose terms have the types that a recognizer gives their names.

    A term gets the type with the highest sum of confidences over all places of its names. A term that the recognizer
    finds nowhere keeps its type.

    Args:
        extract: Extracts entities and relations.
        load: Gives the recognizer when it is first needed. Its labels are types in any case; others are ignored.
        types: The types of entities.
    """

    def __init__(
        self,
        extract: Callable[[Paper, Sequence[Chunk]], Awaitable[Extraction]],
        load: Callable[[], Recognizer],
        *,
        types: TypeSystem = TypeSystem(),
    ) -> None:
        self._extract = extract
        self._load = load
        self._types = types

    async def extract(self, paper: Paper, chunks: Sequence[Chunk]) -> Extraction:
        """Extract a paper's contribution to the graph. See `EntityExtractor.extract`."""
        recognizer = await asyncio.to_thread(self._load)
        extraction, found = await asyncio.gather(self._extract(paper, chunks), recognizer.recognize(_texts(paper)))
        weights: Weights = defaultdict(lambda: defaultdict(float))
        for example in found:
            for span in example.spans:
                label = span.label.casefold()
                if label in _TERMS:
                    confidence = 1.0 if span.confidence is None else span.confidence
                    weights[singular_key(example.text[span.start : span.end])][label] += confidence
        return replace(extraction, entities=tuple(self._typed(entity, weights) for entity in extraction.entities))

    def _typed(self, entity: Entity, weights: Weights) -> Entity:
        votes: dict[str, float] = defaultdict(float)
        if entity.type in _TERMS:
            for key in {singular_key(name) for name in (entity.name, *entity.aliases)}:
                for label, weight in weights.get(key, {}).items():
                    votes[label] += weight
        if not votes:
            return entity
        # Of equal sums the first label of the alphabet, so that the order of names does not matter.
        label = min(votes, key=lambda label: (-votes[label], label))
        return replace(entity, type=self._types.fit(label))


def _texts(paper: Paper) -> list[Example]:
    """The running text of a paper, in the order of its elements."""
    return [
        Example(id=element.id, text=element_text(element), tokens=(), spans=(), document=paper.id)
        for element in paper.elements
        if isinstance(element, Passage) and element.role in _READ
    ]
