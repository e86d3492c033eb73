"""A run's report: what was measured, how sure it is, and what produced it. `evaluation.rendering` shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.provenance import code_fingerprint, revision, versions
from evaluation.risk import Agreement, Risk, agreement_of, risk_of
from evaluation.running import ItemResult
from evaluation.statistics import interval
from evaluation.values import Tally
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError

__all__ = ["ALL", "Figure", "Provenance", "Report", "is_time", "load_reports", "make_report", "set_of"]


ALL = "all"


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A metric over some items: `value` is right / total, `low` and `high` end its 95 % interval."""

    right: float
    total: float
    value: float
    low: float
    high: float
    items: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """What produced a run: `revision` is git's, `code` a hash of our source, `settings` are those that aren't defaults,
    `facts` what else decided it."""

    revision: str
    code: str
    seed: int
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """All that a run found: `figures` by set (`ALL` first) and metric.

    `risks` stand by set where answers were graded; `agreement` is a judge's with our rules, where one was asked.
    """

    suite: str
    mode: str
    provenance: Provenance
    headline: tuple[str, ...]
    figures: Mapping[str, Mapping[str, Figure]]
    results: tuple[ItemResult, ...]
    problems: tuple[str, ...]
    risks: Mapping[str, Risk] = field(default_factory=dict)
    agreement: Agreement | None = None

    def to_json(self) -> str:
        """The report as JSON text."""
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
    """Add the items up, over all and by set (the part of a name before "/"); `problems` are the gold's."""
    scored = [result for result in results if not result.problem]
    sets: dict[str, list[ItemResult]] = {ALL: scored}
    for result in scored:
        sets.setdefault(set_of(result.name), []).append(result)
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
        figures={name: _figures(members, seed=seed) for name, members in sets.items()},
        results=tuple(results),
        problems=(*problems, *failed),
        risks={name: risk for name, members in sets.items() if (risk := risk_of(members))},
        agreement=agreement_of(scored),
    )


def set_of(item: str) -> str:
    """The set that an item belongs to."""
    return item.partition("/")[0]


def is_time(metric: str) -> bool:
    """Whether a metric is a time, which varies from run to run."""
    return metric.startswith("seconds")


def load_reports(path: Path) -> list[Report]:
    """The reports in a run's folder, or the one in a file. Raises InputError."""
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


def _figures(results: Sequence[ItemResult], *, seed: int) -> dict[str, Figure]:
    tallies: dict[str, list[Tally]] = {}
    for result in results:
        for metric, tally in result.score.tallies.items():
            tallies.setdefault(metric, []).append(tally)
    return {metric: _figure(found, seed=seed) for metric, found in tallies.items()}


def _figure(tallies: Sequence[Tally], *, seed: int) -> Figure:
    both = sum(tallies, Tally(right=0, total=0))
    low, high = interval(tallies, seed=seed)
    return Figure(right=both.right, total=both.total, value=both.share, low=low, high=high, items=len(tallies))
