"""Recomputes the numbers of one paper, and returns those that do not fit together."""

from query.papercheck.paper_check import check_paper
from query.papercheck.table_checks import Discrepancy, DiscrepancyKind

__all__ = ["Discrepancy", "DiscrepancyKind", "check_paper"]
