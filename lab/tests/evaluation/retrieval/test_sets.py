"""The gold of retrieval: what it says, and what is said of gold that can't be used."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from paperscope_lab.evaluation.gold.files import map_gold
from paperscope_lab.evaluation.gold.text_questions import (
    Dialogue,
    TDMSPaper,
    TDMSTuple,
    Turn,
    argscichat_dialogues,
    qasper_papers,
    read_tdms,
)
from paperscope_lab.evaluation.retrieval.corpora import EvidencePiece, FilesCorpus, UnitsCorpus
from paperscope_lab.evaluation.retrieval.sets import argscichat, load_corpora, ohrbench, qasper, tdms

from paperscope_core.types import Passage

Write = Callable[..., Path]

TUPLE = {"paper": "p1", "task": "named_entity", "dataset": "D / E", "metric": "F1", "score": "92.1"}
PAIR = {"P_Message": "What is it about?", "facts": ["Losses are compared."]}
DIALOGUE = {
    "id": "On A/B",
    "title": "On A/B",
    "content": ["Losses are compared.", "Dice is best."],
    "message_pairs": [{"P_Message": "Hi!", "facts": []}, PAIR],
}
PAPER = {
    "id": "1",
    "title": "On losses",
    "abstract": "Losses are compared.",
    "full_text": {"section_name": ["A", "B"], "paragraphs": [["First.", ""], ["Second one.", "Third."]]},
    "figures_and_tables": {"caption": ["Table 1: Scores.", "Figure 1: Curves."]},
    "qas": {
        "question": ["What?", "Why?", "Who?"],
        "question_id": ["q1", "q2", "q3"],
        "answers": [
            {
                "answer": [
                    {"free_form_answer": "x", "evidence": ["Second one.", "FLOAT SELECTED: Table 1: Scores."]},
                    {"free_form_answer": "y", "evidence": ["Third."]},
                    {"unanswerable": True, "evidence": []},
                ]
            },
            {"answer": [{"unanswerable": True, "evidence": []}]},
            {"answer": [{"free_form_answer": "z", "evidence": ["FLOAT SELECTED: Table 9: Lost."]}]},
        ],
    },
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes lines (values or raw text) into eval/NAME; returns the data folder."""

    def lines(name: str, *values: object) -> Path:
        file = tmp_path / "data" / "eval" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(value if isinstance(value, str) else json.dumps(value) for value in values))
        return tmp_path / "data"

    return lines


def test_dialogues(write: Write) -> None:
    data = write("paperqa_argscichat.jsonl", DIALOGUE, "{", DIALOGUE | {"content": None})
    dialogue, *bad = argscichat_dialogues(data)
    file = data / "eval" / "paperqa_argscichat.jsonl"
    assert dialogue == Dialogue(
        where=f"{file}:1",
        line=1,
        id="On A/B",
        title="On A/B",
        sentences=("Losses are compared.", "Dice is best."),
        turns=(Turn(text="Hi!", facts=()), Turn(text="What is it about?", facts=("Losses are compared.",))),
    )
    assert [str(error).partition(": ")[0] for error in map(str, bad)] == [f"{file}:2", f"{file}:3"]
    assert not list(argscichat_dialogues(data / "nowhere"))


def test_a_fact_that_no_sentence_states_is_said(write: Write) -> None:
    lost = {"P_Message": "And?", "facts": ["Nobody ever said this.", "dice is BEST"]}
    data = write(
        "paperqa_argscichat.jsonl", DIALOGUE | {"message_pairs": [PAIR, lost, PAIR | {"facts": ["Nor that!"]}]}
    )
    error, corpus = map_gold(argscichat_dialogues(data), argscichat)
    assert "jsonl:1: 2 pieces of evidence are not in the paper and don't count" in str(error)
    assert "'Nobody ever said this.'" in str(error)
    assert isinstance(corpus, UnitsCorpus)
    assert [question.name for question in corpus.questions] == ["argscichat/On A-B/1.1", "argscichat/On A-B/1.2"]
    assert [texts_of(corpus, question.evidence) for question in corpus.questions] == [
        [["Losses are compared."]],
        [["Dice is best."]],
    ]


def test_paragraphs_and_captions_are_evidence(write: Write) -> None:
    error, corpus = map_gold(qasper_papers(write("paperqa_qasper10_raw.jsonl", PAPER)), qasper)
    assert "jsonl:1: 1 pieces of evidence are not in the paper" in str(error)
    assert "'Table 9: Lost.'" in str(error)
    assert isinstance(corpus, UnitsCorpus)
    (question,) = corpus.questions
    assert question.name == "qasper/1/q1"
    assert texts_of(corpus, question.evidence) == [["Second one.", "Table 1: Scores."], ["Third."]]
    assert [piece.kinds for pieces in question.evidence for piece in pieces] == [("text",), ("table",), ("text",)]
    texts = [element.text for element in corpus.paper.elements if isinstance(element, Passage)]
    assert texts[1:] == ["First.", "Second one.", "Third.", "Table 1: Scores.", "Figure 1: Curves."]


