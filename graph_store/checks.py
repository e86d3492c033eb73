"""Whether what is to be added fits together; a mistake is caught before anything is written."""

from collections.abc import Iterable, Sequence

import numpy as np

from paperscope.types import IndexedPaper, Paper, crops_of

__all__ = ["check_indexed", "crops_named"]


def check_indexed(indexed: IndexedPaper) -> None:
    """Raise ValueError, quoting the offender, unless every id that one part names exists in another."""
    paper, extraction = indexed.paper, indexed.extraction
    elements = _distinct("element", [element.id for element in paper.elements])
    _distinct("chunk", [chunk.id for chunk in indexed.chunks])
    entities = {entity.id for entity in extraction.entities}
    for chunk in indexed.chunks:
        if chunk.paper != paper.id:
            raise ValueError(f"chunk {chunk.id!r} belongs to paper {chunk.paper!r}, not to {paper.id!r}")
        _require("element", chunk.elements, elements, of=f"chunk {chunk.id!r}")
    for entity in extraction.entities:
        _require("element", entity.sources, elements, of=f"entity {entity.id!r}")
    for relation in extraction.relations:
        of = f"relation {relation.source!r} -{relation.kind}-> {relation.target!r}"
        _require("entity", (relation.source, relation.target), entities, of=of)
        _require("element", relation.sources, elements, of=of)
        if not 0 <= relation.weight < float("inf"):
            raise ValueError(f"{of} has the weight {relation.weight}; weights are finite and not negative")
    readings = [reading.element for reading in indexed.images.readings]
    _require("element", _distinct("image reading", readings), elements, of="an image reading")
    _check_vectors(indexed)


def crops_named(paper: Paper) -> set[str]:
    """The crops that a paper's elements name."""
    return {crop for element in paper.elements for crop in crops_of(element)}


def _check_vectors(indexed: IndexedPaper) -> None:
    shape = indexed.vectors.shape
    if len(shape) != 2 or shape[0] != len(indexed.chunks):
        raise ValueError(f"vectors of shape {shape} for {len(indexed.chunks)} chunks; one row a chunk is needed")
    if not np.isfinite(indexed.vectors).all():
        raise ValueError(f"the vectors of paper {indexed.paper.id!r} hold infinite or undefined numbers")


def _distinct(kind: str, ids: Sequence[str]) -> set[str]:
    known: set[str] = set()
    for key in ids:
        if key in known:
            raise ValueError(f"{kind} {key!r} is there twice; ids are unique")
        known.add(key)
    return known


def _require(kind: str, ids: Iterable[str], known: set[str], *, of: str) -> None:
    for key in ids:
        if key not in known:
            raise ValueError(f"{of} names {kind} {key!r}, which its paper does not have")
