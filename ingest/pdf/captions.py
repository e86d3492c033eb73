"""Captions: which lines name a table or a figure, and how far they go."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ingest.document.captions import is_continuation_note, opens_continuation
from ingest.document.hyphenation import join_lines
from ingest.document.pages import HorizontalRule
from ingest.pdf.lines import Line, bounding_box
from paperscope_core.types import Box

__all__ = ["Caption", "CaptionKind", "caption_start", "find_captions", "normalized_label"]


CaptionKind = Literal["table", "figure", "other"]

_TABLE_RULE = 60.0
_KINDS: dict[str, tuple[CaptionKind, str]] = {
    "tab": ("table", "Table"),
    "fig": ("figure", "Figure"),
    "alg": ("other", "Algorithm"),
    "lis": ("other", "Listing"),
    "sch": ("figure", "Scheme"),
}
_WORD = r"(?P<word>Table|Tab\.|Figure|Fig\.?|Algorithm|Listing|Scheme)"
_NUMBER = r"(?P<number>[A-Z]{0,2}\.?\d+(?:\.\d+)*|[IVX]+|[A-Z]\.\d+)"
_START = re.compile(
    rf"^(?:Supplementary\s+|Extended Data\s+|Appendix\s+)?{_WORD}\s*{_NUMBER}"
    r"(?P<mark>\s*[:|—]|\s*[–-]\s|\.(?=\s|$)|\s*$|(?=\s+[A-Z(]))\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Caption:
    """A caption: `label` normalised ("Table 5"), `text` without the label."""

    kind: CaptionKind
    label: str
    text: str
    lines: tuple[Line, ...]
    box: Box

    @property
    def first(self) -> Line:
        """The line that names the table or figure."""
        return self.lines[0]

    @property
    def continues(self) -> bool:
        """Whether it says that its table or figure was begun before."""
        return opens_continuation(self.text)


def normalized_label(word: str, number: str) -> str:
    """`Tab.`, `5` -> `Table 5`; `Fig.`, `S.2` -> `Figure S.2`."""
    return f"{_KINDS[word[:3].lower()][1]} {number.rstrip('.')}"


def caption_start(text: str, *, marked: bool) -> tuple[CaptionKind, str, str] | None:
    """Kind, label and rest of a text that begins like a caption, None for any other; `marked` asks for a sign between
    label and rest (`Table 4: Results`)."""
    match = _START.match(text)
    if (
        not match
        or not match["word"][0].isupper()
        or (marked and not match["mark"].strip() and match.end() < len(text))
    ):
        return None
    return (
        _KINDS[match["word"][:3].lower()][0],
        normalized_label(match["word"], match["number"]),
        text[match.end() :].strip(),
    )


def find_captions(
    lines: Sequence[Line], *, gutter: float | None, rules: Sequence[HorizontalRule] = ()
) -> list[Caption]:
    """The captions of a page, from top to bottom; none goes on beyond one of the horizontal `rules`."""
    starts = {line: match for line in lines if (match := _start(line, lines))}
    return [
        _caption(line, match, lines, starts=list(starts), gutter=gutter, rules=rules) for line, match in starts.items()
    ]


def _start(line: Line, lines: Sequence[Line]) -> re.Match[str] | None:
    """A line starts a caption if it begins with a label and a mark; a sentence `Table 4 shows` does not.

    Without a mark (`Table 4 Results of ...`) the label must be set off: bold, or with free space above the line.
    """
    match = _START.match(line.text)
    if not match or not match["word"][0].isupper():
        return None
    if match["mark"].strip() or opens_continuation(line.text[match.end() :]):
        return match
    if line.words[0].bold and not line.words[-1].bold:
        return match
    above = [
        other
        for other in lines
        if other is not line
        and 0 < line.baseline - other.baseline < 1.6 * line.size
        and min(other.box.x1, line.box.x1) > max(other.box.x0, line.box.x0)
        and abs(other.size - line.size) < 0.6
    ]
    bare = match.end() == len(line.text)
    if bare and not above:
        return match
    return match if not above and line.text[match.end() : match.end() + 1].isupper() else None


def _caption(
    line: Line,
    match: re.Match[str],
    lines: Sequence[Line],
    *,
    starts: Sequence[Line],
    gutter: float | None,
    rules: Sequence[HorizontalRule],
) -> Caption:
    members = [line, *_rest_of_first(line, lines)]
    text_left = _text_left(line, match.end())
    last = line
    whole = is_continuation_note(line.text)
    for other in lines:
        if whole or other in members or other in starts or _ruled_off(last, other, rules):
            continue
        row = _row(other, lines, right=line.box.x1)
        if _is_row(other, line, lines) or (last is line and _is_cell(row[-1], line, lines, left=other)):
            continue
        if _continues(last, other, first=line, text_left=text_left, gutter=gutter):
            members.extend(row)
            last = other
    text = join_lines([line.text[match.end() :], *(member.text for member in members[1:])])
    kind, _ = _KINDS[match["word"][:3].lower()]
    return Caption(
        kind=kind,
        label=normalized_label(match["word"], match["number"]),
        text=text.strip(" :"),
        lines=tuple(members),
        box=bounding_box(member.box for member in members),
    )


def _rest_of_first(line: Line, lines: Sequence[Line]) -> list[Line]:
    """What stands on the first line behind a wide gap, as in `Table 3:   Results`."""
    return [
        other
        for other in lines
        if other is not line
        and abs(other.baseline - line.baseline) < 1
        and 0 < other.box.x0 - line.box.x1 < 2.5 * line.size
        and len(line.text) < 12
    ]


def _text_left(line: Line, label: int) -> float | None:
    """Where the text begins behind a label of so many letters, None if the label stands alone."""
    at = 0
    for word in line.words:
        if at >= label:
            return word.x0
        at = line.text.index(word.text, at) + len(word.text) + 1
    return None


def _ruled_off(last: Line, other: Line, rules: Sequence[HorizontalRule]) -> bool:
    return any(
        last.baseline < rule.y < other.baseline - 0.3 * other.size
        and rule.x1 - rule.x0 > _TABLE_RULE
        and rule.x0 < other.center < rule.x1
        for rule in rules
    )


def _continues(last: Line, other: Line, *, first: Line, text_left: float | None, gutter: float | None) -> bool:
    pitch = other.baseline - last.baseline
    if not 0 < pitch < 1.55 * first.size or not _is_of_size(other, first.size):
        return False
    if abs(other.center - first.center) < 4 and (text_left is None or other.box.x0 > first.box.x0 - 40):
        return True
    if gutter is not None and first.box.x1 < gutter < other.box.x1 - 2:
        return False
    if gutter is not None and first.box.x0 > gutter > other.box.x0 + 2:
        return False
    if min(other.box.x1, first.box.x1) <= max(other.box.x0, first.box.x0) or other.box.x0 < first.box.x0 - 40:
        return False
    lefts = (first.box.x0, last.box.x0, first.box.x0 if text_left is None else text_left)
    return any(abs(other.box.x0 - left) < 3 for left in lefts)


def _is_row(other: Line, first: Line, lines: Sequence[Line]) -> bool:
    """Whether another text stands left of a line, under the caption's first one: both are cells of a table."""
    return any(
        abs(line.baseline - other.baseline) < 1 and first.box.x0 - 5 < line.box.x0 and line.box.x1 < other.box.x0
        for line in lines
    )


