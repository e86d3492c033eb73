"""Scores a graph by itself, without gold: duplicates, loose ends, size, and what papers share."""

from collections.abc import Iterator, Mapping, Sequence

from evaluation.graph.matches import is_float
from evaluation.graph.names import acronym_pairs, duplicates
from evaluation.values import Miss, Score, Tally
from ingest.document.element_text import element_text
from paperscope_core.types import Entity, IndexedPaper, Reference

__all__ = ["score_graph", "score_library"]


def score_graph(indexed: IndexedPaper) -> Score:
    """graph.duplicates: terms that are the same as another (see `names`), of all terms; graph.isolated: entities
    without a relation, of all; graph.entities and graph.relations: how many there are. Fewer duplicates and isolated
    ones are better."""
    extraction = indexed.extraction
    ends = {end for relation in extraction.relations for end in (relation.source, relation.target)}
    isolated = [entity for entity in extraction.entities if entity.id not in ends]
    terms = {entity.id: entity for entity in extraction.entities if not is_float(entity)}
    groups = _groups(terms, [indexed])
    return Score(
        tallies={
            "graph.duplicates": Tally(right=sum(map(len, groups)), total=len(terms)),
            "graph.isolated": Tally(right=len(isolated), total=len(extraction.entities)),
            "graph.entities": Tally(right=len(extraction.entities), total=1),
            "graph.relations": Tally(right=len(extraction.relations), total=1),
        },
        misses=(
            *_misses("graph.duplicates", groups, terms),
            *(Miss(metric="graph.isolated", what=entity.type, gold="", got=entity.name) for entity in isolated),
        ),
    )


def score_library(merged: Mapping[str, Entity], papers_of: Mapping[str, int], papers: Sequence[IndexedPaper]) -> Score:
    """library.shared: terms that more than one paper names, of all; library.duplicates: terms that are the same as
    another; library.across: those whose double comes from another paper only, which adding one paper can't show.

    `merged` are the library's entities, `papers_of` counts the papers of each.
    """
    terms = {name: entity for name, entity in merged.items() if not is_float(entity)}
    groups = _groups(terms, papers)
    within = {id_ for indexed in papers for group in _own_groups(indexed, terms) for id_ in group}
    across = [group for group in groups if not within.issuperset(group)]
    return Score(
        tallies={
            "library.shared": Tally(right=sum(papers_of[name] > 1 for name in terms), total=len(terms)),
            "library.duplicates": Tally(right=sum(map(len, groups)), total=len(terms)),
            "library.across": Tally(right=sum(len(set(group) - within) for group in across), total=len(terms)),
            "library.entities": Tally(right=len(terms), total=1),
        },
        misses=tuple(_misses("library.duplicates", groups, terms)),
    )


def _own_groups(indexed: IndexedPaper, terms: Mapping[str, Entity]) -> list[tuple[str, ...]]:
    own = {entity.id: entity for entity in indexed.extraction.entities if entity.id in terms}
    return _groups(own, [indexed])


def _groups(terms: Mapping[str, Entity], papers: Sequence[IndexedPaper]) -> list[tuple[str, ...]]:
    names = {id_: (entity.name, *entity.aliases) for id_, entity in terms.items()}
    return duplicates(names, acronym_pairs(_texts(papers)))


def _texts(papers: Sequence[IndexedPaper]) -> Iterator[str]:
    for indexed in papers:
        yield from (element_text(element) for element in indexed.paper.elements if not isinstance(element, Reference))


def _misses(metric: str, groups: Sequence[Sequence[str]], terms: Mapping[str, Entity]) -> Iterator[Miss]:
    for group in groups:
        yield Miss(metric=metric, what="one thing", gold="", got=" | ".join(terms[name].name for name in group))