def texts_of(corpus: UnitsCorpus, evidence: tuple[tuple[EvidencePiece, ...], ...]) -> list[list[str]]:
    texts = {element.id: element.text for element in corpus.paper.elements if isinstance(element, Passage)}
    return [[texts[unit] for piece in pieces for unit in piece.units] for pieces in evidence]


def test_papers_and_results(write: Write) -> None:
    text = "section: title\nOn\nLosses\nsection: abstract\nWe compare.\nMore.\nsection: Empty\nsection: Results\n92.1"
    write("kg_nlptdms_text.jsonl", {"paper": "p1", "text": text}, {"paper": "p2"})
    data = write("kg_nlptdms_tuples.jsonl", TUPLE, TUPLE | {"paper": "p9"}, {"paper": "p1"})
    gold = read_tdms(data)
    sections = (("abstract", ("We compare.", "More.")), ("Results", ("92.1",)))
    assert gold.papers == [TDMSPaper(id="p1", title="On Losses", sections=sections)]
    assert gold.tuples == [TDMSTuple(paper="p1", task="named_entity", dataset="D / E", metric="F1", score="92.1")]
    said = [str(error) for error in gold.bad]
    assert ["kg_nlptdms_text.jsonl:2" in said[0], "kg_nlptdms_tuples.jsonl:2: unknown paper 'p9'" in said[1]] == [
        True
    ] * 2
    assert "kg_nlptdms_tuples.jsonl:3: field 'task' is missing" in said[2]


def test_a_question_for_each_task_dataset_and_metric(write: Write, tmp_path: Path) -> None:
    write("kg_nlptdms_text.jsonl", *({"paper": name, "text": f"section: title\n<{name}>"} for name in ("p1", "p2")))
    data = write(
        "kg_nlptdms_tuples.jsonl", TUPLE, TUPLE | {"score": "1"}, TUPLE | {"paper": "p2"}, TUPLE | {"metric": "EM"}
    )
    (corpus,) = tdms(data, folder=tmp_path)
    assert isinstance(corpus, FilesCorpus)
    first, second = corpus.questions
    assert first.text == "Which papers report F1 on D / E for named entity?"
    assert first.evidence == ((EvidencePiece(units=("p1",)), EvidencePiece(units=("p2",))),)
    assert second.evidence == ((EvidencePiece(units=("p1",)),),)
    assert "<h1>&lt;p1&gt;</h1>" in corpus.texts["p1"]


def test_pages_as_they_are_and_as_recognised(write: Write, tmp_path: Path) -> None:
    page = {"doc": "d", "page": 0, "text_gt": "Clean.", "text_mineru": "C1ean."}
    question = {"doc_name": "d", "ID": "i", "questions": "What?", "answers": "x", "evidence_page_no": 0}
    write("paperqa_ohrbench_pages.jsonl", page)
    data = write(
        "paperqa_ohrbench.jsonl", question | {"evidence_source": "Formula"}, question | {"evidence_page_no": 7}
    )
    error, clean, noisy = ohrbench(data, folder=tmp_path)
    assert "paperqa_ohrbench.jsonl:2: page 7 is out of range" in str(error)
    assert isinstance(clean, FilesCorpus)
    assert isinstance(noisy, FilesCorpus)
    assert list(clean.texts.values()) == ["Clean."]
    assert list(noisy.texts.values()) == ["C1ean."]
    assert [question.name for question in noisy.questions] == ["ohrbench-ocr/d/i"]
    assert [piece.kinds for piece in clean.questions[0].evidence[0]] == [("equation",)]
    write("paperqa_ohrbench_pages.jsonl", {"doc": "d", "page": 0, "text_gt": "Clean."})
    assert [corpus.name for corpus in ohrbench(data, folder=tmp_path) if isinstance(corpus, FilesCorpus)] == [
        "ohrbench"
    ]


def test_the_development_data_can_all_be_used(shared: Path, tmp_path: Path) -> None:
    corpora, bad = load_corpora(shared, folder=tmp_path)
    assert not bad
    asked = {corpus.name.partition("/")[0]: 0 for corpus in corpora}
    assert set(asked) == {"qasper", "argscichat", "mmlongbench", "ohrbench", "ohrbench-ocr", "tdms"}
    names = [question.name for corpus in corpora for question in corpus.questions]
    assert len(set(names)) == len(names)
    assert all(question.evidence and all(question.evidence) for corpus in corpora for question in corpus.questions)
