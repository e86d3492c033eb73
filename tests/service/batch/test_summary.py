"""Batches with gold answers: the evaluation's scores, per row and in the summary."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from paperscope_lab.evaluation.answers.questions import GoldQuestion
from paperscope_lab.evaluation.answers.scoring import Cited, score_answer
from paperscope_lab.evaluation.score import total

from paperscope.library import Library
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import ModelRefusedError
from paperscope_core.models import FakeModel
from paperscope_core.statistics import Tally
from paperscope_core.types import ModelRequest, Usage
from service.batch import BadQuestion, BatchResult, BatchRunner, BatchSummary, Gold, Question, summary_lines

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
    summary = result.summary
    assert (summary.questions, summary.answered, summary.unanswerable, summary.errors) == (8, 4, 2, 2)
    assert (summary.unasked, summary.resumed) == (0, 0)
    assert summary.usage == sum((row.answer.usage for row in result.rows if row.answer), Usage())
    assert summary.usage.calls > 0
    assert summary.scores is not None
    assert summary.scores.answered == Tally(right=3, total=6)
    assert summary.scores.right == Tally(right=2, total=6)
    assert summary.scores.right_of_answered == Tally(right=1, total=3)
    assert summary.scores.refused == Tally(right=1, total=2)


def test_the_figures_are_the_evaluations(result: BatchResult) -> None:
    """Compares with the answers suite over the same answers, without errors, which it does not count."""
    scores = [
        score_answer(
            GoldQuestion(
                name="docbench/a/1", question=row.question, references=(gold.answer,), answerable=gold.answerable
            ),
            row.answer,
            cited=Cited(),
        )
        for row in result.rows
        if row.answer is not None and (gold := row.gold) is not None
    ]
    tallies = total(scores).tallies
    found = result.summary.scores
    assert found is not None
    assert found.right.right == tallies["right"].right
    assert found.right_of_answered == tallies["right_of_answered"]
    assert found.answered.right == tallies["answered"].right
    assert found.refused.right == tallies["abstention.recall"].right


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
    summary = report.partition("\n---\n")[0]
    assert all(f"- {line}\n" in summary for line in lines)
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
