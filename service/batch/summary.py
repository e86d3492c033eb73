"""The scores of a batch against gold answers, and its summary."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points

from paperscope_core.types import Answer, Usage
from service.batch.question_files import Question
from service.batch.rows import BatchRow

__all__ = ["BatchScores", "BatchSummary", "Share", "score_row", "summarize", "summary_lines"]

# paperscope-lab names the function that scores answers here.
_SCORERS = "paperscope.scorers"
_RULE = "by rule, from the numbers, names and words of the gold; no model judged (paperscope eval answers asks a judge)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """`right` of `total`, as in "2 of 3 (67%)"."""

    right: float
    total: int

    def __str__(self) -> str:
        percent = f" ({self.right / self.total:.0%})" if self.total else ""
        return f"{round(self.right, 2):g} of {self.total}{percent}"


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchScores:
    """The scores of the rows with a gold answer. A row without an answer counts as not right.

    Attributes:
        right_of_answered: The share of the answered questions that were answered correctly.
        refused: The share of the unanswerable questions that were not answered.
        rule: The rule that judged the answers.
    """

    answered: Share
    right: Share
    right_of_answered: Share
    refused: Share
    rule: str = _RULE


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchSummary:
    """The number of questions by outcome, their usage and duration.

    Attributes:
        unasked: Questions that a cancelled run left for the next one.
        resumed: Questions whose rows come from an earlier run.
        scores: None if no question has a gold answer, or nothing scores answers.
        unscored: Questions with a gold answer that nothing scored, because paperscope-lab is not installed.
    """

    questions: int
    answered: int
    evidence: int
    unanswerable: int
    errors: int
    unasked: int
    resumed: int
    usage: Usage
    seconds: float
    scores: BatchScores | None = None
    unscored: int = 0


def score_row(row: BatchRow, question: Question) -> BatchRow:
    """Return the row with the question's gold, and with its score if the laboratory is installed."""
    gold, score = question.gold, _scorer()
    if gold is None or row.answer is None or score is None:
        return replace(row, gold=gold, right=None)
    return replace(row, gold=gold, right=score(question, row.answer))


@cache
def _scorer() -> Callable[[Question, Answer], float] | None:
    """Return what scores an answer by the rules of `paperscope eval answers`, 0 to 1; None without the laboratory."""
    return next((found.load() for found in entry_points(group=_SCORERS, name="answers")), None)


def summarize(rows: Sequence[BatchRow], *, questions: int, seconds: float) -> BatchSummary:
    """Return the summary of a run over `questions` questions, which took `seconds`."""
    counts = Counter(row.status for row in rows)
    with_gold = [row for row in rows if row.gold is not None]
    can_score = _scorer() is not None
    return BatchSummary(
        questions=questions,
        answered=counts["answered"],
        evidence=counts["evidence"],
        unanswerable=counts["unanswerable"],
        errors=counts["error"],
        unasked=questions - len(rows),
        resumed=sum(row.resumed for row in rows),
        usage=sum((row.usage for row in rows), Usage()),
        seconds=seconds,
        scores=_scores(with_gold) if with_gold and can_score else None,
        unscored=0 if can_score else len(with_gold),
    )


def _scores(scored: Sequence[BatchRow]) -> BatchScores:
    answered = [row for row in scored if row.status == "answered"]
    unanswerable = [row for row in scored if row.gold is not None and not row.gold.answerable]
    return BatchScores(
        answered=Share(right=len(answered), total=len(scored)),
        right=Share(right=_sum_right(scored), total=len(scored)),
        right_of_answered=Share(right=_sum_right(answered), total=len(answered)),
        refused=Share(
            right=sum(row.status != "answered" and row.answer is not None for row in unanswerable),
            total=len(unanswerable),
        ),
    )


def _sum_right(rows: Sequence[BatchRow]) -> float:
    return sum(row.right or 0.0 for row in rows)


def summary_lines(summary: BatchSummary) -> list[str]:
    """Return the summary as text, a line for each item."""
    counts = {
        "answered": summary.answered,
        "with evidence only": summary.evidence,
        "unanswerable": summary.unanswerable,
        "in error": summary.errors,
        "not asked yet": summary.unasked,
    }
    outcomes = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    earlier = f" ({summary.resumed} from an earlier run)" if summary.resumed else ""
    noun = "question" if summary.questions == 1 else "questions"
    lines = [f"{summary.questions} {noun}: {outcomes}{earlier}"]
    if scores := summary.scores:
        parts = [f"right {scores.right}", f"right of answered {scores.right_of_answered}"]
        if scores.refused.total:
            parts.append(f"rightly refused {scores.refused}")
        lines += [f"against {scores.right.total} gold answers: {', '.join(parts)}", f"judged {scores.rule}"]
    if summary.unscored:
        noun = "answer was" if summary.unscored == 1 else "answers were"
        lines.append(f"{summary.unscored} gold {noun} not compared; to score, install paperscope-lab (./lab)")
    return [*lines, f"{summary.usage}; {summary.seconds:.1f} s"]
