"""Extracted graphs against gold ones: entities and relations, with figures worked out by hand."""

from dataclasses import replace
from typing import TYPE_CHECKING

from paperscope_lab.evaluation.gold.graphs import GoldEntity, GoldGraph, GoldRelation
from paperscope_lab.evaluation.gold.text_papers import TextSection
from paperscope_lab.evaluation.graph.scoring import EntityMatches, score_entities, score_relations
from paperscope_lab.evaluation.score import Score

from paperscope_core.text.words import entity_key
from paperscope_core.types import Entity, Extraction, Relation

if TYPE_CHECKING:
    pass


GOLD = GoldGraph(
    name="scierc/d",
    sections=(TextSection(path=(), paragraphs=("The score is 90.1 , not 190.12 or 7.5.",)),),
    entities=(
        GoldEntity(forms=("naive bayes", "nb"), type="Method", salient=True),
        GoldEntity(forms=("text classification",), type="Task", salient=True),
        GoldEntity(forms=("large news corpus",), type="Material"),
        GoldEntity(forms=("accuracy",), type="Metric", salient=True),
        GoldEntity(forms=("model",), type="Generic", generic=True),
    ),
)


def entity(name: str, kind: str = "method", *aliases: str, sources: tuple[str, ...] = ("p/passage-0",)) -> Entity:
    return Entity(id=entity_key(name), name=name, type=kind, description="", sources=sources, aliases=aliases)


def relation(source: str, target: str, kind: str = "co-occurs", text: str = "") -> Relation:
    return Relation(source=source, target=target, kind=kind, description=text, sources=("p/passage-0",))


EXTRACTION = Extraction(
    entities=(
        entity("Naive Bayes"),
        entity("NB", "concept"),
        entity("text-classification", "method"),
        entity("news corpus", "dataset"),
        entity("model"),
        entity("weather"),
        entity("Table 1", "table"),
    ),
    relations=(
        relation("naive bayes", "text classification", "uses"),
        relation("nb", "text classification", text="NB has 90.12"),
        relation("naive bayes", "weather", text="it reaches 90.1."),
        relation("text classification", "model"),
        relation("table 1", "naive bayes"),
    ),
)
MATCHES = EntityMatches(gold=GOLD, extraction=EXTRACTION)


def figures(score: Score) -> dict[str, tuple[float, float]]:
    return {name: (tally.right, tally.total) for name, tally in score.tallies.items()}


def test_entities() -> None:
    """Counted are Naive Bayes, NB, text-classification, news corpus and weather: a table's label is not annotated, and
    "model" is one of the gold's generic words."""
    found = figures(score_entities(MATCHES))
    assert found == {
        "entities.precision": (3, 5),
        "entities.recall": (2, 4),
        "entities.f1": (5, 9),
        "entities.partial.precision": (4, 5),
        "entities.partial.recall": (3, 4),
        "entities.partial.f1": (7, 9),
        # Naive Bayes alone: NB is a "concept", which is OtherScientificTerm, and text-classification no method.
        "entities.typed.precision": (1, 5),
        "entities.typed.recall": (1, 4),
        "entities.typed.f1": (2, 9),
        "found.Method": (1, 1),
        "found.Task": (1, 1),
        "found.Material": (0, 1),
        "found.Metric": (0, 1),
        "generic.recall": (1, 1),
        "salient.recall": (2, 3),
    }


def test_misses_tell_what_was_near() -> None:
    misses = {(miss.metric, miss.gold, miss.got) for miss in score_entities(MATCHES).misses}
    assert misses == {
        ("entities.recall", "large news corpus", "news corpus"),
        ("entities.recall", "accuracy", ""),
        ("entities.precision", "", "news corpus"),
        ("entities.precision", "", "weather"),
    }


def test_a_type_that_a_set_does_not_annotate_is_not_held_against_it() -> None:
    gold = replace(GOLD, name="scier/d")
    ours = Extraction(
        entities=(entity("accuracy", "metric"), entity("recall", "metric"), entity("NB", "concept")), relations=()
    )
    found = figures(score_entities(EntityMatches(gold=gold, extraction=ours)))
    assert found["entities.precision"] == (1, 1)
    assert found["entities.recall"] == (2, 4)
    assert found["entities.typed.precision"] == (0, 0)


def test_relations() -> None:
    """Connected in the gold: Bayes and classification (twice, once by a kind of ours), Bayes and accuracy. One relation
    has a generic end, one a single end."""
    gold = (
        GoldRelation(source=0, target=1, kind="USED-FOR"),
        GoldRelation(source=1, target=0, kind="COMPARE"),
        GoldRelation(source=0, target=3, kind="EVALUATE-FOR"),
        GoldRelation(source=4, target=1, kind="USED-FOR"),
        GoldRelation(source=2, target=2, kind="PART-OF"),
    )
    score = score_relations(MATCHES, gold)
    assert figures(score) == {
        # Ours: Bayes and classification, NB and classification, Bayes and weather; that with "model" is not counted.
        "relations.precision": (2, 3),
        "relations.recall": (1, 2),
        "relations.f1": (3, 5),
        "relations.known.precision": (2, 2),
        "relations.known.recall": (1, 1),
        "relations.known.f1": (3, 3),
        "relations.kind.recall": (1, 3),
    }
    assert [miss.got for miss in score.misses] == ["unknown: accuracy"]


def test_two_names_of_one_entity_are_connected_where_the_gold_says_that_they_mean_the_same() -> None:
    gold = replace(
        GOLD,
        name="scier/d",
        entities=(GoldEntity(forms=("naive bayes",), type="Method"), GoldEntity(forms=("nb",), type="Method")),
    )
    ours = EntityMatches(
        gold=gold, extraction=Extraction(entities=(entity("Naive Bayes", "method", "NB"),), relations=())
    )
    for kind, right in (("Synonym-Of", 1), ("Part-Of", 0)):
        found = figures(score_relations(ours, (GoldRelation(source=0, target=1, kind=kind),)))
        assert found["relations.recall"] == found["relations.kind.recall"] == (right, 1)
