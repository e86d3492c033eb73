"""A batch whose questions have gold answers gets the figures of the answers suite."""

from importlib.metadata import entry_points

import pytest
from paperscope_lab.evaluation.answers.batches import score_question
from paperscope_lab.evaluation.answers.questions import GoldQuestion
from paperscope_lab.evaluation.answers.scoring import Cited, score_answer

from paperscope_core.types import Answer, Context
from service.batch import Gold, Question


@pytest.mark.parametrize(
    ("gold", "text", "status"),
    [
        (Gold(answer="0.83"), "The F1 is 0.83.", "answered"),
        (Gold(answer="0.91"), "The F1 is 0.83.", "answered"),
        (Gold(answer="", answerable=False), "The papers do not say.", "unanswerable"),
        (Gold(answer="", answerable=False), "The F1 is 0.83.", "answered"),
        (Gold(answer="0.83"), "The papers do not say.", "unanswerable"),
    ],
)
def test_a_score_is_that_of_the_answers_suite(gold: Gold, text: str, status: str) -> None:
    [registered] = entry_points(group="paperscope.scorers", name="answers")
    assert registered.load() is score_question
    answer = Answer(question="What F1?", status=status, text=text, claims=(), context=Context())  # type: ignore[arg-type]
    asked = GoldQuestion(
        name="docbench/a/1", question="What F1?", references=(gold.answer,), answerable=gold.answerable
    )
    right = score_answer(asked, answer, cited=Cited()).tallies["right"].share
    assert score_question(Question(index=0, text="What F1?", gold=gold), answer) == right
    assert right == float((gold.answer in text) if gold.answerable else status == "unanswerable")
