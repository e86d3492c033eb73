"""Merging contributions is a pure function of their set."""

import math
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from graph_store.merged_graph import DESCRIPTION_LIMIT, merge_entities, merge_relations
from paperscope_core.types import Entity, Relation

words = st.sampled_from(("", "F1", "F1 Score", "f1 score", "the mean", "The  mean", "x" * 700))
sources = st.lists(st.sampled_from(("a/table-1", "a/passage-2", "b/table-1")), unique=True, max_size=3).map(tuple)
entities = st.builds(
    Entity,
    id=st.sampled_from(("f1", "bert")),
    name=words,
    type=st.sampled_from(("", "metric", "method")),
    description=words,
    sources=sources,
    aliases=st.lists(words, unique=True, max_size=2).map(tuple),
)
relations = st.builds(
    Relation,
    source=st.sampled_from(("f1", "bert")),
    target=st.sampled_from(("f1", "bert")),
    kind=st.sampled_from(("uses", "beats")),
    description=words,
    sources=sources,
    weight=st.sampled_from((0.1, 0.2, 0.7, 1e9)),
)


@settings(deadline=None)  # the first use loads a library
@given(st.lists(entities, max_size=6), st.randoms())
def test_entities_do_not_depend_on_the_order(contributions: list[Entity], random: object) -> None:
    shuffled = list(contributions)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert merge_entities(shuffled) == merge_entities(contributions)


@given(st.lists(relations, max_size=6), st.randoms())
def test_relations_do_not_depend_on_the_order(contributions: list[Relation], random: object) -> None:
    shuffled = list(contributions)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert merge_relations(shuffled) == merge_relations(contributions)


@given(st.lists(entities, min_size=1, max_size=6))
def test_entities_lose_no_name_and_no_source(contributions: list[Entity]) -> None:
    for key, merged in merge_entities(contributions).items():
        group = [entity for entity in contributions if entity.id == key]
        assert set(merged.sources) == {source for entity in group for source in entity.sources}
        names = {name for entity in group for name in (entity.name, *entity.aliases)}
        assert {merged.name, *merged.aliases} == names
        assert len(merged.description) <= max(DESCRIPTION_LIMIT, *(len(entity.description) for entity in group))


@given(entities, relations)
def test_a_lone_contribution_stays_as_it_is(entity: Entity, relation: Relation) -> None:
    assert merge_entities([entity]) == {entity.id: entity}
    assert list(merge_relations([relation]).values()) == [relation]


@given(st.lists(relations, max_size=6))
def test_relation_weights_are_summed(contributions: list[Relation]) -> None:
    merged = merge_relations(contributions)
    assert math.isclose(sum(one.weight for one in merged.values()), sum(one.weight for one in contributions))


def test_the_vote_decides_and_ties_go_to_the_alphabet() -> None:
    one = Entity(id="f1", name="F1 score", type="metric", description="A mean.", sources=("a/table-1",))
    two = replace(one, name="F1", type="", description="a  mean.", sources=("b/table-1",))
    three = replace(one, name="F1", type="", description="Another.", sources=("c/table-1",))
    merged = merge_entities([one, two, three])["f1"]
    assert (merged.name, merged.aliases, merged.type) == ("F1", ("F1 score",), "metric")
    assert merged.description == "A mean. Another."
    assert merge_entities([one, two])["f1"].name == "F1"
