"""Graphs by themselves: plain names, duplicates, grounding; acronyms of sentences."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from paperscope_lab.evaluation.gold.graphs import GoldAcronyms, GoldExpansion
from paperscope_lab.evaluation.graph.quality import (
    acronym_pairs,
    find_duplicates,
    name_keys,
    score_floats,
    score_graph,
    score_grounding,
    score_library,
)
from paperscope_lab.evaluation.graph.suite import score_acronyms, score_expansion
from paperscope_lab.evaluation.score import Score

from ingest.chunking import chunk_paper
from paperscope_core.text.words import entity_key
from paperscope_core.types import (
    Box,
    Element,
    Entity,
    Extraction,
    Figure,
    IndexedPaper,
    Link,
    Paper,
    Passage,
    Place,
    Relation,
    Table,
)

if TYPE_CHECKING:
    from tests.evaluation.conftest import MakePaper


def entity(name: str, kind: str = "method", *aliases: str, sources: tuple[str, ...] = ("p/passage-0",)) -> Entity:
    return Entity(id=entity_key(name), name=name, type=kind, description="", sources=sources, aliases=aliases)


def relation(source: str, target: str, kind: str = "co-occurs", text: str = "") -> Relation:
    return Relation(source=source, target=target, kind=kind, description=text, sources=("p/passage-0",))


def figures(score: Score) -> dict[str, tuple[float, float]]:
    return {name: (tally.right, tally.total) for name, tally in score.tallies.items()}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Dice losses", "dice-loss", True),
        ("the F1 Score", "F1-scores", True),
        ("data set", "Dataset", True),
        ("Word Error Rate (WER)", "word error rate", True),
        ("CNNs", "CNN", True),
        ("policies", "policy", True),
        ("bias", "bia", False),
        ("loss", "los", False),
        ("F+", "F", False),
        ("Word Error Rate (WER)", "WERs", True),
        ("LI (%)", "LI", True),
        ("HOVER (2-hop)", "HOVER (3-hop)", False),
        ("BLEU (dev)", "BLEU", False),
        ("BERT-large", "BERT-base", False),
        ("analysis", "analyses", True),
    ],
)
def test_plain_names(one: str, other: str, same: bool) -> None:
    assert bool(name_keys(one) & name_keys(other)) is same


def test_acronyms_by_initials() -> None:
    texts = [
        "We use a deep convolutional neural network (CNN), Long Short-Term Memories (LSTMs) and",
        "the machine (X1) learning and Adam optimizer (ours).",
    ]
    assert set(acronym_pairs(texts)) == {("convolutionalneuralnetwork", "cnn"), ("longshorttermmemory", "lstm")}


def test_duplicates() -> None:
    names = {"a": ["CNNs"], "b": ["convolutional neural network"], "c": ["cnn model", "CNN-model"], "d": ["CNN models"]}
    assert find_duplicates(names, [("convolutionalneuralnetwork", "cnn")]) == [("a", "b"), ("c", "d")]
    two_meanings = [("convolutionalneuralnetwork", "cnn"), ("cablenewsnetwork", "cnn")]
    assert find_duplicates(names, two_meanings) == [("c", "d")]
    shared_alias = {"a": ["cross-entropy", "CE"], "b": ["community edition", "CE"], "c": ["CEs"], "d": ["CE"]}
    assert find_duplicates(shared_alias, []) == [("c", "d")]
    assert find_duplicates({"a": ["cross-entropy", "CE"], "c": ["CEs"]}, []) == [("a", "c")]


def indexed(paper: "MakePaper", text: str, *entities: Entity, relations: tuple[Relation, ...] = ()) -> IndexedPaper:
    made = paper(text)
    extraction = Extraction(entities=entities, relations=relations)
    return IndexedPaper(
        paper=made, chunks=chunk_paper(made), extraction=extraction, vectors=np.zeros((1, 2), np.float32)
    )


def test_a_graph_by_itself(make_paper: "MakePaper") -> None:
    """Of four terms two are one by their plural; of five entities three stand in no relation."""
    terms = [entity("neural net"), entity("neural nets"), entity("loss"), entity("weather")]
    paper = indexed(make_paper, "x", *terms, entity("Table 1", "table"), relations=(relation("neural net", "loss"),))
    assert figures(score_graph(paper)) == {
        "graph.duplicates": (2, 4),
        "graph.isolated": (3, 5),
        "graph.entities": (5, 1),
        "graph.relations": (1, 1),
    }


def test_a_library_by_itself(make_paper: "MakePaper") -> None:
    """Shared is "loss"; "nets" and "net" are doubles of one paper, "task set" is another paper's "task-sets"."""
    one = indexed(make_paper, "x", entity("net"), entity("nets"), entity("loss"), entity("task set"))
    two = indexed(make_paper, "y", entity("loss"), entity("task-sets"))
    merged = {e.id: e for paper in (one, two) for e in paper.extraction.entities}
    counts = dict.fromkeys(merged, 1) | {"loss": 2}
    assert figures(score_library(merged, counts, [one, two])) == {
        "library.shared": (1, 5),
        "library.duplicates": (4, 5),
        "library.across": (2, 5),
        "library.entities": (5, 1),
    }


def test_grounding(make_paper: "MakePaper") -> None:
    paper = make_paper("A random forest beats C++ on F1-score.", "Nothing here.")
    good = entity("Random-Forest")
    here = ("p/passage-0", "p/passage-1")
    extraction = Extraction(
        entities=(
            good,
            entity("rand"),
            entity("C++"),
            entity("f1 score", "metric", sources=here),
            entity("x", "method", "C++"),
        ),
        relations=(
            relation("random forest", "c++"),
            relation("random forest", "rand"),
            relation("random forest", "gone"),
            replace(relation("random forest", "c++"), sources=("p/passage-1",)),
        ),
    )
    score = score_grounding(paper, extraction)
    assert figures(score) == {"grounded.entities": (3, 5), "grounded.relations": (1, 4)}
    assert [miss.gold for miss in score.misses if miss.metric == "grounded.entities"] == ["rand", "f1 score"]


