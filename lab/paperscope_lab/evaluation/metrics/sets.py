"""Set measures: precision, recall, F1, as tallies that add up."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from paperscope_lab.evaluation.score import Tally

__all__ = ["best_assignment", "overlap", "set_overlap"]

A = TypeVar("A")
T = TypeVar("T", bound=Hashable)


def overlap(*, right: float, gold: float, predicted: float) -> Mapping[str, Tally]:
    """Return the tallies "precision", "recall" and "f1" of `right` hits among `predicted` and `gold` items.

    F1 is 2·right / (predicted + gold), the harmonic mean of the other two (van Rijsbergen, 1979); sums of tallies are
    micro averages. Precision is 1 if nothing was predicted, like every empty tally.
    """
    return {
        "precision": Tally(right=right, total=predicted),
        "recall": Tally(right=right, total=gold),
        "f1": Tally(right=2 * right, total=predicted + gold),
    }


def set_overlap(gold: Collection[T], predicted: Collection[T]) -> Mapping[str, Tally]:
    """Return the overlap of two sets; duplicates count once."""
    one, two = set(gold), set(predicted)
    return overlap(right=len(one & two), gold=len(one), predicted=len(two))


def best_assignment(gold: Sequence[A], predicted: Sequence[A], *, worth: Callable[[A, A], float]) -> float:
    """Return the summed worth of the one-to-one assignment of gold to predicted items with the greatest sum."""
    if not gold or not predicted:
        return 0.0
    worths = np.array([[worth(one, two) for two in predicted] for one in gold], dtype=float)
    # Imported here so that starting the service or a worker doesn't load it.
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(worths, maximize=True)
    return float(worths[rows, columns].sum())
