"""The parsing suite: what the parser reads from papers, scored against gold."""

from paperscope_lab.evaluation.parsing.suite import score_paper

__all__ = ["score_paper"]
