"""What a measurement is: tallies that add up, and the misses behind them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

__all__ = ["Miss", "Score", "Tally", "total"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """`right` of `total`; tallies of several items add up, so that a share over all is a micro average."""

    right: float
    total: float

    @property
    def share(self) -> float:
        """right / total; 1 where there was nothing to get right."""
        return self.right / self.total if self.total else 1.0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(right=self.right + other.right, total=self.total + other.total)


@dataclass(frozen=True, kw_only=True, slots=True)
class Miss:
    """One thing that is wrong: `what` in words ("Table 3, row 2"), what the gold says and what came out instead."""

    metric: str
    what: str
    gold: str
    got: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """The tallies of one item by metric, such as "tables.cells"."""

    tallies: Mapping[str, Tally] = field(default_factory=dict)
    misses: tuple[Miss, ...] = ()

    def __add__(self, other: "Score") -> "Score":
        return total((self, other))


def total(scores: Iterable[Score]) -> Score:
    """All tallies added up by metric, in the order of their first appearance, and all misses."""
    tallies: dict[str, Tally] = {}
    misses: list[Miss] = []
    for score in scores:
        for name, tally in score.tallies.items():
            tallies[name] = tallies[name] + tally if name in tallies else tally
        misses.extend(score.misses)
    return Score(tallies=tallies, misses=tuple(misses))
