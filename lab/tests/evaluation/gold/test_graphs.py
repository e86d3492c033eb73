"""Graph gold: tokens are joined, lines are read, and unusable lines are reported with their place."""

import json
from pathlib import Path
from typing import Any

import pytest
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import separate_errors
from paperscope_lab.evaluation.gold.graphs import (
    Cluster,
    GoldAcronyms,
    GoldExpansion,
    GoldGraph,
    GoldRelation,
    GraphGold,
    Mention,
    entities_of,
    join_tokens,
    read_graph_gold,
)
from paperscope_lab.evaluation.gold.text_papers import TextSection

SCIERC = {
    "doc_key": "D1",
    "sentences": [["We", "use", "Hidden", "Markov", "Models", "(", "HMM", ")", "."], ["They", "beat", "CRFs", "."]],
    "ner": [[[2, 4, "Method"], [6, 6, "Method"]], [[9, 9, "Generic"], [11, 11, "Method"]]],
    "relations": [[], [[9, 9, 11, 11, "COMPARE"]]],
    "clusters": [[[2, 4], [6, 6], [9, 9]]],
}
SCIER = {
    "doc_id": "7",
    "sentence": "A self - attention model for image - to - text tasks .",
    "ner": [["self - attention model", "Method"], ["image - to - text tasks", "Task"]],
    "rel": [["self - attention model", "Used-For", "image - to - text tasks"]],
}
SCIREX = {
    "doc_id": "x",
    "words": "section : Results . BERT reaches 90.1 F1 on SQuAD [ reference ] .".split(),
    "sentences": [[0, 4], [4, 14]],
    "sections": [[0, 14]],
    "ner": [[4, 5, "Method"], [7, 8, "Metric"], [9, 10, "Material"]],
    "coref": {"BERT": [[4, 5]], "F1": [[7, 8]], "SQuAD": [[9, 10]], "QA": []},
    "coref_non_salient": {},
    "n_ary_relations": [
        {"Method": "BERT", "Metric": "F1", "Material": "SQuAD", "score": 90.1},
        {"Method": "BERT", "Metric": "F1", "Material": "SQuAD", "Task": "QA", "score": "90.1"},
    ],
}
IDENTIFIED = {
    "id": "A",
    "tokens": ["The", "error", "rate", "(", "ER", ")", "."],
    "labels": ["O", "B-long", "I-long", "O", "B-short", "O", "O"],
}
EXPANDED = {"id": "A", "tokens": ["An", "ER", "of", "1"], "acronym": 1, "expansion": "error rate"}


def read(folder: Path, name: str, *lines: dict[str, Any] | str) -> tuple[list[Any], list[str]]:
    """The gold of one file with these lines, and the messages about unusable ones."""
    (folder / "eval").mkdir(exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / "eval" / name).write_text("\n".join(texts))
    found = list(read_graph_gold(folder))
    errors = [str(entry) for entry in found if isinstance(entry, GoldFileError)]
    return [entry for entry in found if not isinstance(entry, GoldFileError)], errors


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("state - of - the - art ( SOTA ) models .", "state-of-the-art (SOTA) models."),
        ("the model 's F1 , i.e. 90.1 % , is n't high", "the model's F1, i.e. 90.1%, isn't high"),
        ('a " good " one , or " not "', 'a "good" one, or "not"'),
        ("a -LRB- b -RRB- and / or c [ 1 ][ 2 ] : d", "a (b) and/or c [1][2]: d"),
        ("", ""),
    ],
)
def test_tokens_become_running_text(tokens: str, text: str) -> None:
    running = join_tokens(tokens.split())
    assert running.text == text
    assert len(running.spans) == len(tokens.split())


def test_a_span_of_tokens_is_cut_from_the_text() -> None:
    running = join_tokens(["a", "self", "-", "attention", "model", "."])
    assert running.of(1, 5) == "self-attention model"
    for first, end in ((5, 7), (-1, 2), (2, 2)):
        with pytest.raises(GoldFileError):
            running.of(first, end)


def test_mentions_become_entities() -> None:
    mentions = [
        Mention(span=(0, 1), words="It", type="Method"),
        Mention(span=(1, 2), words="Naive Bayes", type="Method"),
        Mention(span=(2, 3), words="naive-bayes", type="Method"),
        Mention(span=(3, 4), words="the method", type="Generic"),
        Mention(span=(4, 5), words="task", type="Generic"),
    ]
    entities, place = entities_of(mentions, [Cluster(spans=((0, 1), (1, 2), (3, 4), (9, 9))), Cluster(spans=())])
    assert [(entity.forms, entity.generic) for entity in entities] == [(("naive bayes",), False), (("task",), True)]
    assert place == {(0, 1): 0, (1, 2): 0, (3, 4): 0, (2, 3): 0, (4, 5): 1}


