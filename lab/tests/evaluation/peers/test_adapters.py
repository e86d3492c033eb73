"""The graph that LightRAG gets, and the pages of PaperQA's chunks."""

import pytest
from paperscope_lab.evaluation.peers.lightrag import merged_entities, merged_relations
from paperscope_lab.evaluation.peers.paperqa import pages_of
from paperscope_lab.evaluation.peers.protocol import PeerDocument

from paperscope_core.types import Entity, Relation


def entity(name: str, kind: str, *units: str) -> Entity:
    return Entity(id=name, name=name, type=kind, description=f"A {kind}." if kind else "", sources=units)


def gathers(source: str, target: str, weight: float, *units: str) -> Relation:
    return Relation(
        source=source, target=target, kind="gathers", description="Bees gather.", sources=units, weight=weight
    )


def document(*items: Entity | Relation) -> PeerDocument:
    relations = tuple(item for item in items if isinstance(item, Relation))
    ends = (entity(name, "") for relation in relations for name in (relation.source, relation.target))
    entities = (*(item for item in items if isinstance(item, Entity)), *ends)
    return PeerDocument(id="d", title="", file="", units=(), entities=entities, relations=relations)


def named(name: str) -> str:
    return name.strip().lower()


def test_entities_of_several_documents_meet() -> None:
    first = document(entity("honey bee", "animal", "1", "2"), entity("nectar", "", "1"))
    second = document(entity("Honey Bee", "animal", "2", "3"), entity("Honey bee", "insect", "4"), entity(" ", ""))
    (name, bee), (_, nectar) = merged_entities((first, second), named=named).items()
    assert (name, bee.type, bee.description) == ("honey bee", "animal", "A animal.<SEP>A insect.")
    assert list(bee.units) == ["1", "2", "3", "4"]
    assert (nectar.type, nectar.description) == ("UNKNOWN", "nectar")


def test_relations_meet_in_either_direction_and_none_leads_back_to_its_start() -> None:
    first = document(gathers("honey bee", "nectar", 1.0, "1"), gathers("wax", "", 1.0))
    second = document(gathers("Nectar", "Honey bee", 2.5, "1", "2"), gathers("nectar", "Nectar", 1.0))
    ((pair, relation),) = merged_relations((first, second), named=named).items()
    assert (pair, relation.weight) == (("honey bee", "nectar"), 3.5)
    assert (relation.description, list(relation.kinds)) == ("Bees gather.", ["gathers"])
    assert list(relation.units) == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "pages"), [("Doc2020 pages 3-4", (3, 4)), ("a pages 1-2 pages 7-7", (7,)), ("unit-1", ()), ("pages", ())]
)
def test_the_pages_of_a_chunk_are_in_its_name(name: str, pages: tuple[int, ...]) -> None:
    assert pages_of(name) == pages
