"""The papers that a question is about: by filters, or because it names them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from paperscope_core.protocols import Corpus
from paperscope_core.types import Chunk, Entity, Filters, Finding, Paper, PaperEntry, Relation
from query.question.paper_names import PaperNames

__all__ = ["PaperScope", "find_scope", "restrict"]

Sourced = TypeVar("Sourced", Entity, Relation)


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperScope:
    """The papers to search, with the years applied; `findings` say what was left out.

    If `empty`, nothing may be searched: empty papers in `filters` would mean all papers.
    """

    filters: Filters
    empty: bool = False
    findings: tuple[Finding, ...] = ()


def find_scope(question: str, filters: Filters, entries: Sequence[PaperEntry], names: PaperNames) -> PaperScope:
    """Return the papers that the filters name, else those that the question names, else all; of the filters' years."""
    papers = filters.papers or names.named_in(question, entries)
    if not filters.by_year:
        return PaperScope(filters=replace(filters, papers=papers))
    asked = [entry for entry in entries if not papers or entry.id in papers]
    fitting = tuple(entry.id for entry in asked if filters.allows_year(entry.year))
    undated = sum(entry.year is None for entry in asked)
    span = "–".join(dict.fromkeys(str(year or "…") for year in (filters.first_year, filters.last_year)))
    messages = [f"no paper of {span} is among those that were asked"] if not fitting else []
    if undated:
        left = "1 paper, whose year is" if undated == 1 else f"{undated} papers, whose years are"
        messages.append(f"{left} not known, left out: only papers of {span} were asked")
    findings = tuple(Finding(kind="year", subject=span, message=message) for message in messages)
    return PaperScope(filters=replace(filters, papers=fitting), empty=not fitting, findings=findings)


def restrict(corpus: Corpus, filters: Filters) -> Corpus:
    """Restrict a corpus to the sections and kinds of the filters; the caller restricts papers and years."""
    restricted = filters.sections or filters.kinds
    return cast("Corpus", _RestrictedCorpus(corpus=corpus, filters=filters)) if restricted else corpus


@dataclass(frozen=True, kw_only=True, slots=True)
class _RestrictedCorpus:
    """Implements `Corpus`. Elements requested by id are returned as they are; enumerations are restricted."""

    corpus: Corpus
    filters: Filters
    _papers: dict[str, Paper] = field(default_factory=dict)

    def __getattr__(self, name: str) -> object:
        """Return whatever is not restricted is the corpus's own."""
        return getattr(self.corpus, name)

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

    def chunks_of(self, elements: Sequence[str]) -> Sequence[Chunk]:
        return [chunk for chunk in self.corpus.chunks_of(elements) if self.filters.allows(chunk)]

    def entities(self, ids: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, Entity]:
        found = self.corpus.entities(ids, papers=papers)
        return {entity.id: entity for entity in self._standing(list(found.values()))}

    def relations_of(self, entities: Sequence[str], *, papers: Sequence[str] = (), limit: int) -> Sequence[Relation]:
        return self._standing(self.corpus.relations_of(entities, papers=papers, limit=limit))

    def _standing(self, ones: Sequence[Sourced]) -> list[Sourced]:
        """Return the items that have an allowed source, with only their allowed sources."""
        allowed = self._allowed([source for one in ones for source in one.sources])
        kept = ((one, tuple(source for source in one.sources if source in allowed)) for one in ones)
        return [replace(one, sources=sources) for one, sources in kept if sources]

    def _allowed(self, elements: Sequence[str]) -> set[str]:
        return {element for chunk in self.chunks_of(elements) for element in chunk.elements}.intersection(elements)