def test_a_float_stands_beside_what_its_caption_names(make_paper: "MakePaper") -> None:
    paper = make_paper("A random forest.")
    float_ = replace(entity("Figure 9", "figure"), id="p/passage-0")
    told = Extraction(
        entities=(entity("random forest"), float_), relations=(relation("p/passage-0", "random forest", "shows"),)
    )
    assert figures(score_grounding(paper, told))["grounded.relations"] == (1, 1)


def test_acronyms_of_a_sentence() -> None:
    """Found: ER with its long form; missed is IE, which the sentence doesn't define."""
    text = "The error rate (ER) of IE."
    gold = GoldAcronyms(name="s/1", text=text, shorts=("ER", "IE"), longs=("error rate",))
    assert figures(score_acronyms(gold)) == {
        "acronyms.short.precision": (1, 1),
        "acronyms.short.recall": (1, 2),
        "acronyms.short.f1": (2, 3),
        "acronyms.long.precision": (1, 1),
        "acronyms.long.recall": (1, 1),
        "acronyms.long.f1": (2, 2),
        "acronyms.short.defined": (1, 2),
    }


@pytest.mark.parametrize(
    ("text", "long", "expected"),
    [
        ("The ER is low.", "error rate", {"expansions.defined": (0, 1)}),
        ("The Error Rates (ERs) are low.", "error rate", {"expansions.defined": (1, 1), "expansions.right": (1, 1)}),
        ("The error rate (ER) is low.", "entity relation", {"expansions.defined": (1, 1), "expansions.right": (0, 1)}),
    ],
)
def test_expansions(text: str, long: str, expected: dict[str, tuple[float, float]]) -> None:
    assert figures(score_expansion(GoldExpansion(name="s/1", text=text, short="ER", long=long))) == expected


def test_a_work_stands_where_the_text_cites_it_and_the_paper_itself_everywhere(make_paper: "MakePaper") -> None:
    made = make_paper("Dice rests on earlier work [1].", "The loss is new.")
    first, second = made.elements[0].id, made.elements[1].id
    made = replace(made, title="On Dice", links=(Link(source=first, target="p/reference-1", text="[1]"),))
    own = entity("On Dice", "paper", sources=(first,))
    cited = entity("Earlier Work on Trees", "paper", sources=("p/reference-1",))
    dice = entity("Dice", sources=(first,))
    relations = [
        replace(relation(source.id, target.id), sources=(where,))
        for source, target in ((own, cited), (dice, cited))
        for where in (first, second)
    ]
    score = score_grounding(made, Extraction(entities=(own, cited, dice), relations=tuple(relations)))
    assert figures(score)["grounded.relations"] == (2, 4)


PLACE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))
TABLE = Table(id="p/table-1", place=PLACE, order=9, cells=(), label="Table 2", caption="Results.", header_rows=0)
FIGURE = Figure(id="p/figure-1", place=PLACE, order=9, label="Figure A.1", caption="Curves.")


def linked(
    text: str, *floats: Element, sources: tuple[str, ...] = (), told: tuple[str, ...] = ()
) -> tuple[float, float]:
    """Right and total, for a graph in which each float stands on `sources`, and in a relation on `told`."""
    passages = (
        Passage(id="p/passage-1", place=PLACE, order=1, text=text),
        Passage(id="p/passage-2", place=PLACE, order=2, text="The weather is fine."),
    )
    paper = Paper(
        id="p", title="", authors=(), sha256="", file="", pages=(), sections=(), elements=(*passages, *floats)
    )
    entities = [
        Entity(id=one.id, name=one.id, type=one.kind, description="", sources=(one.id, *sources)) for one in floats
    ]
    loss = Entity(id="loss", name="loss", type="method", description="", sources=("p/passage-2",))
    relations = [
        Relation(source=entity.id, target="loss", kind="mentions", description="", sources=told) for entity in entities
    ]
    extraction = Extraction(entities=(*entities, loss), relations=tuple(relations) if told else ())
    indexed = IndexedPaper(paper=paper, chunks=(), extraction=extraction, vectors=np.zeros((0, 2), np.float32))
    tally = score_floats(indexed).tallies["floats.linked"]
    return tally.right, tally.total


@pytest.mark.parametrize(
    "text", ["See Table 2.", "See Tables 1 and 2.", "see Tab. 2(a)", "Table 1, 2 and 3 show", "Tables (1) & (2)"]
)
def test_a_table_is_linked_by_standing_on_the_passage_that_names_it(text: str) -> None:
    assert linked(text, TABLE, sources=("p/passage-1",)) == (1, 1)
    assert linked(text, TABLE, told=("p/passage-1",)) == (1, 1)
    assert linked(text, TABLE) == (0, 1)
    assert linked(text, TABLE, sources=("p/passage-2",)) == (0, 1)


@pytest.mark.parametrize(
    "text", ["See Table 20.", "See Figure 2.", "2 tables", "Table 2.1 and Section 2", "portable 2"]
)
def test_what_names_another_is_no_mention(text: str) -> None:
    assert linked(text, TABLE) == (0, 0)


def test_figures_with_letters_and_floats_without_captions() -> None:
    assert linked("as in Fig. A.1", FIGURE, sources=("p/passage-1",)) == (1, 1)
    bare = Figure(id="p/figure-2", place=PLACE, order=9, label="Figure 2")
    assert linked("as in Fig. 2", bare) == (0, 0)
