"""Set and cluster measures: precision, recall, F1, B-cubed, MUC, as tallies that add up."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from paperscope_lab.evaluation.score import Tally

__all__ = ["b_cubed", "best_assignment", "muc", "overlap", "set_overlap"]

A = TypeVar("A")
T = TypeVar("T", bound=Hashable)
Clusters = Sequence[Collection[T]]


def overlap(*, right: float, gold: float, predicted: float) -> Mapping[str, Tally]:
    """The tallies "precision", "recall" and "f1" of `right` hits among `predicted` and `gold` items.

    F1 is 2·right / (predicted + gold), the harmonic mean of the other two (van Rijsbergen, 1979); sums of tallies are
    micro averages. Precision is 1 if nothing was predicted, like every empty tally.
    """
    return {
        "precision": Tally(right=right, total=predicted),
        "recall": Tally(right=right, total=gold),
        "f1": Tally(right=2 * right, total=predicted + gold),
    }


def set_overlap(gold: Collection[T], predicted: Collection[T]) -> Mapping[str, Tally]:
    """The overlap of two sets; duplicates count once."""
    one, two = set(gold), set(predicted)
    return overlap(right=len(one & two), gold=len(one), predicted=len(two))


def best_assignment(gold: Sequence[A], predicted: Sequence[A], *, worth: Callable[[A, A], float]) -> float:
    """The summed worth of the one-to-one assignment of gold to predicted items with the greatest sum."""
    if not gold or not predicted:
        return 0.0
    worths = np.array([[worth(one, two) for two in predicted] for one in gold], dtype=float)
    # Imported here so that starting the service or a worker doesn't load it.
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(worths, maximize=True)
    return float(worths[rows, columns].sum())


def b_cubed(gold: Clusters[T], predicted: Clusters[T]) -> Mapping[str, Tally]:
    """The tallies "precision" (over the predicted mentions) and "recall" (over the gold ones) of B³.

    Bagga & Baldwin, Algorithms for Scoring Coreference Chains (1998), with equal weights: a mention scores the share of
    its cluster that belongs there. A mention that the other side lacks scores 0. A mention in several clusters is kept
    in the first.
    """
    return {"precision": _b_cubed(predicted, gold), "recall": _b_cubed(gold, predicted)}


def _b_cubed(clusters: Clusters[T], others: Clusters[T]) -> Tally:
    groups, others = _disjoint(clusters), _disjoint(others)
    right = sum(len(group & other) ** 2 / len(group) for group in groups for other in others)
    return Tally(right=right, total=sum(map(len, groups)))


def muc(gold: Clusters[T], predicted: Clusters[T]) -> Mapping[str, Tally]:
    """The tallies "precision" and "recall" of the MUC-6 score: the links of one side that the other has, too.

    Vilain et al., A Model-Theoretic Coreference Scoring Scheme (1995). Clusters of one mention have no links.
    """
    return {"precision": _links(predicted, gold), "recall": _links(gold, predicted)}


def _links(clusters: Clusters[T], others: Clusters[T]) -> Tally:
    groups, others = _disjoint(clusters), _disjoint(others)
    right = sum(max(len(group & other) - 1, 0) for group in groups for other in others)
    return Tally(right=right, total=sum(len(group) - 1 for group in groups))


def _disjoint(clusters: Clusters[T]) -> list[set[T]]:
    seen: set[T] = set()
    groups = []
    for cluster in clusters:
        group = set(cluster) - seen
        seen |= group
        if group:
            groups.append(group)
    return groups
