"""Finds display equations and their numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import dropwhile

from ingest.document.geometry import bounding_box, contains, runs_of
from ingest.document.pages import HorizontalRule
from ingest.pdf.formula_layout import read_formula
from ingest.pdf.layout import Edges, PageLayout
from ingest.pdf.lines import Line
from ingest.pdf.pdf_words import Word, words_of
from paperscope_core.types import Box

__all__ = ["FoundEquation", "find_equations"]

_NUMBER = re.compile(r"\(((?:[A-Z]{1,2}\.?)?\d+(?:\.\d+)*[a-z]?)\)")
_PROSE_WORD = re.compile(r"[a-z]{3,}")
_RELATION = re.compile(r"[=≤≥<>∈→≈∼∝≡⊆⊂←↦≜≔]")
_OPERATOR = re.compile(r"[=≤≥<>≈∼∝≡+−±×·∗∪∩∨∧−]")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_PLAIN_WORD = re.compile(r"[A-Za-z]{2,}[.,;:]?")
_LONG_WORD = re.compile(r"[A-Za-z]{4,}[.,;:]?")

# Points, or letter sizes; `math` is the share of letters in a mathematical font. Chosen on the development papers.
_CONNECTED = 9.0  # The largest distance, in points, between lines of one equation.
_CONTINUED = 22.0  # The same before a line that begins with an operator, as the next line of a long equation does.
_MAX_BAR_HEIGHT = 1.6  # Points; the largest height of the bars of fractions and roots, which are wider.
_BARS_ABOVE = 10.0  # Points above the letters that are searched for the bar of a root in a numerator.
_AT_EDGE = 5.0  # Points; the largest distance of a number from an edge of the column.
_BEYOND_EDGE = 16.0  # The same in the margin of a ragged column.
_NUMBER_GAP = 0.8  # The least gap between an equation and its number.
_INDENTED, _FAR_INDENTED = 8.0, 14.0  # Points; text is flush with the edge, and paragraphs are indented by up to 14.
_MAX_INDENT = 2.2  # The largest indent of a paragraph's first line, in letter sizes.
_MATH_INDENTED, _MATH_NUMBERED, _MATH_PROSE = 0.25, 0.2, 0.55  # Upper bounds for text with symbols.
_LONG_LINE = 0.42  # A share of the column's width; a shorter line is text only if it is flush with the edge.
_FLUSH = 2.5  # Points; the largest distance of a flush line from the edge.
_DISPLAY_MATH = 0.35  # The least share of mathematical letters in an equation without a number.
_MAX_LONG_WORDS = 3  # The most words such as "if" and "otherwise".
_MIN_LETTERS = 5  # Fewer letters are part of a figure or a list.
_CENTRED = 0.06  # The tolerance of centring, as a share of the column's width.


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundEquation:
    """An equation on a page (its index from 0); `number` is printed in parentheses, "" if there is none."""

    page: int
    number: str
    text: str
    box: Box
    lines: frozenset[Line]


def find_equations(layout: PageLayout, free: Sequence[Line]) -> list[FoundEquation]:
    """Find the equations of a page among its free lines."""
    found: list[FoundEquation] = []
    across = Edges(left=layout.edges[0].left, right=layout.edges[-1].right)
    for edge, lines in zip([*layout.edges, across], layout.by_column(free), strict=True):
        prose = [line.middle for line in lines if _is_prose(line, edge)]
        formulas = sorted((line for line in lines if not _is_prose(line, edge)), key=lambda line: line.box.y0)
        for cluster in runs_of(formulas, joins=partial(_joins, prose=prose)):
            found.extend(_read(layout, cluster, edge=edge))
    return found


def _joins(run: Sequence[Line], line: Line, *, prose: Sequence[float]) -> bool:
    """Return whether a line belongs to the equation above it: it is close, or continues it with an operator.

    `prose` are the heights of the lines of text in the column.
    """
    bottom = max(other.box.y1 for other in run)
    if line.box.y0 < bottom + _CONNECTED:
        return True
    continued = bool(_OPERATOR.match(line.text)) and line.box.y0 < bottom + _CONTINUED
    return continued and not any(bottom < middle < line.middle for middle in prose)


def _read(layout: PageLayout, cluster: Sequence[Line], *, edge: Edges) -> list[FoundEquation]:
    """Return the equations in lines that are close together: one for each number, with the lines nearest to it."""
    numbered = [line for line in cluster if _number(line, edge)]
    if not numbered:
        # The last line of a paragraph may be a symbol.
        formula = list(dropwhile(lambda line: line.box.x0 - edge.left < _FLUSH, cluster))
        typed = all(layout.body.has_one_width(line.font) for line in formula)
        return [_equation(layout, formula, number="")] if not typed and _is_display(formula, edge) else []
    shares: dict[Line, list[Line]] = {line: [] for line in numbered}
    for line in cluster:
        shares[min(numbered, key=lambda other: abs(other.baseline - line.baseline))].append(line)
    return [
        _equation(layout, members, number=_number(line, edge))
        for line, members in shares.items()
        if len(members) > 1 or len(line.words) > 1
    ]


def _equation(layout: PageLayout, lines: Sequence[Line], *, number: str) -> FoundEquation:
    box = bounding_box(line.box for line in lines)
    area = box.grown(1, 1)
    chars = [
        char for char in layout.content.upright if area.x0 <= char.x0 <= area.x1 and area.y0 <= char.baseline <= area.y1
    ]
    words = [word for word in words_of(chars, body_font="") if not (number and word.text == f"({number})")]
    text = read_formula(words, _bars(layout, area))
    return FoundEquation(page=layout.index, number=number, text=text, box=box, lines=frozenset(lines))


def _bars(layout: PageLayout, area: Box) -> list[HorizontalRule]:
    """Return the bars of fractions and roots in an area; those over a single letter are too short to be rules of the
    page."""
    reach = Box(area.x0 - 2, area.y0 - _BARS_ABOVE, area.x1 + 2, area.y1 + 2)
    return [
        HorizontalRule(box.x0, box.x1, box.middle)
        for box in layout.content.drawings
        if box.height < _MAX_BAR_HEIGHT < box.width and contains(reach, box)
    ]


def _number(line: Line, edge: Edges) -> str:
    """Return the equation number at the column's right edge, or alone at its left one; "" if there is none."""
    match = _NUMBER.fullmatch(line.words[-1].text)
    if not match:
        return ""
    alone = len(line.words) == 1
    if alone and abs(line.box.x0 - edge.left) < _AT_EDGE:
        return match[1]
    if not -_AT_EDGE < line.box.x1 - edge.right < _BEYOND_EDGE:
        return ""
    return match[1] if alone or _is_apart(line.words) or line.math > _MATH_NUMBERED else ""