def test_scierc_is_read(tmp_path: Path) -> None:
    [graph], errors = read(tmp_path, "kg_scierc.jsonl", SCIERC)
    assert isinstance(graph, GoldGraph)
    assert not errors
    assert graph.name == "scierc/D1"
    assert graph.sections[0].paragraphs[0] == "We use Hidden Markov Models (HMM). They beat CRFs."
    assert [entity.forms for entity in graph.entities] == [("hidden markov models", "hmm"), ("crfs",)]
    assert graph.relations == (GoldRelation(source=0, target=1, kind="COMPARE"),)


def test_scier_is_grouped_by_document(tmp_path: Path) -> None:
    other = SCIER | {"sentence": "On UCF 1 0 1 image - to - text tasks matter .", "ner": [SCIER["ner"][1]], "rel": []}
    [graph], errors = read(tmp_path, "kg_scier.jsonl", SCIER, other)
    assert not errors
    assert graph.name == "scier/7"
    assert graph.sections[0].paragraphs[0] == (
        "A self-attention model for image-to-text tasks. On UCF 101 image-to-text tasks matter."
    )
    assert [entity.forms for entity in graph.entities] == [("self attention model",), ("image to text tasks",)]
    assert graph.relations == (GoldRelation(source=0, target=1, kind="Used-For"),)


def test_scirex_is_read(tmp_path: Path) -> None:
    [graph], errors = read(tmp_path, "kg_scirex.jsonl", SCIREX)
    assert not errors
    assert graph.sections == (TextSection(path=("Results.",), paragraphs=("BERT reaches 90.1 F1 on SQuAD.",)),)
    assert [(entity.forms, entity.salient) for entity in graph.entities] == [
        (("bert",), True),
        (("f1",), True),
        (("squad",), True),
    ]
    assert graph.relations is None


def test_acronyms_are_read(tmp_path: Path) -> None:
    stray = IDENTIFIED | {"id": "B", "labels": ["O", "I-long", "I-long", "O", "B-short", "B-short", "O"]}
    found, errors = read(tmp_path, "acronym_identification.jsonl", IDENTIFIED, stray)
    assert not errors
    assert found[0] == GoldAcronyms(
        name="acronym_identification/A", text="The error rate (ER).", shorts=("ER",), longs=("error rate",)
    )
    assert (found[1].shorts, found[1].longs) == (("ER", ")"), ("error rate",))
    found, errors = read(tmp_path, "acronym_disambiguation.jsonl", EXPANDED)
    assert not errors
    assert found[2:] == [
        GoldExpansion(name="acronym_disambiguation/A", text="An ER of 1", short="ER", long="error rate")
    ]


@pytest.mark.parametrize(
    ("name", "good", "changes", "says"),
    [
        ("kg_scierc.jsonl", SCIERC, {"ner": None}, "'ner'"),
        (
            "kg_scierc.jsonl",
            SCIERC,
            {"ner": [[[2, 99, "Method"]]]},
            "no tokens from 2 to before 100 among 13",
        ),
        ("kg_scierc.jsonl", SCIERC, {"relations": [[[0, 0, 2, 4, "X"]]]}, "end [0, 0] is no entity"),
        ("kg_scierc.jsonl", SCIERC, {"doc_key": "D1"}, "'D1' is also on line 1"),
        ("kg_scier.jsonl", SCIER, {"ner": [["nowhere", "Task"]]}, "'nowhere' is not in"),
        ("kg_scier.jsonl", SCIER, {"rel": [["A", "Used-For", "B"]]}, "end 'A' is no entity"),
        ("kg_scirex.jsonl", SCIREX, {"sections": [[0, 99]]}, "no tokens from 0 to before 99 among 14"),
        ("acronym_identification.jsonl", IDENTIFIED, {"labels": ["O"]}, "1 labels for 7 tokens"),
        ("acronym_identification.jsonl", IDENTIFIED, {"labels": ["B-odd"] * 7}, "'labels.0'"),
        ("acronym_disambiguation.jsonl", EXPANDED, {"acronym": 4}, "'acronym' is 4, but there are 4"),
    ],
)
def test_a_bad_line_is_said_with_its_place(
    *, tmp_path: Path, name: str, good: dict[str, Any], changes: dict[str, Any], says: str
) -> None:
    key = next(key for key in ("doc_key", "doc_id", "id") if key in good)
    last = good | {key: "last"}
    found, errors = read(tmp_path, name, good, good | {key: "bad"} | changes, "{", last)
    assert len(found) == 2
    assert len(errors) == 2
    assert any(f"{name}:2: " in error and says in error for error in errors), errors
    assert any(f"{name}:3: Invalid JSON" in error for error in errors)


def test_a_set_may_be_absent(tmp_path: Path) -> None:
    assert list(read_graph_gold(tmp_path)) == []


def test_the_development_data_has_no_bad_line(shared: Path) -> None:
    gold: list[GraphGold]
    gold, bad = separate_errors(read_graph_gold(shared))
    assert not bad
    sets = {"scierc", "scier", "scirex", "acronym_identification", "acronym_disambiguation"}
    assert {entry.name.partition("/")[0] for entry in gold} == sets
