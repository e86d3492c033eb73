"""Scores of graphs on gold and extractions made by hand, with figures worked out by hand; and the whole command."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from evaluation.gold.acronyms import GoldAcronyms, GoldExpansion
from evaluation.gold.graphs import GoldEntity, GoldGraph, GoldRelation, GoldResult, GoldSection
from evaluation.graph.acronyms import AcronymItem, ExpansionItem
from evaluation.graph.documents import paper_of
from evaluation.graph.entities import score_entities
from evaluation.graph.grounding import score_grounding
from evaluation.graph.items import DocumentItem
from evaluation.graph.matches import Matches
from evaluation.graph.names import acronym_pairs, duplicates, plain_keys
from evaluation.graph.quality import score_graph, score_library
from evaluation.graph.relations import score_relations, score_results
from evaluation.graph.suite import GraphSuite
from evaluation.suite import Request
from evaluation.values import Score
from ingest import chunk_paper, extractor_for
from ingest.extraction import CombinedExtractor, LocalExtractor
from paperscope.models import FakeModel
from paperscope.settings import RoleSettings, Settings
from paperscope.types import Entity, Extraction, IndexedPaper, ModelRequest, Relation, entity_key

if TYPE_CHECKING:
    from tests.evaluation.conftest import Evaluate, MakePaper
from tests.evaluation.test_evaluation_graph_gold import EXPANDED, IDENTIFIED, SCIER, SCIERC, SCIREX

GOLD = GoldGraph(
    name="scierc/d",
    sections=(GoldSection(heading="", text="The score is 90.1 , not 190.12 or 7.5."),),
    entities=(
        GoldEntity(forms=("naive bayes", "nb"), type="Method", salient=True),
        GoldEntity(forms=("text classification",), type="Task", salient=True),
        GoldEntity(forms=("large news corpus",), type="Material"),
        GoldEntity(forms=("accuracy",), type="Metric", salient=True),
        GoldEntity(forms=("model",), type="Generic", generic=True),
    ),
    coreferent=True,
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
MATCHES = Matches(gold=GOLD, extraction=EXTRACTION)


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
        # "naive bayes" and "nb" are one in the gold, two with us; both have "text classification".
        "aliases.b3_precision": (3, 3),
        "aliases.b3_recall": (2, 3),
        "aliases.links_found": (0, 1),
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
    found = figures(score_entities(Matches(gold=gold, extraction=ours)))
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
    ours = Matches(gold=gold, extraction=Extraction(entities=(entity("Naive Bayes", "method", "NB"),), relations=()))
    for kind, right in (("Synonym-Of", 1), ("Part-Of", 0)):
        found = figures(score_relations(ours, (GoldRelation(source=0, target=1, kind=kind),)))
        assert found["relations.recall"] == found["relations.kind.recall"] == (right, 1)


def test_results() -> None:
    results = (
        GoldResult(members=(0, 1), score="90.1"),
        GoldResult(members=(0, 3), score="7.5"),
        GoldResult(members=(1, 2), score="55"),
    )
    score = score_results(MATCHES, results)
    assert figures(score) == {
        "results.members": (1, 3),
        "results.connected": (1, 3),
        # 55 does not stand in the text; 90.12 is no 90.1, but another relation of Naive Bayes quotes that.
        "results.score": (1, 2),
    }
    assert {miss.got for miss in score.misses} == {"unknown: accuracy", "unknown: large news corpus"}


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
        ("analysis", "analyses", False),
    ],
)
def test_plain_names(one: str, other: str, same: bool) -> None:
    assert bool(plain_keys(one) & plain_keys(other)) is same


def test_acronyms_by_initials() -> None:
    texts = [
        "We use a deep convolutional neural network (CNN), Long Short-Term Memories (LSTMs) and",
        "the machine (X1) learning and Adam optimizer (ours).",
    ]
    assert set(acronym_pairs(texts)) == {("convolutionalneuralnetwork", "cnn"), ("longshorttermmemory", "lstm")}


def test_duplicates() -> None:
    names = {"a": ["CNNs"], "b": ["convolutional neural network"], "c": ["cnn model", "CNN-model"], "d": ["CNN models"]}
    assert duplicates(names, [("convolutionalneuralnetwork", "cnn")]) == [("a", "b"), ("c", "d")]
    two_meanings = [("convolutionalneuralnetwork", "cnn"), ("cablenewsnetwork", "cnn")]
    assert duplicates(names, two_meanings) == [("c", "d")]
    shared_alias = {"a": ["cross-entropy", "CE"], "b": ["community edition", "CE"], "c": ["CEs"], "d": ["CE"]}
    assert duplicates(shared_alias, []) == [("c", "d")]
    assert duplicates({"a": ["cross-entropy", "CE"], "c": ["CEs"]}, []) == [("a", "c")]


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
    item = AcronymItem(gold=GoldAcronyms(name="s/1", text=text, shorts=("ER", "IE"), longs=("error rate",)))
    assert figures(item.score()) == {
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
    item = ExpansionItem(gold=GoldExpansion(name="s/1", text=text, short="ER", long=long))
    assert figures(item.score()) == expected


def test_a_document_is_a_paper_of_headings_and_paragraphs() -> None:
    sections = (GoldSection(heading="Intro", text="One. Two."), GoldSection(heading="", text="Three."))
    paper = paper_of(replace(GOLD, sections=sections))
    assert [(element.id.partition("/")[2], element.section.partition("/")[2]) for element in paper.elements] == [
        ("passage-1", "section-1"),
        ("passage-2", "section-1"),
        ("passage-3", "section-2"),
    ]
    assert not paper.paged
    assert [chunk.text for chunk in chunk_paper(paper)] == ["Intro\nOne. Two.", "Three."]


@pytest.fixture
def data(tmp_path: Path, root: Path) -> Path:
    """A line of each set, and two papers of which one can't be read."""
    folder = tmp_path / "data"
    (folder / "eval").mkdir(parents=True)
    for name, line in (
        ("kg_scierc", SCIERC),
        ("kg_scier", SCIER),
        ("kg_scirex", SCIREX),
        ("acronym_identification", IDENTIFIED),
        ("acronym_disambiguation", EXPANDED),
    ):
        (folder / "eval" / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    (folder / "papers" / "example").mkdir(parents=True)
    shutil.copy(root / "examples" / "paper" / "ner-report.pdf", folder / "papers" / "example" / "paper.pdf")
    return folder


def test_the_command(data: Path, tmp_path: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]) -> None:
    (data / "papers" / "broken.pdf").write_bytes(b"%PDF-1.5 nothing")
    scier = data / "eval" / "kg_scier.jsonl"
    scier.write_text(scier.read_text() + "{}")
    first, second = tmp_path / "first", tmp_path / "second"
    only = [
        part
        for name in ("scierc", "scier", "scirex", "papers", "library", "acronym_identification")
        for part in ("--only", name)
    ]
    assert evaluate("graph", "--data", data, "--out", first, *only) == 1
    said = capsys.readouterr().out
    assert "kg_scier.jsonl:2: field 'doc_id' is missing" in said
    assert "papers/broken: 'broken.pdf' is damaged" in said
    figures = json.loads((first / "graph.json").read_text())["figures"]
    assert set(figures) == {"all", "scierc", "scier", "scirex", "papers", "library", "acronym_identification"}
    assert figures["acronym_identification"]["acronyms.long.recall"]["value"] == 1
    assert figures["papers"]["grounded.entities"]["items"] == 1
    assert figures["papers"]["graph.entities"]["right"] > 10
    assert 10 < figures["library"]["library.entities"]["right"] < figures["papers"]["graph.entities"]["right"]
    assert figures["library"]["library.shared"]["right"] == 0
    shutil.rmtree(data / "papers")
    assert evaluate("graph", "--data", data, "--out", second) == 1
    again = json.loads((second / "graph.json").read_text())["figures"]
    for of_set in figures.keys() - {"all", "papers", "library"}:
        for metric, figure in figures[of_set].items():
            assert metric.startswith("seconds") or again[of_set][metric] == figure


