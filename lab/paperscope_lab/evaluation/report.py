"""Reports: the figures of a run with their confidence intervals, and their provenance."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError
from paperscope_lab.evaluation.provenance import code_fingerprint, revision, versions
from paperscope_lab.evaluation.score import ItemResult, Tally
from paperscope_lab.statistics import interval

__all__ = [
    "ALL",
    "Agreement",
    "Figure",
    "Provenance",
    "Report",
    "agreement_of",
    "is_time",
    "load_reports",
    "make_report",
    "results_in",
    "set_of",
]

ALL = "all"
# A judge says right or wrong; for the agreement, a partly right answer counts as right.
_MIN_RIGHT = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A metric over some items: `value` is right / total, `low` and `high` are the ends of its 95 % interval."""

    right: float
    total: float
    value: float
    low: float
    high: float
    items: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """The provenance of a run: git revision, hash of the source, settings other than defaults, and further facts."""

    revision: str
    code: str
    seed: int
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """A judge's verdicts compared with ours on the same items: the share that agree, and Cohen's kappa.

    Kappa is 0 if both give the same verdict on all items, because chance alone explains that.
    """

    items: int
    share: float
    kappa: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """The results of a run: `figures` by set (`ALL` first) and metric.

    `agreement` is that of a judge with our rules, if there is a judge.
    """

    suite: str
    mode: str
    provenance: Provenance
    headline: tuple[str, ...]
    figures: Mapping[str, Mapping[str, Figure]]
    results: tuple[ItemResult, ...]
    problems: tuple[str, ...]
    agreement: Agreement | None = None

    @property
    def headline_metrics(self) -> list[str]:
        """The metrics of the headline that have figures."""
        return [metric for metric in self.headline if metric in self.figures.get(ALL, {})]

    def headline_items(self, name: str) -> int:
        """Return the number of items of a set that the headline counts."""
        figures = self.figures.get(name, {})
        return max((figures[metric].items for metric in self.headline_metrics if metric in figures), default=0)

    def to_json(self) -> str:
        """Return the report as JSON text."""
        return to_json(self, indent=1)


def make_report(
    results: Sequence[ItemResult],
    *,
    suite: str,
    mode: str,
    seed: int,
    headline: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    facts: Mapping[str, str] | None = None,
    problems: Sequence[str] = (),
) -> Report:
    """Aggregate the scores over all items and by set; `problems` are those of the gold."""
    scored = [result for result in results if not result.problem]
    sets = {name: results_in(scored, name) for name in (ALL, *dict.fromkeys(set_of(one.name) for one in scored))}
    failed = [f"{result.name}: {result.problem}" for result in results if result.problem]
    return Report(
        suite=suite,
        mode=mode,
        provenance=Provenance(
            revision=revision(),
            code=code_fingerprint(),
            seed=seed,
            versions=versions(),
            settings=settings or {},
            facts=facts or {},
        ),
        headline=tuple(headline),
        figures={name: _figures_by_metric(members, seed=seed) for name, members in sets.items()},
        results=tuple(results),
        problems=(*problems, *failed),
        agreement=agreement_of(scored),
    )


def agreement_of(results: Sequence[ItemResult]) -> Agreement | None:
    """Return the agreement of a judge with our rules; None without a judge."""
    judged = [result.score.tallies for result in results if "judge.right" in result.score.tallies]
    if not judged:
        return None
    from sklearn.metrics import cohen_kappa_score

    ours, theirs = ([tallies[name].share >= _MIN_RIGHT for tallies in judged] for name in ("right", "judge.right"))
    same = sum(our == their for our, their in zip(ours, theirs, strict=True))
    constant = len({*ours, *theirs}) == 1
    kappa = 0.0 if constant else float(cohen_kappa_score(ours, theirs))
    return Agreement(items=len(judged), share=same / len(judged), kappa=kappa)


def set_of(item: str) -> str:
    """Return the set that an item belongs to: its name up to the first "/"."""
    return item.partition("/")[0]


def results_in(results: Iterable[ItemResult], name: str) -> list[ItemResult]:
    """Return the results of a set, or all of them (`ALL`), without items that could not be scored."""
    return [result for result in results if not result.problem and name in (ALL, set_of(result.name))]


def is_time(metric: str) -> bool:
    """Return whether a metric is a time, which varies between runs."""
    return metric.startswith("seconds")


def load_reports(path: Path) -> list[Report]:
    """Return the reports in a run's folder, or the one in a file. Raises InputError."""
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    reports = []
    for file in files:
        try:
            reports.append(from_json(Report, file.read_bytes()))
        except (OSError, ValueError) as error:
            if not path.is_dir():
                raise InputError(f"{file}: no report of an evaluation; name what `eval SUITE --out` wrote") from error
    if not reports:
        raise InputError(f"{path}: no report of an evaluation in it; name a folder that `eval SUITE --out` wrote to")
    return reports


def _figures_by_metric(results: Sequence[ItemResult], *, seed: int) -> dict[str, Figure]:
    tallies: dict[str, list[Tally]] = {}
    for result in results:
        for metric, tally in result.score.tallies.items():
            tallies.setdefault(metric, []).append(tally)
    return {metric: _figure(found, seed=seed) for metric, found in tallies.items()}


def _figure(tallies: Sequence[Tally], *, seed: int) -> Figure:
    both = sum(tallies, Tally(right=0, total=0))
    low, high = interval(tallies, seed=seed)
    return Figure(right=both.right, total=both.total, value=both.share, low=low, high=high, items=len(tallies))
