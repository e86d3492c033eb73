"""Everything that is known of a paper held against what the parser made of its file."""

from evaluation.gold.values import Gold
from evaluation.parsing.captions import score_captions
from evaluation.parsing.counts import score_counts
from evaluation.parsing.headings import score_headings
from evaluation.parsing.lookups import score_lookups
from evaluation.parsing.order import score_order
from evaluation.parsing.page_tests import score_page_tests
from evaluation.parsing.references import score_references
from evaluation.parsing.tables import score_tables
from evaluation.values import Score, total
from paperscope_core.types import Paper

__all__ = ["score_paper"]


_SCORERS = (
    score_tables,
    score_lookups,
    score_captions,
    score_headings,
    score_order,
    score_references,
    score_counts,
    score_page_tests,
)


def score_paper(paper: Paper, gold: Gold) -> Score:
    """All that the gold knows, scored; what it doesn't know leaves no tally."""
    return total(scorer(paper, gold) for scorer in _SCORERS)
