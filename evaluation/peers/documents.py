"""A paper of our library as a document for peers: our chunks as its units, our graph in terms of them."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from evaluation.peers.job import PeerDocument, PeerEntity, PeerRelation, Unit
from paperscope_core.types import IndexedPaper

__all__ = ["peer_document"]


def peer_document(indexed: IndexedPaper, *, file: Path | None) -> PeerDocument:
    """The paper under its own id, its chunks under theirs; `file` is its PDF, None where there is none to read."""
    paper = indexed.paper
    pages = {element.id: element.place.page for element in paper.elements}
    units: dict[str, list[str]] = {}
    for chunk in indexed.chunks:
        for element in chunk.elements:
            units.setdefault(element, []).append(chunk.id)
    names = {entity.id: entity.name for entity in indexed.extraction.entities}
    return PeerDocument(
        id=paper.id,
        title=paper.title,
        file=str(file.resolve()) if file else "",
        units=tuple(
            Unit(
                id=chunk.id,
                text=chunk.text,
                pages=tuple(sorted({chunk.place.page, *(pages[element] for element in chunk.elements)})),
            )
            for chunk in indexed.chunks
        ),
        entities=tuple(
            PeerEntity(
                name=entity.name,
                type=entity.type,
                description=entity.description,
                units=_units(entity.sources, units),
            )
            for entity in indexed.extraction.entities
        ),
        relations=tuple(
            PeerRelation(
                source=names[relation.source],
                target=names[relation.target],
                description=relation.description,
                keywords=relation.kind,
                weight=relation.weight,
                units=_units(relation.sources, units),
            )
            for relation in indexed.extraction.relations
        ),
    )


def _units(elements: Iterable[str], units: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """The chunks that hold these elements, each once."""
    return tuple(dict.fromkeys(unit for element in elements for unit in units.get(element, ())))
