"""Answers a file of questions and writes the results into a folder."""

from service.batch.question_files import BadQuestion, Gold, Question, load_questions, parse_questions
from service.batch.report import render_report
from service.batch.rows import BatchRow
from service.batch.runner import BatchEstimate, BatchResult, BatchRunner
from service.batch.summary import BatchScores, BatchSummary, summary_lines

__all__ = [
    "BadQuestion",
    "BatchEstimate",
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
