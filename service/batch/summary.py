"""Scores of a batch against gold answers, and its summary."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluation import Tally
from evaluation.answers.questions import GoldQuestion
from evaluation.answers.scoring import Cited, score_answer
from paperscope_core.types import Usage
from service.batch.questions import Question
from service.batch.rows import BatchRow

__all__ = ["BatchScores", "BatchSummary", "batch_scores", "score_row", "summarise", "summary_lines"]


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


def score_row(row: BatchRow, question: Question) -> BatchRow:
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
        right=Tally(right=_sum_right(of), total=len(of)),
        right_of_answered=Tally(right=_sum_right(answered), total=len(answered)),
        refused=Tally(right=sum(row.status == "unanswerable" for row in silent), total=len(silent)),
    )


def _sum_right(rows: Sequence[BatchRow]) -> float:
    return sum(row.right or 0.0 for row in rows)


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchSummary:
    """Counts of questions by what became of them, and what they took.

    `unasked` are those that a stop left for another run, `resumed` those whose rows come from an earlier one. `usage`
    is that of all rows, `seconds` how long this run took. `scores` is None where no question has a gold answer.
    """

    questions: int
    answered: int
    unanswerable: int
    errors: int
    unasked: int
    resumed: int
    usage: Usage
    seconds: float
    scores: BatchScores | None = None


def summarise(rows: Sequence[BatchRow], *, questions: int, seconds: float) -> BatchSummary:
    """The summary of so many questions, of which these rows are there."""
    counts = Counter(row.status for row in rows)
    return BatchSummary(
        questions=questions,
        answered=counts["answered"],
        unanswerable=counts["unanswerable"],
        errors=counts["error"],
        unasked=questions - len(rows),
        resumed=sum(row.resumed for row in rows),
        usage=sum((row.usage for row in rows), Usage()),
        seconds=seconds,
        scores=batch_scores(rows),
    )


def summary_lines(summary: BatchSummary) -> list[str]:
    """The summary for people, a line for each thing that it tells."""
    counts = {
        "answered": summary.answered,
        "unanswerable": summary.unanswerable,
        "in error": summary.errors,
        "not asked yet": summary.unasked,
    }
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    earlier = f" ({summary.resumed} from an earlier run)" if summary.resumed else ""
    many = "question" if summary.questions == 1 else "questions"
    lines = [f"{summary.questions} {many}: {told}{earlier}"]
    if summary.scores:
        lines += _score_lines(summary.scores)
    return [*lines, f"{summary.usage}; {summary.seconds:.1f} s"]


def _score_lines(scores: BatchScores) -> list[str]:
    parts = [f"right {_share(scores.right)}", f"right of answered {_share(scores.right_of_answered)}"]
    if scores.refused.total:
        parts.append(f"rightly refused {_share(scores.refused)}")
    return [f"against {scores.right.total:g} gold answers: {', '.join(parts)}", f"judged {scores.rule}"]


def _share(tally: Tally) -> str:
    share = f" ({tally.share:.0%})" if tally.total else ""
    return f"{round(tally.right, 2):g} of {tally.total:g}{share}"
