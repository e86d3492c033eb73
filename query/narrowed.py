"""The library as a question with filters sees it: only what stands in the allowed sections, of the allowed kinds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from paperscope.protocols import Corpus
from paperscope.types import Chunk, Element, Entity, Filters, Paper, PaperEntry, PaperImages, Relation

__all__ = ["narrowed"]

Sourced = TypeVar("Sourced", Entity, Relation)


def narrowed(corpus: Corpus, filters: Filters) -> Corpus:
    """The corpus itself where sections and kinds are not restricted; papers and years are chosen by who asks."""
    return _Narrowed(corpus=corpus, filters=filters) if filters.sections or filters.kinds else corpus


@dataclass(frozen=True, kw_only=True, slots=True)
class _Narrowed:
    """Obeys `Corpus`. What an id names outright is found as ever; all that is enumerated is restricted."""

    corpus: Corpus
    filters: Filters
    _papers: dict[str, Paper] = field(default_factory=dict)

    def entries(self) -> Sequence[PaperEntry]:
        return self.corpus.entries()

    def paper(self, paper: str) -> Paper:
        if paper not in self._papers:
            whole = self.corpus.paper(paper)
            allowed = self._allowed([element.id for element in whole.elements])
            self._papers[paper] = replace(
                whole,
                elements=tuple(element for element in whole.elements if element.id in allowed),
                links=tuple(link for link in whole.links if {link.source, link.target} <= allowed),
            )
        return self._papers[paper]

    def element(self, element: str) -> Element:
        return self.corpus.element(element)

    def elements(self, ids: Sequence[str]) -> Mapping[str, Element]:
        return self.corpus.elements(ids)

    def chunks(self, ids: Sequence[str]) -> Mapping[str, Chunk]:
        return self.corpus.chunks(ids)

    def chunks_of(self, elements: Sequence[str]) -> Sequence[Chunk]:
        return [chunk for chunk in self.corpus.chunks_of(elements) if self.filters.allows(chunk)]

    def entities(self, ids: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, Entity]:
        found = self.corpus.entities(ids, papers=papers)
        return {entity.id: entity for entity in self._standing(list(found.values()))}

    def relations_of(self, entities: Sequence[str], *, papers: Sequence[str] = (), limit: int) -> Sequence[Relation]:
        return self._standing(self.corpus.relations_of(entities, papers=papers, limit=limit))

    def degrees(self, entities: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, int]:
        return self.corpus.degrees(entities, papers=papers)

    def images(self, paper: str) -> PaperImages:
        return self.corpus.images(paper)

    def crop(self, crop: str) -> bytes:
        return self.corpus.crop(crop)

    def _standing(self, ones: Sequence[Sourced]) -> list[Sourced]:
        """Those with a source that is allowed, and of their sources only these."""
        allowed = self._allowed([source for one in ones for source in one.sources])
        kept = ((one, tuple(source for source in one.sources if source in allowed)) for one in ones)
        return [replace(one, sources=sources) for one, sources in kept if sources]

    def _allowed(self, elements: Sequence[str]) -> set[str]:
        return {element for chunk in self.chunks_of(elements) for element in chunk.elements}.intersection(elements)
