"""Answers without a language model."""

from query.extractive.answerer import EmbeddedAnswerer
from query.extractive.weighed import weighed_texts

__all__ = ["EmbeddedAnswerer", "weighed_texts"]
