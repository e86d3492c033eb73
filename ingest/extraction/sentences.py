"""Sentences as the evidence of relations: the entities that each names, and the relations that rest on them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from ingest.extraction.mentions import PaperText, Sentence, TermFinder
from paperscope_core.types import Relation

__all__ = ["SentenceEntities", "excerpt", "sentence_relation"]


def excerpt(text: str, *, limit: int = 600) -> str:
    """Returns the text, cut to whole words within `limit` characters."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class SentenceEntities:
    """The entities of each sentence of a paper, by id, and the score of each entity."""

    sentences: Sequence[Sentence]
    ids: Sequence[Sequence[str]]
    scores: Mapping[str, float]

    @classmethod
    def find(cls, text: PaperText, finder: TermFinder, scores: Mapping[str, float]) -> Self:
        """The entities that `finder` finds in the sentences of a paper."""
        ids = [finder.find(sentence.text) for sentence in text.sentences]
        return cls(sentences=text.sentences, ids=ids, scores=scores)

    def best(self, entities: Iterable[str], limit: int) -> list[str]:
        """The entities of the highest scores, at most `limit`."""
        return sorted(entities, key=lambda entity: (-self.scores[entity], entity))[:limit]


def sentence_relation(
    source: str, target: str, kind: str, sentences: Sequence[Sentence], *, weight: float | None = None
) -> Relation:
    """A relation with sentences as its evidence.

    Its description is the shortest of them, one of running text before one of a caption; its weight, if none is given,
    their number.
    """
    shortest = min(sentences, key=lambda sentence: (sentence.caption, len(sentence.text)))
    return Relation(
        source=source,
        target=target,
        kind=kind,
        description=excerpt(shortest.text),
        sources=tuple(dict.fromkeys(sentence.element for sentence in sentences)),
        weight=float(len(sentences)) if weight is None else weight,
    )
