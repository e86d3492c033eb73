"""The ways in that serve many questions: today the batch runner; the HTTP app comes here too."""

from service.batch import BatchRow, BatchRunner
from service.questions import BadQuestion, Question, load_questions
from service.report import render_report

__all__ = ["BadQuestion", "BatchRow", "BatchRunner", "Question", "load_questions", "render_report"]
