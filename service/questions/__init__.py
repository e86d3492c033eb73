"""Question files: JSON lines (DocBench's `*_qa.jsonl` among them), CSV, or a plain list of one question a line."""

from service.questions.question import BadQuestion, Gold, Question
from service.questions.reading import load_questions, parse_questions

__all__ = ["BadQuestion", "Gold", "Question", "load_questions", "parse_questions"]
