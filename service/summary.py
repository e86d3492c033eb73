"""What came of a batch, in figures and in words."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation import Tally
from paperscope.types import Usage
from service.rows import BatchRow
from service.scoring import BatchScores, batch_scores

__all__ = ["BatchSummary", "summarise", "summary_lines"]


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
        lines += _scores(summary.scores)
    return [*lines, f"{summary.usage}; {summary.seconds:.1f} s"]


def _scores(scores: BatchScores) -> list[str]:
    parts = [f"right {_share(scores.right)}", f"right of answered {_share(scores.right_of_answered)}"]
    if scores.refused.total:
        parts.append(f"rightly refused {_share(scores.refused)}")
    return [f"against {scores.right.total:g} gold answers: {', '.join(parts)}", f"judged {scores.rule}"]


def _share(tally: Tally) -> str:
    share = f" ({tally.share:.0%})" if tally.total else ""
    return f"{round(tally.right, 2):g} of {tally.total:g}{share}"
