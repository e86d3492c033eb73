"""Compares two runs of a suite item by item."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from paperscope_core.errors import InputError
from paperscope_core.text.escaping import markdown_line
from paperscope_lab.evaluation.rendering import number, provenance_line, table
from paperscope_lab.evaluation.report import ALL, Report, is_time, results_in
from paperscope_lab.statistics import Difference, adjusted, paired_difference

__all__ = ["Comparison", "compare", "compare_runs", "render_comparison"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """The metrics of two runs over their common items; `apart` are the items that only one run scored."""

    suite: str
    a: str
    b: str
    metrics: dict[str, Difference]
    apart: tuple[str, ...]


def compare_runs(a: Sequence[Report], b: Sequence[Report]) -> list[Comparison]:
    """Compare the suites that both runs have. Raises InputError if there are none."""
    others = {report.suite: report for report in b}
    found = [compare(report, others[report.suite]) for report in a if report.suite in others]
    if not found:
        mine, theirs = (", ".join(report.suite for report in reports) for reports in (a, b))
        raise InputError(f"the runs share no suite: A has {mine}, B has {theirs}")
    return found


def compare(a: Report, b: Report, *, within: str = ALL, metrics: Sequence[str] = ()) -> Comparison:
    """Return the paired differences of two runs of one suite, in one set and in these metrics, or in all.

    Raises InputError if they share no item.
    """
    one, two = ({found.name: found.score.tallies for found in results_in(report.results, within)} for report in (a, b))
    both = [name for name in one if name in two]
    if not both:
        raise InputError(f"the two runs of suite {a.suite} share no item; run them on the same data")
    found = {}
    for metric in metrics or dict.fromkeys(metric for name in both for metric in one[name]):
        names = [name for name in both if metric in one[name] and metric in two[name]]
        if names and not is_time(metric):
            pairs = [one[name][metric] for name in names], [two[name][metric] for name in names]
            found[metric] = paired_difference(*pairs, seed=a.provenance.seed)
    p_values = adjusted([difference.p for difference in found.values()])
    return Comparison(
        suite=a.suite,
        a=f"mode {a.mode}, {provenance_line(a.provenance)}",
        b=f"mode {b.mode}, {provenance_line(b.provenance)}",
        metrics={
            metric: replace(difference, p_adjusted=p)
            for (metric, difference), p in zip(found.items(), p_values, strict=True)
        },
        apart=tuple(sorted(one.keys() ^ two.keys())),
    )


def render_comparison(comparison: Comparison) -> str:
    """Return the comparison as Markdown."""
    rows = [
        [
            metric,
            str(found.items),
            number(found.a),
            number(found.b),
            f"{found.value:+.4f}",
            f"{found.low:+.4f} … {found.high:+.4f}",
            f"{found.p:.4f}",
            f"{found.p_adjusted:.4f}",
        ]
        for metric, found in comparison.metrics.items()
    ]
    lines = [
        f"# Suite {comparison.suite}: B against A",
        "",
        f"- A: {comparison.a}",
        f"- B: {comparison.b}",
        "",
        *table(["metric", "items", "A", "B", "B - A", "95 % interval", "p", "p adjusted"], rows),
        "",
        "Paired bootstrap intervals; two-sided paired permutation tests, adjusted for the number of metrics "
        "(Benjamini-Hochberg).",
    ]
    if comparison.apart:
        some = markdown_line(", ".join(comparison.apart[:8]))
        lines.append(f"Left out, as only one run scored them: {len(comparison.apart)} items ({some} …).")
    return "\n".join(lines) + "\n"