def test_a_model_is_measured_with_the_rules() -> None:
    """The model names both ends and their relation in a kind that the gold has, too."""

    def reply(_: ModelRequest) -> str:
        names = {"chunk": "C1", "description": ""}
        return json.dumps(
            {
                "entities": [
                    names | {"mention": "naive Bayes", "type": "method"},
                    names | {"mention": "text classification", "type": "task"},
                ],
                "relations": [
                    {
                        "chunk": "C1",
                        "source": "text classification",
                        "target": "naive Bayes",
                        "kind": "uses",
                        "evidence": "naive Bayes serves text classification",
                    }
                ],
            }
        )

    text = "Here naive Bayes serves text classification."
    gold = replace(
        GOLD,
        sections=(GoldSection(heading="", text=text),),
        relations=(GoldRelation(source=0, target=1, kind="USED-FOR"),),
    )
    found = figures(DocumentItem(gold=gold, extractor=extractor_for(FakeModel(reply)), max_words=180).score())
    assert found["entities.typed.recall"] == (2, 4)
    assert found["relations.kind.recall"] == (1, 1)


def test_the_mode_decides_the_extractor(data: Path, tmp_path: Path) -> None:
    role = RoleSettings(model="m", base_url="http://localhost:1/v1")
    settings = Settings().model_copy(update={"extract": role})
    for mode, kind in (("model", CombinedExtractor), ("local", LocalExtractor)):
        request = Request(data=data, mode=mode, settings=settings, work=tmp_path / mode)
        with GraphSuite().open(request) as loaded:
            documents = [item for item in loaded.items if isinstance(item, DocumentItem)]
            assert len(documents) == 3
            assert all(isinstance(item.extractor, kind) for item in documents)


def test_the_mode_model_needs_a_model(data: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate("graph", "--data", data, "--mode", "model") == 2
    assert "mode 'model' needs a model that extracts: set PAPERSCOPE_EXTRACT__MODEL" in capsys.readouterr().err


def test_a_folder_without_anything_to_score_is_refused(
    tmp_path: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("graph", "--data", tmp_path) == 2
    assert "nothing to score here" in capsys.readouterr().err
