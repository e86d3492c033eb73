"""Labels of a table that are printed upwards or downwards, as words beside its upright ones."""

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.document.geometry import turned_box, turned_page
from ingest.document.hyphenation import join_lines
from ingest.document.pages import VerticalRule
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, bounding_box, line_of
from ingest.pdf.words import Word, words_of
from paperscope_core.types import Box

__all__ = ["is_rotated", "rotated_labels"]


_SIDEWAYS = (1, 3)
_SPACE = 0.6
_NEXT_LINE = 0.5
_SNAP = 0.4
_MIDDLE = 0.25


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _RotatedWord(Word):
    """A whole label on the baseline of the row that it names; its ink reaches from `above` to `below` that line."""

    above: float
    below: float

    @property
    def y0(self) -> float:
        """The top of the label."""
        return self.baseline - self.above

    @property
    def y1(self) -> float:
        """The foot of the label."""
        return self.baseline + self.below

    @property
    def box(self) -> Box:
        """Where the label is printed."""
        return Box(self.x0, self.y0, self.x1, self.y1)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Label:
    """Lines read along their direction, and their box as the reader sees the page."""

    lines: tuple[Line, ...]
    box: Box


def is_rotated(line: Line) -> bool:
    """Whether a line is a label that runs up or down."""
    return all(isinstance(word, _RotatedWord) for word in line.words)


def rotated_labels(layout: PageLayout, box: Box, words: Sequence[Word], *, rules: Sequence[float]) -> tuple[Word, ...]:
    """A word for each label in a table's box that runs up or down, on the baseline of the row where it is to be read.

    `words` are the table's upright ones, `rules` the y of its full-width rules. The title of a column is read at the
    foot of the header, any other label at the row halfway down the rows beside it.
    """
    labels = [label for turns in _SIDEWAYS for label in _labels(layout, box, turns=turns)]
    titles = [label for label in labels if _is_title(label, words, box=box, rules=rules)]
    foot = _foot(titles, words)
    return tuple(
        _word(label, foot if label in titles else _halfway(label, [word.baseline for word in words]))
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
        above = next((label for label in labels if _goes_on(label[-1], line)), None)
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
    """Words to lines, cut at wide gaps and by rules `across` them."""
    runs: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (round(word.baseline), word.x0)):
        if runs and _follows(runs[-1][-1], word, across):
            runs[-1].append(word)
        else:
            runs.append([word])
    return sorted(map(line_of, runs), key=lambda line: line.baseline)


def _follows(last: Word, word: Word, across: Sequence[VerticalRule]) -> bool:
    return (
        abs(last.baseline - word.baseline) <= 1
        and 0 <= word.x0 - last.x1 < _SPACE * word.size
        and not any(last.x1 - 1 < rule.x < word.x0 + 1 and rule.y0 < word.baseline < rule.y1 for rule in across)
    )


def _goes_on(above: Line, line: Line) -> bool:
    """Whether a line is the next one of the same label: right below and centred or aligned under it."""
    shared = min(above.box.x1, line.box.x1) - max(above.box.x0, line.box.x0)
    gap = line.box.y0 - above.box.y1
    return -0.3 * line.size < gap < _NEXT_LINE * line.size and shared > 0.6 * min(above.width, line.width)


def _is_title(label: _Label, words: Sequence[Word], *, box: Box, rules: Sequence[float]) -> bool:
    """Whether a label stands above its column: over the first inner rule, or with upright words below it alone."""
    inner = [y for y in rules if box.y0 + 3 < y < box.y1 - 3]
    if inner:
        return label.box.y1 <= min(inner) + 1
    column = [word.baseline for word in words if label.box.x0 - 2 <= word.center <= label.box.x1 + 2]
    return bool(column) and min(column) > label.box.y1


def _foot(titles: Sequence[_Label], words: Sequence[Word]) -> float:
    """The baseline of the row of titles: that of the lowest upright words beside them, else their own foot."""
    if not titles:
        return 0.0
    area = bounding_box(label.box for label in titles)
    return max((word.baseline for word in words if area.y0 < word.baseline < area.y1 + 1), default=area.y1)


def _halfway(label: _Label, baselines: Sequence[float]) -> float:
    """The baseline of the row beside the middle of a label, a baseline of its own between two rows."""
    size = label.lines[0].size
    middle = (label.box.y0 + label.box.y1) / 2 + _MIDDLE * size
    nearest = min(baselines, key=lambda y: abs(y - middle), default=middle)
    return nearest if abs(nearest - middle) < _SNAP * size else middle


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
