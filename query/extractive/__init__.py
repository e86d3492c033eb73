"""Answers without a language model."""

from query.extractive.answerer import ExtractiveAnswerer
from query.extractive.quoting import quotable_sentences

__all__ = ["ExtractiveAnswerer", "quotable_sentences"]
