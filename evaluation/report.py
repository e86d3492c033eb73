"""A run's report: Markdown for people, JSON for programs."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.running import ItemResult, code_fingerprint
from evaluation.values import Score, Tally, total
from paperscope.codec import to_json

__all__ = ["Report", "make_report", "render_markdown", "revision"]

_MISSES_AN_ITEM = 25
_SHOWN = 160


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """All that a run found. `revision` is git's, `code` a hash of our source, `settings` decided the run."""

    suite: str
    revision: str
    code: str
    settings: Mapping[str, str]
    tallies: Mapping[str, Tally]
    sets: Mapping[str, Mapping[str, Tally]]
    results: tuple[ItemResult, ...]
    problems: tuple[str, ...]

    def to_json(self) -> str:
        """The report as JSON text."""
        return to_json(self, indent=1)


def make_report(
    results: Sequence[ItemResult], *, suite: str, settings: Mapping[str, str], problems: Sequence[str] = ()
) -> Report:
    """Add the items up, over all and by set (the part of a name before "/"); `problems` are the gold's."""
    scored = [result for result in results if not result.problem]
    groups: dict[str, list[Score]] = {}
    for result in scored:
        groups.setdefault(result.name.partition("/")[0], []).append(result.score)
    failed = [f"{result.name}: {result.problem}" for result in results if result.problem]
    return Report(
        suite=suite,
        revision=revision(),
        code=code_fingerprint(),
        settings=settings,
        tallies=total(result.score for result in scored).tallies,
        sets={name: total(scores).tallies for name, scores in groups.items()},
        results=tuple(results),
        problems=(*problems, *failed),
    )


def revision() -> str:
    """Git's name for the checkout, with "-dirty" where it has changes; "unknown" outside of one."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],  # noqa: S607 # whichever git the user has
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def render_markdown(report: Report, *, misses: bool = True) -> str:
    """The report as Markdown: the figures over all, by set, by item, what could not be scored, and the misses."""
    settings = ", ".join(f"{name} {value}" for name, value in report.settings.items())
    lines = [
        f"# Suite {report.suite}",
        "",
        f"Revision {report.revision}, code {report.code}; {settings}.",
        "",
        "| metric | right | of | share |",
        "|---|---:|---:|---:|",
        *(
            f"| {name} | {_number(t.right)} | {_number(t.total)} | {t.share:.4f} |"
            for name, t in report.tallies.items()
        ),
        "",
        *_by_item("Sets", list(report.sets.items())),
        *_by_item("Items", [(result.name, result.score.tallies) for result in report.results]),
    ]
    if report.problems:
        lines += ["## Not scored", "", *(f"- {problem}" for problem in report.problems), ""]
    if misses:
        lines += _misses(report.results)
    return "\n".join(lines).rstrip() + "\n"


def _by_item(title: str, rows: Sequence[tuple[str, Mapping[str, Tally]]]) -> list[str]:
    lines = [f"## {title}", ""]
    for name, tallies in rows:
        shown = ", ".join(f"{metric} {_number(t.right)}/{_number(t.total)}" for metric, t in tallies.items() if t.total)
        lines.append(f"- **{name}**: {shown}")
    return [*lines, ""]


def _misses(results: Sequence[ItemResult]) -> list[str]:
    lines = ["## Misses", ""]
    for result in results:
        found = result.score.misses
        if found:
            lines += [f"### {result.name}", ""]
            lines += [
                f"- {miss.metric}, {_short(miss.what)}: {_short(miss.gold)!r} → {_short(miss.got)!r}"
                for miss in found[:_MISSES_AN_ITEM]
            ]
            lines += [f"- … {len(found) - _MISSES_AN_ITEM} more"] if len(found) > _MISSES_AN_ITEM else []
            lines.append("")
    return lines


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
