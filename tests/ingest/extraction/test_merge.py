from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.extraction import combine
from paperscope_core.text.words import entity_key
from paperscope_core.types import Entity, Extraction, Mention, Relation


def entity(name: str, *aliases: str, source: str = "p/passage-1", kind: str = "concept", told: str = "") -> Entity:
    return Entity(id=entity_key(name), name=name, type=kind, description=told, sources=(source,), aliases=aliases)


def relation(source: str, target: str, *, kind: str = "uses", weight: float = 1.0, at: str = "p/passage-1") -> Relation:
    return Relation(source=source, target=target, kind=kind, description="", sources=(at,), weight=weight)


def of(entities: list[Entity], relations: list[Relation] | None = None) -> Extraction:
    return Extraction(entities=tuple(entities), relations=tuple(relations or ()))


def test_entities_of_one_key_become_one() -> None:
    first = entity("F1 Score", source="p/passage-10", told="short")
    second = entity("F1-score", source="p/passage-9", kind="metric", told="a longer one")
    (merged,) = combine(of([first]), of([second, second])).entities
    assert merged == Entity(
        id="f1 score",
        name="F1-score",
        type="metric",
        description="a longer one",
        sources=("p/passage-9", "p/passage-10"),
    )


def test_the_type_that_a_model_read_outranks_the_one_that_a_rule_guessed() -> None:
    guessed = entity("QwenVL", kind="dataset")
    place = (Mention(element="p/passage-1", start=0, end=6),)
    for told, kept in (("method", "method"), ("concept", "dataset")):
        (merged,) = combine(of([replace(entity("QwenVL", kind=told), mentions=place)]), of([guessed])).entities
        assert merged.type == kept


def test_a_name_that_is_the_alias_of_one_entity_joins_it_with_its_relations() -> None:
    local = of([entity("cross entropy", "CE")])
    model = of([entity("CE"), entity("BERT")], [relation("bert", "ce")])
    merged = combine(local, model)
    assert [item.id for item in merged.entities] == ["bert", "cross entropy"]
    assert [(item.source, item.target) for item in merged.relations] == [("bert", "cross entropy")]


def test_a_name_that_is_the_alias_of_two_stays_apart() -> None:
    merged = combine(of([entity("cross entropy", "CE"), entity("causal estimate", "CE"), entity("CE")]))
    assert len(merged.entities) == 3


def test_aliases_in_a_circle_become_one_entity() -> None:
    merged = combine(of([entity("A one", "B two"), entity("B two", "A one")]))
    assert [(item.id, item.aliases) for item in merged.entities] == [("a one", ("B two",))]


def test_a_float_never_joins_another_entity() -> None:
    table = Entity(id="p/table-1", name="Table 1", type="table", description="", sources=("p/table-1",), aliases=("X",))
    merged = combine(of([table, entity("X")]))
    assert len(merged.entities) == 2


def test_relations_of_no_known_end_or_of_one_entity_with_itself_are_left_out() -> None:
    merged = combine(
        of([entity("cross entropy", "CE"), entity("CE")], [relation("ce", "cross entropy"), relation("ce", "gone")])
    )
    assert merged.relations == ()


def test_equal_relations_are_one_with_the_greater_weight_and_all_places() -> None:
    one, two = relation("a", "b", weight=2.0), relation("a", "b", at="p/passage-2")
    (merged,) = combine(of([entity("a"), entity("b")], [one]), of([], [two])).relations
    assert (merged.weight, merged.sources) == (2.0, ("p/passage-1", "p/passage-2"))


NAMES = st.sampled_from(["CE", "ce", "cross entropy", "Cross-Entropy", "DL", "dice loss", "F1", "f1 score"])
ENTITIES = st.builds(
    lambda name, aliases, source, kind, told: entity(name, *aliases, source=source, kind=kind, told=told),
    NAMES,
    st.lists(NAMES, max_size=2),
    st.sampled_from(["p/passage-1", "p/passage-2", "p/table-10"]),
    st.sampled_from(["concept", "metric", "method", "odd"]),
    st.text(alphabet="ab", max_size=3),
)
RELATIONS = st.builds(
    lambda source, target, kind, weight: relation(entity_key(source), entity_key(target), kind=kind, weight=weight),
    NAMES,
    NAMES,
    st.sampled_from(["uses", "causes"]),
    st.sampled_from([1.0, 2.0]),
)
EXTRACTIONS = st.builds(of, st.lists(ENTITIES, max_size=5), st.lists(RELATIONS, max_size=4))


@pytest.mark.slow
@given(st.lists(EXTRACTIONS, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_the_parts_does_not_matter(parts: list[Extraction], random: object) -> None:
    shuffled = parts.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    reordered = [of(list(reversed(part.entities)), list(reversed(part.relations))) for part in shuffled]
    assert combine(*parts) == combine(*reordered)


@pytest.mark.slow
@given(st.lists(EXTRACTIONS, max_size=4))
def test_no_two_entities_share_an_id_and_relations_have_both_ends(parts: list[Extraction]) -> None:
    merged = combine(*parts)
    ids = [item.id for item in merged.entities]
    assert len(ids) == len(set(ids))
    assert all({item.source, item.target} <= set(ids) for item in merged.relations)
    named = {entity_key(form) for part in parts for item in part.entities for form in (item.name, *item.aliases)}
    assert named == {entity_key(form) for item in merged.entities for form in (item.name, *item.aliases)}


def test_a_plural_is_under_the_id_of_its_singular_so_that_papers_meet() -> None:
    plural = combine(
        of([entity("Large language models", "LLMs"), entity("BERT")], [relation("bert", "large language models")])
    )
    singular = combine(of([entity("large language model")]))
    assert {one.id for one in singular.entities} <= {one.id for one in plural.entities}
    assert [(one.source, one.target) for one in plural.relations] == [("bert", "large language model")]


def test_the_plural_of_a_float_is_none() -> None:
    table = Entity(id="p/results", name="Table 1", type="table", description="", sources=("p/results",))
    assert [one.id for one in combine(of([table])).entities] == ["p/results"]
