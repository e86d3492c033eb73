"""Numbers of a paper that do not fit together: `Discrepancy`."""

from dataclasses import dataclass
from typing import Literal

from paperscope_core.types import Evidence

__all__ = ["Discrepancy", "DiscrepancyKind"]

DiscrepancyKind = Literal["total", "mean", "percentage", "f1", "cited_value", "bold", "grim", "p_value"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Discrepancy:
    """Numbers of a paper that do not fit together. Which of them is wrong, if any, is for the reader to say.

    Attributes:
        kind: A "total" is not the sum of its terms, a "mean" not their mean, a "percentage" not that of its counts, an
            "f1" not that of its precision and recall; the text states a "cited_value" that the cell does not print; a
            value in "bold" is not the best one; no whole numbers have such a mean ("grim"); a "p_value" does not
            belong to its test statistic.
        arithmetic: What was computed, with the printed values: "12 + 15 = 27, printed: 28".
        evidence: The value in question first, then what it was computed from, each with its place.
    """

    kind: DiscrepancyKind
    arithmetic: str
    evidence: tuple[Evidence, ...]

    def __str__(self) -> str:
        return self.arithmetic
