"""Measures what Paperscope does against gold: one command a suite, the same figures each time."""

from evaluation.values import Miss, Score, Tally

__all__ = ["Miss", "Score", "Tally"]