def _row(line: Line, lines: Sequence[Line], *, right: float) -> list[Line]:
    """A line with what stands beside it up to the caption's right end, at the wide spaces of justified text."""
    row = [line]
    for other in lines:
        gap = other.box.x0 - row[-1].box.x1
        if abs(other.baseline - line.baseline) < 1 and 0 < gap < 2.5 * line.size and other.box.x1 < right + 3:
            row.append(other)
    return row if abs(row[-1].box.x1 - right) < 3 else row[:1]


def _is_cell(line: Line, first: Line, lines: Sequence[Line], *, left: Line) -> bool:
    """Whether a line that hangs is the first cell of a row: more stands near its right end, which is not the
    caption's."""
    hangs = abs(left.box.x0 - first.box.x0) >= 3 and abs(left.center - first.center) >= 4
    return (
        hangs
        and abs(line.box.x1 - first.box.x1) >= 3
        and any(
            abs(other.baseline - line.baseline) < 1 and 0 < other.box.x0 - line.box.x1 < 8 * line.size
            for other in lines
        )
    )


def _is_of_size(line: Line, size: float) -> bool:
    """Whether a line is set in a size, or in small capitals of it."""
    return abs(line.size - size) < 0.6 or (line.text.isupper() and 0.7 * size < line.size < size)
