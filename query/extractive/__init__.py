"""Answers without a language model."""

from query.extractive.answerer import ExtractiveAnswerer, show_each_paper

__all__ = ["ExtractiveAnswerer", "show_each_paper"]
