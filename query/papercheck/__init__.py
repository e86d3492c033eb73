"""Recomputes the numbers of one paper, and returns those that do not fit together."""

from query.papercheck.discrepancies import Discrepancy, DiscrepancyKind
from query.papercheck.paper_check import check_paper

__all__ = ["Discrepancy", "DiscrepancyKind", "check_paper"]
