"""Display equations: lines of formulas set apart from the text, with the number beside them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.document.pages import HorizontalRule
from ingest.pdf.formulas import read_formula
from ingest.pdf.layout import Edges, PageLayout
from ingest.pdf.lines import Line, bounding_box
from ingest.pdf.words import Word, words_of
from paperscope_core.types import Box

__all__ = ["FoundEquation", "find_equations"]


_NUMBER = re.compile(r"\(((?:[A-Z]{1,2}\.?)?\d+(?:\.\d+)*[a-z]?)\)")
_PROSE_WORD = re.compile(r"[a-z]{3,}")
_RELATION = re.compile(r"[=≤≥<>∈→≈∼∝≡⊆⊂←↦≜≔]")
_PLAIN_WORD = re.compile(r"[A-Za-z]{2,}[.,;:]?")
_LETTERS = re.compile(r"[A-Za-z]{4,}[.,;:]?")
_CONNECTED = 9.0
_THIN = 1.6
_ABOVE = 10.0


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
    across = Edges(left=edges[0].left, right=edges[-1].right)
    for column, edge in enumerate([*edges, across]):
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
    box = bounding_box(line.box for line in lines)
    area = Box(box.x0 - 1, box.y0 - 1, box.x1 + 1, box.y1 + 1)
    chars = [
        char for char in layout.content.upright if area.x0 <= char.x0 <= area.x1 and area.y0 <= char.baseline <= area.y1
    ]
    words = [word for word in words_of(chars, body_font="") if not (number and word.text == f"({number})")]
    return FoundEquation(
        page=page, number=number, text=read_formula(words, _bars(layout, area)), box=box, lines=frozenset(lines)
    )


def _bars(layout: PageLayout, area: Box) -> list[HorizontalRule]:
    """The bars of fractions and roots in an area; those over a single letter are too short to be rules of the page."""
    return [
        HorizontalRule(box.x0, box.x1, (box.y0 + box.y1) / 2)
        for box in layout.content.drawings
        if box.y1 - box.y0 < _THIN < box.x1 - box.x0
        and area.x0 - 2 <= box.x0
        and box.x1 <= area.x1 + 2
        and area.y0 - _ABOVE <= box.y0
        and box.y1 <= area.y1 + 2
    ]


def _number(line: Line, edge: Edges) -> str:
    """The equation number at the column's right edge, or alone at its left one; "" if there is none."""
    match = _NUMBER.fullmatch(line.words[-1].text)
    if not match:
        return ""
    if len(line.words) == 1 and abs(line.box.x0 - edge.left) < 5:
        return match[1]
    if not -5 < line.box.x1 - edge.right < 16:
        return ""
    if len(line.words) == 1 or line.words[-1].x0 - line.words[-2].x1 > 0.8 * line.size or line.math > 0.2:
        return match[1]
    return ""


def _is_prose(line: Line, edge: Edges) -> bool:
    """A line of running text: it begins at the left edge or goes over much of the column, and is mostly letters."""
    indent = line.box.x0 - edge.left
    width = edge.right - edge.left
    if len(line.words) == 1 and _number(line, edge):
        return False
    if indent > 8 and line.math > 0.25 and line.box.x1 < edge.right - 8:
        return False
    if indent > 8 and line.math > 0.2 and _NUMBER.fullmatch(line.words[-1].text):
        return False
    worded = sum(bool(_PROSE_WORD.search(word.text)) for word in line.words) > 0.5 * len(line.words)
    if indent < 2.2 * line.size and all(_PLAIN_WORD.fullmatch(word.text) for word in line.words):
        return True
    reaches = line.width > 0.42 * width or indent < 2.5
    return (indent < 14 or worded) and line.math < 0.55 and len(line.text) > 3 and reaches


def _is_display(cluster: Sequence[Line], edge: Edges) -> bool:
    """Whether lines without a number are a formula: indented, mathematical, with a relation and hardly a word.

    A line in the middle of its column is mathematical by its italics too: fonts such as Times set formulas in them.
    """
    letters = sum(len(line.text) for line in cluster)
    text = " ".join(line.text for line in cluster)
    box = bounding_box(line.box for line in cluster)
    words = sum(bool(_LETTERS.fullmatch(word.text)) for line in cluster for word in line.words)
    if letters < 5 or words > 3 or box.x0 - edge.left <= 8 or not _RELATION.search(text):
        return False
    math = sum(line.math * len(line.text) for line in cluster)
    centred = abs(box.x0 - edge.left - (edge.right - box.x1)) < 0.06 * (edge.right - edge.left)
    if centred and words <= 1:
        math = max(math, sum(len(word.text) for line in cluster for word in line.words if _is_symbol(word)))
    return math > 0.35 * letters


def _is_symbol(word: Word) -> bool:
    return word.italic or word.math > 0.5 or not any(letter.isalpha() for letter in word.text)


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
