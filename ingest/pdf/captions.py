"""Finds the captions of tables and figures on a page: where each begins and ends."""

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.document.caption_wording import (
    CaptionKind,
    CaptionStart,
    caption_start,
    is_continuation_note,
    opens_continuation,
)
from ingest.document.geometry import bounding_box, overlap_x
from ingest.document.line_text import join_lines
from ingest.document.pages import HorizontalRule
from ingest.pdf.lines import Line, word_after
from paperscope_core.types import Box

__all__ = ["Caption", "find_captions", "nameless"]

# In points, or in letter sizes of the caption; chosen on the development papers.
_MIN_TABLE_RULE = 60.0  # Points; a shorter rule is a fraction bar or an underline.
_PITCH = 1.55  # The largest distance between lines of a caption.
_SPACE_ABOVE = 1.6  # A label without punctuation is a caption only with more space above it.
_SAME_SIZE = 0.6  # Points; the largest difference in letter size.
_SMALL_CAPITALS = 0.7  # The least size of small capitals, relative to the full size.
_ALIGNED = 3.0  # Points; the lines of a caption are aligned at the left to within this.
_CENTRED = 4.0  # Points; the tolerance of centred lines.
_JUSTIFIED_GAP = 2.5  # The widest space of justified text.
_MAX_LABEL = 12  # Letters; only a label without text is followed by a wide gap.
_MAX_HANG = 40.0  # Points by which a centred line may begin to the left of the first one.
_MOST_CAPTIONS = 100  # Of a page; a list of figures has about 50 entries. Each caption is compared with all lines.


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Caption:
    """A caption; `label` is normalized ("Table 5"), `text` excludes the label; see `nameless` for one without lines.

    `page` is the index of its page, from 0.
    """

    kind: CaptionKind
    label: str
    text: str
    lines: tuple[Line, ...]
    box: Box
    page: int = 0

    @property
    def first(self) -> Line:
        """The line with the label."""
        return self.lines[0]

    @property
    def continues(self) -> bool:
        """Whether it says that its table is a continuation."""
        return opens_continuation(self.text)


def nameless(kind: CaptionKind, box: Box) -> Caption:
    """Return the caption of a table or picture in a box that has none."""
    return Caption(kind=kind, label="", text="", lines=(), box=box)


def find_captions(
    lines: Sequence[Line], *, gutter: float | None, rules: Sequence[HorizontalRule] = (), page: int = 0
) -> list[Caption]:
    """Return the captions of a page (its index from 0), from top to bottom; none crosses one of the `rules`.

    A page with very many labels has none: it lists them.
    """
    if sum(caption_start(line.text) is not None for line in lines) > _MOST_CAPTIONS:
        return []
    starts = {line: start for line in lines if (start := _start(line, lines))}
    return [_caption(line, lines, starts, gutter=gutter, rules=rules, page=page) for line in starts]


def _start(line: Line, lines: Sequence[Line]) -> CaptionStart | None:
    """Return the start of a caption in a line; a sentence such as `Table 4 shows` is not one.

    Without punctuation (`Table 4 Results of ...`) the label must be bold or have space above the line.
    """
    start = caption_start(line.text)
    if start is None or start.marked or opens_continuation(line.text[start.end :]):
        return start
    if line.words[0].bold and not line.words[-1].bold:
        return start
    above = any(
        other is not line
        and 0 < line.baseline - other.baseline < _SPACE_ABOVE * line.size
        and overlap_x(other.box, line.box) > 0
        and abs(other.size - line.size) < _SAME_SIZE
        for other in lines
    )
    bare = start.end == len(line.text)
    return start if not above and (bare or line.text[start.end].isupper()) else None


def _caption(
    line: Line,
    lines: Sequence[Line],
    starts: dict[Line, CaptionStart],
    *,
    gutter: float | None,
    rules: Sequence[HorizontalRule],
    page: int,
) -> Caption:
    start = starts[line]
    members = [line, *_rest_of_first(line, lines)]
    after_label = word_after(line, start.end)
    text_left = after_label.x0 if after_label else None
    last = line
    whole = is_continuation_note(line.text)
    for other in lines:
        if whole or other in members or other in starts:
            continue
        continues = _continues(last, other, first=line, text_left=text_left, gutter=gutter)
        if continues and not _is_ruled_off(last, other, rules):
            members.append(other)
            last = other
    text = join_lines([line.text[start.end :], *(member.text for member in members[1:])])
    return Caption(
        kind=start.kind,
        label=start.label,
        text=text.strip(" :"),
        lines=tuple(members),
        box=bounding_box(member.box for member in members),
        page=page,
    )


def _rest_of_first(line: Line, lines: Sequence[Line]) -> list[Line]:
    """Return the text on the first line after a wide gap, as in `Table 3:   Results`."""
    if len(line.text) >= _MAX_LABEL:
        return []
    level = (other for other in lines if other is not line and abs(other.baseline - line.baseline) < 1)
    return [other for other in level if 0 < other.box.x0 - line.box.x1 < _JUSTIFIED_GAP * line.size]


def _is_ruled_off(last: Line, other: Line, rules: Sequence[HorizontalRule]) -> bool:
    return any(
        last.baseline < rule.y < other.middle and rule.width > _MIN_TABLE_RULE and rule.x0 < other.center < rule.x1
        for rule in rules
    )


def _continues(last: Line, other: Line, *, first: Line, text_left: float | None, gutter: float | None) -> bool:
    if not 0 < other.baseline - last.baseline < _PITCH * first.size or not _has_size(other, first.size):
        return False
    hangs_far = other.box.x0 < first.box.x0 - _MAX_HANG
    if abs(other.center - first.center) < _CENTRED and (text_left is None or other.box.x0 > first.box.x0 - _MAX_HANG):
        return True
    if gutter is not None and first.box.x1 < gutter < other.box.x1 - 2:
        return False
    if gutter is not None and first.box.x0 > gutter > other.box.x0 + 2:
        return False
    if overlap_x(other.box, first.box) <= 0 or hangs_far:
        return False
    lefts = (first.box.x0, last.box.x0, first.box.x0 if text_left is None else text_left)
    return any(abs(other.box.x0 - left) < _ALIGNED for left in lefts)


def _has_size(line: Line, size: float) -> bool:
    """Return whether a line is printed in a size, or in small capitals of that size."""
    return abs(line.size - size) < _SAME_SIZE or (line.text.isupper() and _SMALL_CAPITALS * size < line.size < size)
