"""Scores of parsing: pure functions over a `Paper` and its `Gold`."""

from evaluation.parsing.paper import score_paper

__all__ = ["score_paper"]
