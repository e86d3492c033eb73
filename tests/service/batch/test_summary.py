"""Batches with gold answers: scores per row and in the summary, and what is said where nothing scores answers."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from paperscope.library import Library
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import ModelRefusedError
from paperscope_core.models import FakeModel
from paperscope_core.types import Answer, ModelRequest, Usage
from service.batch import BadQuestion, BatchResult, BatchRunner, BatchSummary, Gold, Question, summary, summary_lines
from service.batch.summary import Share

MakeLibrary = Callable[[FakeModel | None], Library]

GOLDS = [
    ("What F1 does the tagger reach?", Gold(answer="0.83")),
    ("What F1 does the tagger reach in Table 1?", Gold(answer="0.91")),
    ("silent: on which GPU was it trained?", Gold(answer="The paper does not say.", answerable=False)),
    ("silent: what is its F1?", Gold(answer="0.83")),
    ("Who trained it?", Gold(answer="", answerable=False)),
    ("forbidden: what is the F1?", Gold(answer="0.83")),
    ("Which models are there?", None),
]


def reply(request: ModelRequest) -> str:
    asked = request.messages[-1].text
    if "forbidden" in asked:
        raise ModelRefusedError("the model refuses; ask something else")
    if any(message.images for message in request.messages):
        return json.dumps({"pictures": [{"picture": 1, "relevant": False, "finding": "Nothing.", "agrees": False}]})
    if "silent" in asked:
        return json.dumps({"status": "unanswerable", "answer": "The papers do not say.", "claims": []})
    claims = [{"text": "The F1 is 0.83.", "evidence": ["S0"]}]
    return json.dumps({"status": "answered", "answer": "The F1 is 0.83.", "claims": claims})


def is_right(question: Question, answer: Answer) -> float:
    assert question.gold is not None
    if answer.status != "answered" or not question.gold.answerable:
        return float(answer.status != "answered" and not question.gold.answerable)
    return float(question.gold.answer in answer.text)


@pytest.fixture(autouse=True)
def scorer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores answers in place of the laboratory."""
    monkeypatch.setattr(summary, "_scorer", lambda: is_right)


@pytest.fixture
def result(make_library: MakeLibrary, tmp_path: Path) -> BatchResult:
    questions: list[Question | BadQuestion] = [
        Question(index=index, text=text, gold=gold) for index, (text, gold) in enumerate(GOLDS)
    ]
    questions.append(BadQuestion(index=len(GOLDS), text="{", reason="q.jsonl:8: not JSON: '{'"))
    return BatchRunner(make_library(FakeModel(reply)), out=tmp_path / "out").run(questions)


def test_each_row_says_how_right_it_is(result: BatchResult, tmp_path: Path) -> None:
    assert [row.right for row in result.rows] == [1.0, 0.0, 1.0, 0.0, 0.0, None, None, None]
    rows = [json.loads(line) for line in (tmp_path / "out" / "answers.jsonl").read_text().splitlines()]
    assert [row["right"] for row in rows] == [row.right for row in result.rows]
    assert [row["gold"] for row in rows] == [*(gold.answer if gold else None for _, gold in GOLDS), None]


def test_the_summary_counts_an_error_as_not_right(result: BatchResult) -> None:
    found = result.summary
    assert (found.questions, found.answered, found.unanswerable, found.errors) == (8, 4, 2, 2)
    assert (found.unasked, found.resumed) == (0, 0)
    assert found.usage == sum((row.answer.usage for row in result.rows if row.answer), Usage())
    assert found.usage.calls > 0
    assert found.scores is not None
    assert found.scores.answered == Share(right=3, total=6)
    assert found.scores.right == Share(right=2, total=6)
    assert found.scores.right_of_answered == Share(right=1, total=3)
    assert found.scores.refused == Share(right=1, total=2)
    assert found.unscored == 0


def test_the_summary_as_text_as_json_and_in_the_report(result: BatchResult, tmp_path: Path) -> None:
    lines = summary_lines(result.summary)
    assert lines[0] == "8 questions: 4 answered, 2 unanswerable, 2 in error"
    assert lines[1] == (
        "against 6 gold answers: right 2 of 6 (33%), right of answered 1 of 3 (33%), rightly refused 1 of 2 (50%)"
    )
    assert "by rule" in lines[2]
    assert "no model judged" in lines[2]
    assert str(result.summary.usage) in lines[3]
    assert from_json(BatchSummary, to_json(result.summary)) == result.summary
    report = (tmp_path / "out" / "report.md").read_text()
    head = report.partition("\n---\n")[0]
    assert all(f"- {line}\n" in head for line in lines)
    assert "**Gold**: 0.91 _(right: 0)_" in report
    assert "**Gold**: the papers do not say _(right: 0)_" in report
    assert report.count("**Gold**: ") == 6


def test_without_gold_nothing_is_said_of_it(make_library: MakeLibrary, tmp_path: Path) -> None:
    questions: list[Question | BadQuestion] = [Question(index=0, text="Which models are there?")]
    result = BatchRunner(make_library(FakeModel(reply)), out=tmp_path / "out").run(questions)
    assert result.summary.scores is None
    assert "gold" not in "\n".join(summary_lines(result.summary))
    assert "Gold" not in (tmp_path / "out" / "report.md").read_text()


def test_gold_that_was_mended_scores_a_kept_row_anew(make_library: MakeLibrary, tmp_path: Path) -> None:
    library = make_library(FakeModel(reply))

    def right(gold: str) -> tuple[float | None, bool]:
        question = Question(index=0, text="What F1 does the tagger reach?", gold=Gold(answer=gold))
        [row] = BatchRunner(library, out=tmp_path / "out").run([question]).rows
        return row.right, row.resumed

    assert [right("0.91"), right("0.83")] == [(0.0, False), (1.0, True)]


def test_without_the_laboratory_gold_is_kept_and_not_scored(
    make_library: MakeLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "_scorer", lambda: None)
    questions: list[Question | BadQuestion] = [
        Question(index=index, text=text, gold=gold) for index, (text, gold) in enumerate(GOLDS)
    ]
    result = BatchRunner(make_library(FakeModel(reply)), out=tmp_path / "out").run(questions)
    assert {row.right for row in result.rows} == {None}
    assert (result.summary.scores, result.summary.unscored) == (None, 6)
    assert "6 gold answers were not compared; to score, install paperscope-lab (./lab)" in summary_lines(result.summary)
    assert "**Gold**: 0.91\n" in (tmp_path / "out" / "report.md").read_text()
