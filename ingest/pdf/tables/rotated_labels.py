"""Reads labels of a table that are printed upwards or downwards as words of its upright rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.document.geometry import bounding_box, overlap_x, runs_of, turned_box, turned_page
from ingest.document.line_text import join_lines
from ingest.document.pages import VerticalRule
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, line_of
from ingest.pdf.pdf_words import Word, words_of
from paperscope_core.types import Box

__all__ = ["is_rotated", "rotated_labels"]

_SIDEWAYS = (1, 3)  # Quarter turns.

# In letter sizes; chosen on the development papers.
_SPACE = 0.6  # A wider gap separates two labels.
_LEADING = (-0.3, 0.5)  # The distance between lines of one label.
_SHARED_WIDTH = 0.6  # The lines of one label overlap by this share of the shorter line's width.
_SAME_ROW = 0.4  # A label whose middle is this close to a row labels that row; otherwise it is between two rows.
_MIDDLE = 0.25  # The distance from the middle of a row's letters down to the baseline.


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _RotatedWord(Word):
    """A label as one word on the baseline of the row that it names; its ink is from `above` to `below` that line."""

    above: float
    below: float

    @property
    def box(self) -> Box:
        """The label's box."""
        return Box(self.x0, self.baseline - self.above, self.x1, self.baseline + self.below)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Label:
    """Lines read along their direction, and their box on the page as the reader sees it."""

    lines: tuple[Line, ...]
    box: Box


def is_rotated(line: Line) -> bool:
    """Return whether a line is a label that runs up or down."""
    return all(isinstance(word, _RotatedWord) for word in line.words)


def rotated_labels(layout: PageLayout, box: Box, words: Sequence[Word], *, rules: Sequence[float]) -> tuple[Word, ...]:
    """Return the labels in a table's box that run up or down, each as a word on the baseline of the row that it names.

    The title of a column is placed at the foot of the header, any other label at the middle row of those next to it.

    Args:
        layout: The table's page.
        box: The table's box.
        words: Its upright words.
        rules: The y of its full-width rules.
    """
    labels = [label for turns in _SIDEWAYS for label in _labels(layout, box, turns=turns)]
    titles = [label for label in labels if _is_title(label, words, box=box, rules=rules)]
    foot = _header_baseline(titles, words)
    return tuple(
        _word(label, foot if label in titles else _middle_baseline(label, [word.baseline for word in words]))
        for label in labels
    )


def _labels(layout: PageLayout, box: Box, *, turns: int) -> list[_Label]:
    content = layout.content
    if not any(char.direction == turns for char in content.chars):
        return []
    page = turned_page(content, turns=turns)
    area = turned_box(box, content.width, content.height, turns=turns)
    inside = [
        char
        for char in page.upright
        if area.x0 - 1 <= (char.x0 + char.x1) / 2 <= area.x1 + 1 and area.y0 - 1 <= char.baseline <= area.y1 + 1
    ]
    labels: list[list[Line]] = []
    for line in _lines(words_of(inside, body_font=""), page.vertical):
        above = next((label for label in labels if _continues(label[-1], line)), None)
        if above is None:
            labels.append([line])
        else:
            above.append(line)
    return [
        _Label(
            lines=tuple(lines),
            box=turned_box(bounding_box(line.box for line in lines), page.width, page.height, turns=-turns),
        )
        for lines in labels
    ]


def _lines(words: Sequence[Word], across: Sequence[VerticalRule]) -> list[Line]:
    """Split words into lines, cut at wide gaps and by rules `across` them."""
    runs = runs_of(
        sorted(words, key=lambda word: (round(word.baseline), word.x0)),
        joins=lambda run, word: _follows(run[-1], word, across),
    )
    return sorted(map(line_of, runs), key=lambda line: line.baseline)


def _follows(last: Word, word: Word, across: Sequence[VerticalRule]) -> bool:
    return (
        abs(last.baseline - word.baseline) <= 1
        and 0 <= word.x0 - last.x1 < _SPACE * word.size
        and not any(last.x1 - 1 < rule.x < word.x0 + 1 and rule.y0 < word.baseline < rule.y1 for rule in across)
    )


def _continues(above: Line, line: Line) -> bool:
    """Return whether a line is the next one of the same label: right below it, and centred or aligned."""
    low, high = _LEADING
    return low * line.size < line.box.y0 - above.box.y1 < high * line.size and overlap_x(
        above.box, line.box
    ) > _SHARED_WIDTH * min(above.width, line.width)


def _is_title(label: _Label, words: Sequence[Word], *, box: Box, rules: Sequence[float]) -> bool:
    """Return whether a label is above its column: over the first inner rule, or with upright words only below it."""
    inner = [y for y in rules if box.y0 + 3 < y < box.y1 - 3]
    if inner:
        return label.box.y1 <= min(inner) + 1
    column = [word.baseline for word in words if label.box.x0 - 2 <= word.center <= label.box.x1 + 2]
    return bool(column) and min(column) > label.box.y1


def _header_baseline(titles: Sequence[_Label], words: Sequence[Word]) -> float:
    """Return the baseline of the title row: the baseline of the lowest upright words next to it, otherwise its own
    foot."""
    if not titles:
        return 0.0
    area = bounding_box(label.box for label in titles)
    return max((word.baseline for word in words if area.y0 < word.baseline < area.y1 + 1), default=area.y1)


def _middle_baseline(label: _Label, baselines: Sequence[float]) -> float:
    """Return the baseline of the row beside the middle of a label, or a separate one between two rows."""
    size = label.lines[0].size
    middle = label.box.middle + _MIDDLE * size
    nearest = min(baselines, key=lambda y: abs(y - middle), default=middle)
    return nearest if abs(nearest - middle) < _SAME_ROW * size else middle


def _word(label: _Label, baseline: float) -> Word:
    first = label.lines[0]
    return _RotatedWord(
        text=join_lines(line.text for line in label.lines),
        x0=label.box.x0,
        x1=label.box.x1,
        baseline=baseline,
        size=first.size,
        font=first.font,
        bold=first.bold > 0.5,
        italic=first.italic > 0.5,
        math=0.0,
        above=baseline - label.box.y0,
        below=label.box.y1 - baseline,
    )
