"""Scores the answers of a batch: the entry point `paperscope.scorers` of the product."""

from paperscope_core.types import Answer
from paperscope_lab.evaluation.answers.questions import GoldQuestion
from paperscope_lab.evaluation.answers.scoring import Cited, score_answer
from service.batch.question_files import Question

__all__ = ["score_question"]


def score_question(question: Question, answer: Answer) -> float:
    """Return how right an answer is by its question's gold, from 0 to 1.

    Raises:
        ValueError: The question has no gold.
    """
    if question.gold is None:
        raise ValueError("a question without gold can't be scored")
    asked = GoldQuestion(
        name=f"batch/questions/{question.index}",
        question=question.text,
        references=(question.gold.answer,),
        answerable=question.gold.answerable,
        answer_format=question.gold.form,
    )
    return score_answer(asked, answer, cited=Cited()).tallies["right"].share
