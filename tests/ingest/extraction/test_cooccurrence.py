"""Entities without a relation get one from what stands beside them."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ingest.extraction.sentence_relations import link_isolated_entities
from paperscope_core.types import Element, Entity, Extraction, Passage, Relation
from tests.ingest.extraction.paper_builders import PLACE, paper_of, passages, table_of


def entity(name: str, *sources: str, kind: str = "concept") -> Entity:
    return Entity(id=name.casefold(), name=name, type=kind, description=f"{name} is named.", sources=sources)


def linked(
    elements: Sequence[Element], *entities: Entity, relations: tuple[Relation, ...] = ()
) -> list[tuple[str, ...]]:
    """The relations that came, as (source, kind, target)."""
    given_ = Extraction(entities=entities, relations=relations)
    return [
        (one.source, one.kind, one.target)
        for one in link_isolated_entities(paper_of(*elements), given_).relations
        if one not in relations
    ]


def relation(source: str, target: str) -> Relation:
    return Relation(source=source, target=target, kind="uses", description="It does.", sources=("p/passage-1",))


def test_it_is_linked_to_the_best_connected_entity_of_its_sentence() -> None:
    texts = passages("Alpha beats beta and gamma. Beta uses delta.")
    names = [entity(name, "p/passage-1") for name in ("alpha", "beta", "delta", "gamma")]
    assert linked(list(texts), *names, relations=(relation("beta", "delta"),)) == [
        ("alpha", "co-occurs", "beta"),
        ("gamma", "co-occurs", "beta"),
    ]


def test_else_to_one_of_the_nearest_sentence_of_its_element() -> None:
    texts = passages("Alpha is fine. Nothing here. Beta uses delta.", "Epsilon comes first. Alpha again.")
    names = [entity("alpha", "p/passage-1"), entity("beta", "p/passage-1"), entity("delta", "p/passage-1")]
    assert linked(list(texts), *names, relations=(relation("beta", "delta"),)) == [("alpha", "co-occurs", "beta")]


def test_else_to_the_table_that_names_it_or_to_what_its_element_names() -> None:
    table = table_of("Model | F1", "omega | 90")
    code = Passage(id="p/passage-9", place=PLACE, order=9, text="sigma = tau(upsilon)", role="code")
    names = [
        entity("omega", "p/table-1"),
        Entity(id="p/table-1", name="Table 1", type="table", description="", sources=("p/table-1",)),
        entity("sigma", "p/passage-9"),
        entity("tau", "p/passage-9"),
    ]
    assert linked([table, code], *names) == [
        ("p/table-1", "shows", "omega"),
        ("sigma", "co-occurs", "tau"),
    ]


def test_what_stands_alone_stays_alone_and_nothing_is_lost() -> None:
    assert linked(list(passages("Alpha is fine.")), entity("alpha", "p/passage-1")) == []
    assert linked([]) == []


@given(st.permutations(["alpha", "beta", "gamma", "delta"]))
def test_the_order_of_the_entities_does_not_matter(names: list[str]) -> None:
    texts = list(passages("Alpha beats beta. Gamma is fine.", "Delta and alpha meet."))
    entities = [entity(name, "p/passage-1") for name in names]
    usual = [entity(name, "p/passage-1") for name in sorted(names)]
    assert linked(texts, *entities) == linked(texts, *usual)
