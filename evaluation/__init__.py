"""Evaluation suites: score Paperscope against gold data, and compare it with other systems."""

from evaluation.score import Miss, Score, Tally

__all__ = ["Miss", "Score", "Tally"]
