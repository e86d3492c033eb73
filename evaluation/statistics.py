"""Bootstrap confidence intervals and paired permutation tests, seeded."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from evaluation.score import Tally

__all__ = ["Difference", "adjusted", "interval", "paired_difference"]


_RESAMPLES = 2000
_PERMUTATIONS = 4999
_LEVEL = 0.95
# Rows of resamples that are drawn at once.
_BATCH = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """B minus A over the items of both: the figures, the difference with its 95 % interval, and the test's p."""

    items: int
    a: float
    b: float
    low: float
    high: float
    p: float
    p_adjusted: float = 1.0

    @property
    def value(self) -> float:
        """B minus A."""
        return self.b - self.a


def interval(tallies: Sequence[Tally], *, seed: int) -> tuple[float, float]:
    """The 95 % interval of the tallies' common share: the percentile bootstrap over items (Efron & Tibshirani, 1993).

    With fewer than two items there is nothing to resample: both ends are the share.
    """
    if len(tallies) < 2:
        share = sum(tallies, Tally(right=0, total=0)).share
        return share, share
    shares = _shares(_columns(tallies), seed=seed)
    low, high = np.percentile(shares, _ends())
    return float(low), float(high)


def paired_difference(a: Sequence[Tally], b: Sequence[Tally], *, seed: int) -> Difference:
    """Two runs' tallies of the same items, in the same order.

    The interval is the paired bootstrap's. p is that of a two-sided paired permutation test (Fisher's randomization
    test): which of the two runs an item's tally came from is drawn anew; p counts the draws, and the data themselves,
    with a difference at least as large. Raises ValueError where there are no items, or not equally many.
    """
    if len(a) != len(b) or not a:
        raise ValueError(f"a paired test needs the same items in both runs, not {len(a)} and {len(b)}")
    one, two = _columns(a), _columns(b)
    low, high = np.percentile(_shares(two, seed=seed) - _shares(one, seed=seed), _ends())
    first, second = (float(_ratio(columns.sum(axis=0))) for columns in (one, two))
    return Difference(
        items=len(a), a=first, b=second, low=float(low), high=float(high), p=_permutation_p(one, two, seed=seed)
    )


def adjusted(p_values: Sequence[float]) -> list[float]:
    """p adjusted for testing several metrics at once (Benjamini & Hochberg, 1995)."""
    from scipy.stats import false_discovery_control

    return [float(p) for p in false_discovery_control(list(p_values))] if p_values else []


def _columns(tallies: Sequence[Tally]) -> NDArray[float64]:
    """Shape (items, 2): right and total."""
    return np.array([(tally.right, tally.total) for tally in tallies], dtype=float64)


def _ratio(sums: NDArray[float64]) -> NDArray[float64]:
    """right / total along the last axis; 1 where the total is 0, as `Tally.share` has it."""
    right, total = sums[..., 0], sums[..., 1]
    return np.where(total > 0, right / np.where(total > 0, total, 1), 1.0)


def _ends() -> list[float]:
    return [50 * (1 - _LEVEL), 100 - 50 * (1 - _LEVEL)]


def _shares(columns: NDArray[float64], *, seed: int) -> NDArray[float64]:
    """The share of each resample of the items; the same seed and number of items draw the same ones."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(_RESAMPLES // _BATCH):
        drawn = random.integers(len(columns), size=(_BATCH, len(columns)))
        found.append(_ratio(columns[drawn].sum(axis=1)))
    return np.concatenate(found)


def _permutation_p(one: NDArray[float64], two: NDArray[float64], *, seed: int) -> float:
    def apart(first: NDArray[float64], second: NDArray[float64]) -> NDArray[float64]:
        difference: NDArray[float64] = np.abs(_ratio(second) - _ratio(first))
        return difference

    observed = apart(one.sum(axis=0), two.sum(axis=0))
    random = np.random.default_rng(seed)
    total, change = one.sum(axis=0), two - one
    larger = 0
    for _ in range(0, _PERMUTATIONS, _BATCH):
        swapped = random.integers(2, size=(_BATCH, len(one))).astype(float64) @ change
        larger += int((apart(total + swapped, two.sum(axis=0) - swapped) >= observed - 1e-12).sum())
    draws = -(-_PERMUTATIONS // _BATCH) * _BATCH
    return (larger + 1) / (draws + 1)