def _is_apart(words: Sequence[Word]) -> bool:
    """Return whether a gap is before the last of two words or more."""
    return words[-1].x0 - words[-2].x1 > _NUMBER_GAP * words[-1].size


def _is_prose(line: Line, edge: Edges) -> bool:
    """Return whether a line is running text: mostly letters, and at the left edge or across much of the column."""
    indent = line.box.x0 - edge.left
    if len(line.words) == 1 and _number(line, edge):
        return False
    if indent > _INDENTED and line.math > _MATH_INDENTED and line.box.x1 < edge.right - _INDENTED:
        return False
    if line.math > _MATH_NUMBERED and _number(line, edge) and (indent > _INDENTED or _is_apart(line.words)):
        return False
    worded = sum(bool(_PROSE_WORD.search(word.text)) for word in line.words) > 0.5 * len(line.words)
    if indent < _MAX_INDENT * line.size and all(_PLAIN_WORD.fullmatch(word.text) for word in line.words):
        return True
    long = line.width > _LONG_LINE * edge.width or indent < _FLUSH
    return (indent < _FAR_INDENTED or worded) and line.math < _MATH_PROSE and len(line.text) > 3 and long


def _is_display(cluster: Sequence[Line], edge: Edges) -> bool:
    """Return whether lines without a number are a formula: mathematical, with a relation sign, hardly any words, and
    indented unless nearly all of it is mathematical.

    In centred lines, italics and single letters count as mathematical, since fonts such as Times set formulas in them.
    """
    letters = sum(len(line.text) for line in cluster)
    box = bounding_box(line.box for line in cluster)
    words = [word for line in cluster for word in line.words]
    long_words = sum(bool(_LONG_WORD.fullmatch(word.text)) for word in words)
    if letters < _MIN_LETTERS or long_words > _MAX_LONG_WORDS:
        return False
    if not any(_RELATION.search(line.text) for line in cluster):
        return False
    math = sum(line.math * len(line.text) for line in cluster)
    if box.x0 - edge.left <= _INDENTED:
        # The last line of a paragraph may be a formula, too; a wide equation begins below it, and indented.
        return cluster[0].box.x0 - edge.left > _INDENTED and math > _MATH_PROSE * letters
    centred = abs(box.x0 - edge.left - (edge.right - box.x1)) < _CENTRED * edge.width
    if centred and long_words <= len(cluster):
        math = max(math, sum(len(word.text) for word in words if _is_symbol(word)))
    return math > _DISPLAY_MATH * letters


def _is_symbol(word: Word) -> bool:
    return word.italic or word.math > 0.5 or not _LETTERS.search(word.text)
