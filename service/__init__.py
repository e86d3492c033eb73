"""The ways in that serve many questions: today the batch runner; the HTTP app comes here too."""

from service.batch import BatchResult, BatchRunner
from service.questions import BadQuestion, Gold, Question, load_questions, parse_questions
from service.report import render_report
from service.rows import BatchRow
from service.scoring import BatchScores
from service.summary import BatchSummary, summary_lines

__all__ = [
    "BadQuestion",
    "BatchResult",
    "BatchRow",
    "BatchRunner",
    "BatchScores",
    "BatchSummary",
    "Gold",
    "Question",
    "load_questions",
    "parse_questions",
    "render_report",
    "summary_lines",
]
