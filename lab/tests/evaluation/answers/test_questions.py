"""Reading questions: good lines become questions, each bad one a message with file and line."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.answers.questions import GoldQuestion, read_questions
from paperscope_lab.evaluation.gold.text_papers import TextSection, text_paper

from paperscope_core.codec import from_json, to_json
from paperscope_core.types import Paper

Line = Mapping[str, object] | str

MMLB = {
    "id": "q1",
    "doc": "a.pdf",
    "question": "How many?",
    "answer": "2",
    "answer_format": "Int",
    "evidence_pages": [1],
    "evidence_sources": ["Chart", "Pure-text (Plain-text)"],
    "answerable": True,
}
OHR = {
    "doc_name": "paper/b",
    "ID": "u1",
    "questions": "Which?",
    "answers": "That one.",
    "answer_form": "Short Answer",
    "evidence_source": "table",
    "evidence_context": "That one.",
    "evidence_page_no": 0,
}


def write(file: Path, *lines: Line) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))


def read(data: Path, work: Path) -> tuple[list[GoldQuestion], list[str]]:
    found = list(read_questions(data, work))
    bad = [str(one) for one in found if isinstance(one, GoldFileError)]
    return [one[0] for one in found if not isinstance(one, GoldFileError)], bad


def says(bad: Sequence[str], *parts: str) -> None:
    assert len(bad) == len(parts), bad
    for part in parts:
        assert any(part in message for message in bad), part


@pytest.fixture
def pdf(root: Path) -> Path:
    """A PDF with several pages."""
    return root / "examples" / "paper" / "ner-report.pdf"


def test_a_folder_without_questions_has_none(tmp_path: Path) -> None:
    assert read(tmp_path, tmp_path / "work") == ([], [])
    assert not (tmp_path / "work").exists()


def test_question_files_lie_beside_their_paper(tmp_path: Path, pdf: Path) -> None:
    own, bench = tmp_path / "papers" / "mine", tmp_path / "papers" / "docbench" / "7"
    write(
        own / "questions.jsonl",
        {"question": "Q", "answer": 0.5, "type": "multimodal-t", "evidence_pages": [2], "answer_format": "Float"},
        "",
        {"question": "Q", "answer": ["a", "b"]},
        {"question": "Q", "answer": "It does not say.", "answerable": False},
        {"question": "Q", "answer": "Not given.", "type": "una-web"},
        {"question": "Q"},
        {"question": "Q", "answer": "A", "evidence_pages": [99]},
    )
    shutil.copy(pdf, own / "paper.pdf")
    write(bench / "7_qa.jsonl", {"question": "Q", "answer": "A", "type": "text-only", "evidence": "x"})
    shutil.copy(pdf, bench / "report.pdf")
    write(tmp_path / "papers" / "lonely" / "questions.jsonl", {"question": "Q", "answer": "A"})
    questions, bad = read(tmp_path, tmp_path / "work")
    assert [question.name for question in questions] == [
        "docbench/7/1",
        "docbench/mine/1",
        "docbench/mine/3",
        "docbench/mine/4",
        "docbench/mine/5",
    ]
    first = questions[1]
    assert (first.references, first.answer_format, first.kinds) == (("0.5",), "Float", ("table",))
    assert first.pages == ((own / "paper.pdf", 2),)
    assert questions[2].references == ("['a', 'b']",)
    assert questions[2].answer_format == "List"
    assert [question.answerable for question in questions] == [True, True, True, False, False]
    says(
        bad,
        "lonely/questions.jsonl:1: unknown paper",
        "questions.jsonl:7: page 99 is out of range",
        "questions.jsonl:6: field 'answer' is missing",
    )


def test_mmlongbench_is_asked_of_its_pdfs(tmp_path: Path, pdf: Path) -> None:
    write(
        tmp_path / "eval" / "paperqa_mmlongbench.jsonl",
        MMLB,
        MMLB | {"doc": "none.pdf"},
        MMLB | {"evidence_pages": [0]},
        MMLB | {"answer_format": "Maybe"},
    )
    region = {"page": 1, "page_size": [595.0, 842.0], "box": [10, 20, 30, 40]}
    regions = {"doc": "a.pdf", "question": MMLB["question"], "answer": "2", "pages": [1], "regions": [region]}
    write(tmp_path / "eval" / "regions_mmdocir.jsonl", regions)
    (tmp_path / "papers" / "mmlongbench").mkdir(parents=True)
    shutil.copy(pdf, tmp_path / "papers" / "mmlongbench" / "a.pdf")
    questions, bad = read(tmp_path, tmp_path / "work")
    assert [question.name for question in questions] == ["mmlongbench/a/q1"]
    assert questions[0].kinds == ("figure", "text")
    assert [(page, box) for _, page, box in questions[0].regions] == [(1, (10.0, 20.0, 30.0, 40.0))]
    says(bad, "jsonl:2: unknown paper 'none.pdf'", "jsonl:3: page 0 is out of range", "jsonl:4: Input should be 'Int'")


def test_ohrbench_is_asked_of_one_library_of_all_pages(tmp_path: Path) -> None:
    page = {"doc": "paper/b", "page": 0, "text_gt": "# T\n\nThat one.", "text_mineru": "That 0ne."}
    write(tmp_path / "eval" / "paperqa_ohrbench_pages.jsonl", page, page | {"page": 1, "text_gt": "End."}, "{")
    write(
        tmp_path / "eval" / "paperqa_ohrbench.jsonl",
        OHR,
        OHR | {"evidence_page_no": [0, 1], "ID": "u2"},
        OHR | {"doc_name": "paper/c"},
        OHR | {"evidence_page_no": 2},
    )
    work = tmp_path / "work"
    questions, bad = read(tmp_path, work)
    assert [question.name for question in questions] == ["ohrbench/b/u1", "ohrbench/b/u2"]
    files = [file for file, _ in questions[1].pages]
    assert [file.read_text() for file in files] == ["# T\n\nThat one.", "End."]
    sources = [one[1] for one in read_questions(tmp_path, work) if not isinstance(one, GoldFileError)]
    assert sources[0].files == sources[1].files == tuple(files)
    says(bad, "pages.jsonl:3: Invalid JSON", "jsonl:3: unknown paper 'paper/c'", "jsonl:4: page 2 is out of range")


def test_qasper_keeps_every_annotator(tmp_path: Path) -> None:
    none: dict[str, object] = {
        "unanswerable": False,
        "extractive_spans": [],
        "yes_no": None,
        "free_form_answer": "",
        "evidence": [],
    }
    answers = [
        none | {"extractive_spans": ["x", "y"], "evidence": ["P.", "FLOAT SELECTED: Table 1"]},
        none | {"yes_no": False},
        none | {"unanswerable": True},
    ]
    qas = {
        "question": ["Q1", "Q2", "Q3"],
        "question_id": ["1", "2", "3"],
        "answers": [{"answer": answers}, {"answer": answers[2:]}, {"answer": [none]}],
    }
    text = {"section_name": ["A ::: B", None], "paragraphs": [["P.", ""], ["Q."]]}
    line: dict[str, object] = {"id": "p", "title": "T", "abstract": "S.", "full_text": text, "qas": qas}
    write(
        tmp_path / "eval" / "paperqa_qasper10_raw.jsonl",
        line,
        line | {"qas": qas | {"question_id": []}},
        {"id": "x"},
    )
    questions, bad = read(tmp_path, tmp_path / "work")
    assert [(question.name, question.answerable) for question in questions] == [
        ("qasper/p/1", True),
        ("qasper/p/2", False),
    ]
    assert questions[0].references == ("x, y", "No", "Unanswerable")
    assert questions[0].evidence == (("P.",), (), ())
    says(
        bad,
        "jsonl:1: the question '3' has no answer",
        "jsonl:2: 'qas' has not as many answers",
        "jsonl:3: field 'title' is missing",
    )


def test_a_paper_of_texts_keeps_its_paragraphs_word_for_word() -> None:
    section = TextSection(path=("A", "B"), paragraphs=("One.", " ", "Two."))
    paper = text_paper("name", title="T", sections=[section])
    assert [element.text for element in paper.elements if element.kind == "passage"] == ["T", "One.", "Two."]
    assert paper.sections[0].path == "A > B"
    assert paper.elements[1].section == paper.sections[0].id
    assert from_json(Paper, to_json(paper)) == paper
    assert text_paper("name", title="U", sections=[section]).id != paper.id
