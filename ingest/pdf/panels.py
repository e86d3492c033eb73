"""The panels of a figure, marked (a), (b), (c)."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from ingest.document.hyphenation import join_lines
from ingest.pdf.lines import Line, bounding_box
from paperscope_core.types import Box

__all__ = ["FoundPanel", "find_panels", "is_marked"]


_MARK = re.compile(r"^\(([a-zA-Z])\)\s*(.*)$|^([a-zA-Z])\)\s+(.*)$")
_IN_CAPTION = re.compile(r"(?:^|(?<=[\s;,.:(]))\(([a-zA-Z])\)\s*")
_SAME_ROW = 6.0
_HEAD = 0.3


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundPanel:
    """A part of a figure: its mark without parentheses, its box, and what stands beside the mark."""

    mark: str
    box: Box
    caption: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Mark:
    letter: str
    lines: tuple[Line, ...]
    text: str

    @property
    def box(self) -> Box:
        return bounding_box(line.box for line in self.lines)

    @property
    def center(self) -> float:
        return (self.box.x0 + self.box.x1) / 2


def is_marked(line: Line) -> bool:
    """Whether a line begins with a mark, or is one."""
    return bool(_MARK.match(line.text))


def find_panels(
    whole: Box, *, lines: Collection[Line], ink: Sequence[Box], letters: Sequence[Box], caption: str
) -> tuple[FoundPanel, ...]:
    """The panels of a figure in the order of their marks, none if they aren't marked from (a) on.

    `letters` are those that stand askew.

    Marks stand below their panels, or at their head. What the figure's caption says of a mark is the panel's caption
    where nothing stands beside the mark.
    """
    told = dict(_told(caption))
    marks = _marks(lines)
    if not _in_order([mark.letter for mark in marks]):
        images = sorted(ink, key=lambda box: (round(box.y0 / 20), box.x0))
        if not _in_order(list(told)) or len(images) != len(told):
            return ()
        return tuple(
            FoundPanel(mark=letter, box=box, caption=told[letter]) for letter, box in zip(told, images, strict=True)
        )
    if len({round(mark.lines[0].baseline / _SAME_ROW) for mark in marks}) == len(marks) and _is_flat(whole):
        return ()
    boxes = _boxes(whole, marks, [*ink, *letters, *(line.box for line in lines)])
    return tuple(
        FoundPanel(mark=mark.letter, box=boxes[mark.letter], caption=mark.text or told.get(mark.letter, ""))
        for mark in marks
    )


def _is_flat(box: Box) -> bool:
    """Whether a box is too low to hold panels one above the other: marks at different heights are notes in it."""
    return box.y1 - box.y0 < 0.4 * (box.x1 - box.x0)


def _in_order(letters: Sequence[str]) -> bool:
    """Whether there are two letters or more, and they run a, b, c (or A, B, C)."""
    first = letters[0] if letters else ""
    return (
        first in ("a", "A")
        and len(letters) > 1
        and [ord(letter) - ord(first) for letter in letters] == [*range(len(letters))]
    )


def _marks(lines: Collection[Line]) -> list[_Mark]:
    """The marked lines by letter, each with the lines that go on below it; the lowest where a letter comes twice."""
    found: dict[str, _Mark] = {}
    for line in sorted(lines, key=lambda line: line.baseline):
        match = _MARK.match(line.text)
        if match:
            rest = list(_below(line, lines))
            text = join_lines([match[2] or match[4] or "", *(other.text for other in rest)]).strip()
            letter = match[1] or match[3]
            found[letter] = _Mark(letter=letter, lines=(line, *rest), text=text)
    return [found[letter] for letter in sorted(found)]


def _below(line: Line, lines: Collection[Line]) -> Iterator[Line]:
    """The lines that go on with the text beside a mark."""
    last = line
    for other in sorted(lines, key=lambda line: line.baseline):
        pitch = other.baseline - last.baseline
        overlap = min(other.box.x1, line.box.x1) - max(other.box.x0, line.box.x0)
        if 0.5 * line.size < pitch < 1.45 * line.size and abs(other.size - line.size) < 0.5 and overlap > 0:
            if _MARK.match(other.text):
                return
            yield other
            last = other


def _boxes(whole: Box, marks: Sequence[_Mark], parts: Sequence[Box]) -> dict[str, Box]:
    """The box of each panel: what of the figure is nearest to its mark, in rows and columns of marks."""
    rows: list[list[_Mark]] = []
    for mark in sorted(marks, key=lambda mark: mark.lines[0].baseline):
        if rows and mark.lines[0].baseline - rows[-1][0].lines[0].baseline < _SAME_ROW:
            rows[-1].append(mark)
        else:
            rows.append([mark])
    below = rows[0][0].box.y0 - whole.y0 > _HEAD * (whole.y1 - whole.y0) / len(rows)
    boxes: dict[str, Box] = {}
    for index, row in enumerate(rows):
        if below:
            top = max(mark.box.y1 for mark in rows[index - 1]) if index else whole.y0
            bottom = max(mark.box.y1 for mark in row) if index + 1 < len(rows) else whole.y1
        else:
            top = min(mark.box.y0 for mark in row) if index else whole.y0
            bottom = min(mark.box.y0 for mark in rows[index + 1]) if index + 1 < len(rows) else whole.y1
        row.sort(key=lambda mark: mark.center)
        band = [box for box in parts if top - 1 <= (box.y0 + box.y1) / 2 <= bottom + 1]
        cuts = [_cut_between(left, right, band, centred=below) for left, right in pairwise(row)]
        for mark, x0, x1 in zip(row, [whole.x0, *cuts], [*cuts, whole.x1], strict=True):
            inside = [
                box for box in band if x0 - 1 <= (box.x0 + box.x1) / 2 <= x1 + 1 and box.x1 - box.x0 < 1.1 * (x1 - x0)
            ]
            cell = Box(x0, top, x1, bottom)
            boxes[mark.letter] = _clipped(bounding_box(inside), cell) if inside else cell
    return boxes


def _cut_between(left: _Mark, right: _Mark, band: Sequence[Box], *, centred: bool) -> float:
    """The x between two panels: the middle of the widest gap that nothing crosses between their marks."""
    start, end = (left.center, right.center) if centred else (left.box.x0, right.box.x0)
    middle = (start + end) / 2 if centred else end - 2
    edges = sorted((max(box.x0, start), min(box.x1, end)) for box in band if box.x1 > start and box.x0 < end)
    gaps: list[tuple[float, float]] = []
    reach = start
    for x0, x1 in edges:
        if x0 > reach:
            gaps.append((x0 - reach, (x0 + reach) / 2))
        reach = max(reach, x1)
    gaps.extend([(end - reach, (end + reach) / 2)] if end > reach else [])
    return max(gaps)[1] if gaps else middle


def _clipped(box: Box, cell: Box) -> Box:
    return Box(max(box.x0, cell.x0), max(box.y0, cell.y0), min(box.x1, cell.x1), min(box.y1, cell.y1))


def _told(caption: str) -> Iterator[tuple[str, str]]:
    """(mark, text) of what a caption says of its marks: "(a) training; (b) test"."""
    marks = list(_IN_CAPTION.finditer(caption))
    for match, after in zip_longest(marks, marks[1:]):
        text = caption[match.end() : after.start() if after else len(caption)]
        yield match[1], re.sub(r"[\s;,]+(?:and)?\s*$", "", text)
