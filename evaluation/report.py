"""Reports: the figures of a run with their confidence intervals, and what produced them."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.metrics.selective import aurc, excess_aurc, risk_at
from evaluation.provenance import code_fingerprint, revision, versions
from evaluation.score import Graded, Score, Tally
from evaluation.statistics import interval
from evaluation.suite import SuiteItem
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError, PaperscopeError
from paperscope_core.files import output_errors

__all__ = [
    "ALL",
    "COVERAGES",
    "Agreement",
    "Figure",
    "ItemResult",
    "Provenance",
    "Report",
    "Risk",
    "agreement_of",
    "cohen_kappa",
    "grades_of",
    "is_time",
    "load_reports",
    "make_report",
    "risk_of",
    "run_items",
    "set_of",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemResult:
    """An item's score, or why it has none; `key` ties it to what it depends on."""

    name: str
    key: str
    score: Score = field(default_factory=Score)
    problem: str = ""


def run_items(
    items: Sequence[SuiteItem], *, settings: str, kept: Path | None = None, on_item: Callable[[ItemResult], None]
) -> list[ItemResult]:
    """Score the items in their order; `kept` is the file of finished ones. An item that failed is tried again."""
    finished = dict(_read_finished(kept)) if kept else {}
    code = code_fingerprint()
    results = []
    for item in items:
        key = hashlib.sha256("\0".join((code, settings, item.name, item.fingerprint)).encode()).hexdigest()
        result = finished.get(key) or _score_item(item, key=key)
        if kept and key not in finished and not result.problem:
            with output_errors(kept), kept.open("a", encoding="utf-8") as file:
                file.write(to_json(result) + "\n")
        results.append(result)
        on_item(result)
    return results


def _score_item(item: SuiteItem, *, key: str) -> ItemResult:
    try:
        return ItemResult(name=item.name, key=key, score=item.score())
    except PaperscopeError as error:
        return ItemResult(name=item.name, key=key, problem=str(error))


def _read_finished(kept: Path) -> Iterator[tuple[str, ItemResult]]:
    """Results of earlier runs; a last line torn by a kill is passed over, and ended so that the next starts afresh."""
    if not kept.is_file():
        return
    with output_errors(kept):
        data = kept.read_bytes()
        if data and not data.endswith(b"\n"):
            kept.write_bytes(data + b"\n")
    for line in data.decode(errors="replace").splitlines():
        try:
            result = from_json(ItemResult, line)
        except ValueError:
            continue
        yield result.key, result


COVERAGES = (0.25, 0.5, 0.75, 1.0)
_RULES = "right"
_JUDGE = "judge.right"
_RIGHT = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Risk:
    """Of the answers that came with a confidence: the area under their risk-coverage curve, how far it is above that
    of the best order, and the selective risk (mean loss) at coverages, such as 0.25, written "25 %"."""

    answers: int
    aurc: float
    excess_aurc: float
    at: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """A judge's verdicts against ours on the same items: the share that agree, and Cohen's kappa."""

    items: int
    share: float
    kappa: float


def grades_of(results: Sequence[ItemResult]) -> list[tuple[float, float]]:
    """The (confidence, loss) pairs of all answers that have them."""
    graded: list[Graded] = [grade for result in results for grade in result.score.graded]
    return [(grade.confidence, grade.loss) for grade in graded]


def risk_of(results: Sequence[ItemResult]) -> Risk | None:
    """None where nothing was graded."""
    pairs = grades_of(results)
    if not pairs:
        return None
    at = {f"{coverage:.0%}".replace("%", " %"): risk_at(pairs, coverage=coverage) for coverage in COVERAGES}
    return Risk(answers=len(pairs), aurc=aurc(pairs), excess_aurc=excess_aurc(pairs), at=at)


def agreement_of(results: Sequence[ItemResult]) -> Agreement | None:
    """None where no judge was asked. What is right in part counts as right from a half on."""
    tallies = [result.score.tallies for result in results if _JUDGE in result.score.tallies]
    pairs = [(found[_RULES].share >= _RIGHT, found[_JUDGE].share >= _RIGHT) for found in tallies]
    if not pairs:
        return None
    same = sum(rules == judge for rules, judge in pairs)
    return Agreement(items=len(pairs), share=same / len(pairs), kappa=cohen_kappa(pairs))


def cohen_kappa(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Agreement beyond chance (Cohen, A Coefficient of Agreement for Nominal Scales, 1960).

    0 where chance alone explains all of it, as where both raters always give the same verdict.
    """
    count = len(pairs)
    one, two = (sum(pair[rater] for pair in pairs) / count for rater in (0, 1))
    chance = one * two + (1 - one) * (1 - two)
    observed = sum(first == second for first, second in pairs) / count
    return (observed - chance) / (1 - chance) if chance < 1 else 0.0


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
        figures={name: _figures_by_metric(members, seed=seed) for name, members in sets.items()},
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
