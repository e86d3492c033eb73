"""Answers of a batch held against the gold that its question file gives: by the rules of `paperscope eval answers`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluation import Tally
from evaluation.answers.question import GoldQuestion
from evaluation.answers.scoring import Cited, score_answer
from service.questions import Question
from service.rows import BatchRow

__all__ = ["BatchScores", "batch_scores", "scored"]

_RULE = "by rule, from the numbers, names and words of the gold; no model judged (paperscope eval answers asks a judge)"


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchScores:
    """How the rows with a gold answer came out; a row without an answer, or not asked yet, is not right.

    `answered` and `right` are of all of them, `right_of_answered` of those that were answered, `refused` of those that
    the papers don't answer. `rule` tells what judged.
    """

    answered: Tally
    right: Tally
    right_of_answered: Tally
    refused: Tally
    rule: str = _RULE


def scored(row: BatchRow, question: Question) -> BatchRow:
    """The row with the question's gold and how right it is, from 0 to 1; only lists may be right in part."""
    gold = question.gold
    if gold is None or row.answer is None:
        return replace(row, gold=gold, right=None)
    asked = GoldQuestion(
        name=f"batch/questions/{question.index}",
        question=question.text,
        references=(gold.answer,),
        answerable=gold.answerable,
        answer_format=gold.form,
    )
    score = score_answer(asked, row.answer, cited=Cited())
    return replace(row, gold=gold, right=score.tallies["right"].share)


def batch_scores(rows: Sequence[BatchRow]) -> BatchScores | None:
    """The figures over all rows; None where none has a gold answer."""
    of = [row for row in rows if row.gold is not None]
    answered = [row for row in of if row.status == "answered"]
    silent = [row for row in of if row.gold is not None and not row.gold.answerable]
    if not of:
        return None
    return BatchScores(
        answered=Tally(right=len(answered), total=len(of)),
        right=Tally(right=_right(of), total=len(of)),
        right_of_answered=Tally(right=_right(answered), total=len(answered)),
        refused=Tally(right=sum(row.status == "unanswerable" for row in silent), total=len(silent)),
    )


def _right(rows: Sequence[BatchRow]) -> float:
    return sum(row.right or 0.0 for row in rows)
