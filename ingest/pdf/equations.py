"""Display equations: lines of formulas set apart from the text, with the number beside them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.pdf.edges import Edges
from ingest.pdf.fractions import fold_fractions, formula_text
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, bounds
from paperscope.types import Box

__all__ = ["FoundEquation", "find_equations"]

_NUMBER = re.compile(r"\(((?:[A-Z]{1,2}\.?)?\d+(?:\.\d+)*[a-z]?)\)")
_PROSE_WORD = re.compile(r"[a-z]{3,}")
_CONNECTED = 9.0


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundEquation:
    """An equation on a page (its index from 0); `number` as printed without its parentheses, "" if none."""

    page: int
    number: str
    text: str
    box: Box
    lines: frozenset[Line]


def find_equations(
    layout: PageLayout, free: Sequence[Line], *, page: int, edges: Sequence[Edges]
) -> list[FoundEquation]:
    """The equations of a page among its free lines; `edges` are those of its columns."""
    found: list[FoundEquation] = []
    for column, edge in enumerate(edges):
        lines = [line for line in free if layout.column(line) == column]
        formulas = [line for line in lines if not _is_prose(line, edge)]
        for cluster in _clusters(formulas):
            found.extend(_read(layout, cluster, page=page, edge=edge))
    return found


def _read(layout: PageLayout, cluster: Sequence[Line], *, page: int, edge: Edges) -> list[FoundEquation]:
    numbered = [line for line in cluster if _number(line, edge)]
    if not numbered:
        return [_equation(layout, cluster, page=page, number="")] if _is_display(cluster, edge) else []
    shares: dict[Line, list[Line]] = {line: [] for line in numbered}
    for line in cluster:
        shares[min(numbered, key=lambda other: abs(other.baseline - line.baseline))].append(line)
    return [
        _equation(layout, members, page=page, number=_number(line, edge))
        for line, members in shares.items()
        if len(members) > 1 or len(line.words) > 1
    ]


def _equation(layout: PageLayout, lines: Sequence[Line], *, page: int, number: str) -> FoundEquation:
    box = bounds(line.box for line in lines)
    words = [word for line in lines for word in line.words if not (number and word.text == f"({number})")]
    rules = [
        rule
        for rule in layout.content.horizontal
        if box.x0 - 2 <= rule.x0 and rule.x1 <= box.x1 + 2 and box.y0 - 2 <= rule.y <= box.y1 + 2
    ]
    text = formula_text(fold_fractions(words, rules))
    return FoundEquation(page=page, number=number, text=text, box=box, lines=frozenset(lines))


def _number(line: Line, edge: Edges) -> str:
    """The equation number that ends a line at the column's right edge, "" if there is none."""
    match = _NUMBER.fullmatch(line.words[-1].text)
    if not match or not -5 < line.box.x1 - edge.right < 16:
        return ""
    if len(line.words) == 1 or line.words[-1].x0 - line.words[-2].x1 > 0.8 * line.size or line.math > 0.2:
        return match[1]
    return ""


def _is_prose(line: Line, edge: Edges) -> bool:
    """A line of running text: it begins at the left edge or goes over much of the column, and is mostly letters."""
    indent = line.box.x0 - edge.left
    width = edge.right - edge.left
    if indent > 8 and line.math > 0.25 and line.box.x1 < edge.right - 8:
        return False
    if indent > 8 and line.math > 0.2 and _NUMBER.fullmatch(line.words[-1].text):
        return False
    reaches = line.width > 0.42 * width or indent < 2.5
    worded = sum(bool(_PROSE_WORD.search(word.text)) for word in line.words) > 0.5 * len(line.words)
    return (indent < 14 or worded) and line.math < 0.55 and len(line.text) > 3 and reaches


def _is_display(cluster: Sequence[Line], edge: Edges) -> bool:
    """Whether lines without a number are a formula: indented, mathematical, with a relation and hardly a word."""
    letters = sum(len(line.text) for line in cluster)
    math = sum(line.math * len(line.text) for line in cluster)
    text = " ".join(line.text for line in cluster)
    indent = min(line.box.x0 for line in cluster) - edge.left
    words = sum(bool(re.fullmatch(r"[A-Za-z]{4,}[.,;:]?", word.text)) for line in cluster for word in line.words)
    return (
        math > 0.35 * letters and indent > 8 and letters >= 5 and bool(re.search(r"[=≤≥<>∈→≈∼∝:]", text)) and words <= 3
    )


def _clusters(lines: Sequence[Line]) -> list[list[Line]]:
    clusters: list[list[Line]] = []
    bottom = float("-inf")
    for line in sorted(lines, key=lambda line: line.box.y0):
        if clusters and line.box.y0 < bottom + _CONNECTED:
            clusters[-1].append(line)
            bottom = max(bottom, line.box.y1)
        else:
            clusters.append([line])
            bottom = line.box.y1
    return clusters
