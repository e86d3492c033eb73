"""Scores: tallies that add up over items, and the misses behind the figures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from paperscope_lab.statistics import Tally

__all__ = ["ItemResult", "Miss", "Score", "Tally", "score_checks", "total"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Miss:
    """One error: what it concerns ("Table 3, row 2"), what the gold says, and what was found instead."""

    metric: str
    what: str
    gold: str
    got: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """The tallies of one item by metric, such as "tables.cells".

    Metrics that start with "seconds" are times, which vary between runs. `details` describe the item for readers of the
    results: the question, the answer, its citations.
    """

    tallies: Mapping[str, Tally] = field(default_factory=dict)
    misses: tuple[Miss, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)

    def __add__(self, other: "Score") -> "Score":
        return total((self, other))


def total(scores: Iterable[Score]) -> Score:
    """Return the sum of the tallies by metric, in order of first appearance, and all misses and details."""
    tallies: dict[str, Tally] = {}
    misses: list[Miss] = []
    details: dict[str, str] = {}
    for score in scores:
        for name, tally in score.tallies.items():
            tallies[name] = tallies[name] + tally if name in tallies else tally
        misses.extend(score.misses)
        details.update(score.details)
    return Score(tallies=tallies, misses=tuple(misses), details=details)


def score_checks(checks: Mapping[str, bool], *, what: str, gold: str, got: str = "") -> Score:
    """Return a tally of 1 for each check by metric, and a miss for each that failed."""
    return Score(
        tallies={metric: Tally(right=passed, total=1) for metric, passed in checks.items()},
        misses=tuple(Miss(metric=metric, what=what, gold=gold, got=got) for metric, ok in checks.items() if not ok),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemResult:
    """The score of an item, or the problem that prevented it; `key` is a hash of everything the score depends on."""

    name: str
    key: str
    score: Score = field(default_factory=Score)
    problem: str = ""
