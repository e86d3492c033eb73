"""The second example paper is parsed as typeset, and its numbers follow from the scores of the first."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import mean, stdev

import pytest

from paperscope_core.types import Equation, Figure, Paper, ParsedPaper, Table

FOLDER = Path("examples") / "paper"
STUDENT = 2.3646
SYSTEMS = ("RoBERTa-base", "RoBERTa-large", "Ensemble")


@pytest.fixture(scope="module")
def first(root: Path, parse_once: Callable[[Path], ParsedPaper]) -> dict[str, Table]:
    return tables(parse_once(root / FOLDER / "ner-report.pdf").paper)


@pytest.fixture(scope="module")
def second(root: Path, parse_once: Callable[[Path], ParsedPaper]) -> Paper:
    return parse_once(root / FOLDER / "seed-intervals.pdf").paper


def tables(paper: Paper) -> dict[str, Table]:
    return {element.label: element for element in paper.elements if isinstance(element, Table)}


def scores(first: dict[str, Table], measure: str) -> dict[str, list[float]]:
    """The eight scores of each system, by seed, as Table 5 prints them."""
    table = first["Table 5"]
    names = table.column_names()
    rows = [row for row in table.grid(repeat_spans=True) if row[0].isdigit()]
    assert len(rows) == 8
    return {system: [float(row[names.index(f"{system} {measure}")]) for row in rows] for system in SYSTEMS}


def span(values: list[float]) -> str:
    half = STUDENT * stdev(values) / len(values) ** 0.5
    return f"{mean(values) - half:.2f} to {mean(values) + half:.2f}".replace("-", "−")


def flips(values: list[float]) -> float:
    """The share of sign patterns whose sum is at least as far from zero."""
    sums = [abs(sum(sign * value for sign, value in zip(signs, values, strict=True))) for signs in _signs(len(values))]
    return sum(one >= abs(sum(values)) - 1e-9 for one in sums) / len(sums)


def _signs(count: int) -> list[tuple[int, ...]]:
    return list(product((1, -1), repeat=count))


def test_every_table_figure_and_equation_is_found(second: Paper) -> None:
    labels = [element.label for element in second.elements if isinstance(element, Table | Figure | Equation)]
    assert sorted(labels) == ["Equation 1", "Equation 2", "Equation 3", "Figure 1", "Table 1", "Table 2", "Table 3"]
    assert not second.problems
    assert len(second.pages) == 3


@pytest.mark.slow
def test_means_and_intervals_follow_from_the_first_paper(first: dict[str, Table], second: Paper) -> None:
    grid = tables(second)["Table 1"].grid()
    for title, measure in ((1, "Entity F1"), (5, "Char F1")):
        for row, system in zip(grid[title + 1 : title + 4], SYSTEMS, strict=True):
            values = scores(first, measure)[system]
            assert row == [system, f"{mean(values):.2f}", f"{stdev(values):.2f}", span(values)]


def test_paired_differences_follow_from_the_first_paper(first: dict[str, Table], second: Paper) -> None:
    grid = tables(second)["Table 2"].grid()
    rows = [row for row in grid if " over " in row[0]]
    assert len(rows) == 6
    for number, row in enumerate(rows):
        upper, lower = row[0].split(" over ")
        by_system = scores(first, "Entity F1" if number < 3 else "Char F1")
        gains = [a - b for a, b in zip(by_system[upper], by_system[lower], strict=True)]
        assert row[1:] == [
            f"{mean(gains):.2f}",
            span(gains),
            str(sum(gain > 0 for gain in gains)),
            f"{flips(gains):.4f}",
        ]


def test_shares_follow_from_the_first_paper(first: dict[str, Table], second: Paper) -> None:
    counts = {row[0].partition(" (")[0]: row[2] for row in first["Table 7"].grid()}
    for name, hits, share, interval in tables(second)["Table 3"].grid()[1:]:
        assert hits == counts[name.removesuffix(" model")]
        p, z, n = int(hits) / 1000, 1.96, 1000
        assert share == f"{p:.4f}"
        half = z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
        low, high = ((p + z * z / (2 * n) + sign * half) / (1 + z * z / n) for sign in (-1, 1))
        assert interval == f"{low:.4f} to {high:.4f}"
