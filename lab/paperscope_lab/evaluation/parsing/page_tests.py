"""The page unit tests of olmOCR-bench, run on a parsed paper."""

import re
import unicodedata

from paperscope_core.types import Element, Figure, Paper, Passage, Table
from paperscope_lab.evaluation.gold.papers import Gold, PageTest
from paperscope_lab.evaluation.matching import edit_distance, nearest_distance, similarity
from paperscope_lab.evaluation.score import Score, score_checks

__all__ = ["score_page_tests"]

_MIN_MATH_SIMILARITY = 0.7
_MIN_LIKENESS = 0.5
_PLAIN_CHARACTERS = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a", "'")
    | dict.fromkeys("\u201c\u201d\u201e", '"')
    | dict.fromkeys("\u2013\u2014\u2011\u2012\u2212", "-")
    | {"\u00b5": "\u03bc", "\uff3f": "_"}
)
_COMMAND = re.compile(r"\\(?:mathbf|frac|left|right|partial|nabla|times|int|pi|mathrm|text)\b|[\\{}_^]")


def score_page_tests(paper: Paper, gold: Gold) -> Score:
    """olmocr.tests and olmocr.TYPE: the tests passed, in total and by type."""
    score = Score()
    for test in gold.tests:
        wanted = " / ".join(filter(None, (test.text, test.before, test.after, test.math, test.cell)))
        checked = score_checks({f"olmocr.{test.type}": _passes(paper, test)}, what=test.id, gold=wanted)
        score += Score(tallies={"olmocr.tests": checked.tallies[f"olmocr.{test.type}"]}) + checked
    return score


def _plain(text: str) -> str:
    """Return the benchmark's normal form: NFC, single spaces, plain quotes and dashes."""
    return unicodedata.normalize("NFC", " ".join(text.split())).translate(_PLAIN_CHARACTERS)


def _passes(paper: Paper, test: PageTest) -> bool:
    elements = [element for element in paper.elements if element.place.page == test.page]
    if test.type == "table":
        return any(_in_table(element, test) for element in elements if isinstance(element, Table))
    if test.type == "math":
        wanted = _COMMAND.sub(" ", test.math)
        likeness = (similarity(wanted, _COMMAND.sub(" ", _element_text(element))) for element in elements)
        return any(value >= _MIN_MATH_SIMILARITY for value in likeness)
    shown = [element for element in elements if not (isinstance(element, Passage) and element.role == "furniture")]
    text = _plain(" ".join(map(_element_text, shown)))
    if test.type == "order":
        before, after = _plain(test.before), _plain(test.after)
        return before in text and text.find(before) < text.rfind(after)
    return _is_present(text, test) == (test.type == "present")


def _element_text(element: Element) -> str:
    """Return the text of an element; for a float, its label, caption and content."""
    if isinstance(element, Table):
        cells = " ".join(text for row in element.grid() for text in row)
        return f"{element.label} {element.caption} {cells}"
    if isinstance(element, Figure):
        return f"{element.label} {element.caption} {element.text}"
    return element.text


def _is_present(text: str, test: PageTest) -> bool:
    wanted = _plain(test.text)
    if not test.case_sensitive:
        text, wanted = text.lower(), wanted.lower()
    if test.first_n or test.last_n:
        text = text[: test.first_n or 0] + (text[-test.last_n :] if test.last_n else "")
    return wanted in text if not test.max_diffs else nearest_distance(wanted, text) <= test.max_diffs


def _in_table(table: Table, test: PageTest) -> bool:
    grid = [[_plain(text) for text in row] for row in table.grid(repeat_spans=True)]
    return any(
        _like(text, test.cell, test) and _neighbours_fit(grid, row, column, test)
        for row, texts in enumerate(grid)
        for column, text in enumerate(texts)
    )


def _neighbours_fit(grid: list[list[str]], row: int, column: int, test: PageTest) -> bool:
    line, upright = grid[row], [texts[column] for texts in grid]
    asked = (
        (test.up, upright[max(row - 1, 0) : row]),
        (test.down, upright[row + 1 : row + 2]),
        (test.left, line[max(column - 1, 0) : column]),
        (test.right, line[column + 1 : column + 2]),
        (test.top_heading, upright[:row]),
        (test.left_heading, line[:column]),
    )
    return all(any(_like(text, wanted, test) for text in texts) for wanted, texts in asked if wanted)


def _like(text: str, wanted: str, test: PageTest) -> bool:
    wanted = _plain(wanted)
    if not test.max_diffs:
        return text == wanted
    longest = max(len(text), len(wanted), 1)
    return 1 - edit_distance(text, wanted) / longest >= max(_MIN_LIKENESS, 1 - test.max_diffs / max(len(wanted), 1))
