"""Answers without a language model."""

from query.extractive.answerer import ExtractiveAnswerer

__all__ = ["ExtractiveAnswerer"]
