"""Run-in headings: a number and a title at the head of a paragraph, set in a style of their own.

Only numbered ones are headings; a title without a number ("Results. We ...") belongs to its paragraph.
"""

import re
from collections.abc import Sequence

from ingest.pdf.page.lines import Line, line_of
from ingest.pdf.page.words import Word
from ingest.pdf.text.heading_levels import is_roman_scheme
from ingest.pdf.text.heading_styles import style_of

__all__ = ["cut_run_ins"]

_DOTTED = re.compile(r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){1,3}\.?")
_BELOW_ROMAN = re.compile(r"\d{1,2}\)")
_MOST_LINES = 3
_PITCH = 1.45


def cut_run_ins(flow: Sequence[Sequence[Line]]) -> tuple[list[list[Line]], frozenset[Line]]:
    """The lines of each page with numbered run-in headings cut from what follows them, and the lines cut off."""
    roman = is_roman_scheme([line.text for lines in flow for line in lines if style_of(line).capitals])
    titles: set[Line] = set()
    return [_cut_page(lines, roman=roman, titles=titles) for lines in flow], frozenset(titles)


def _cut_page(lines: Sequence[Line], *, roman: bool, titles: set[Line]) -> list[Line]:
    result: list[Line] = []
    index = 0
    while index < len(lines):
        parts = _cut(lines[index : index + _MOST_LINES], roman=roman)
        if parts:
            head, used, rest = parts
            titles.update(head)
            result.extend(head)
            result.extend([rest] if rest else [])
            index += used
        else:
            result.append(lines[index])
            index += 1
    return result


def _cut(lines: Sequence[Line], *, roman: bool) -> tuple[list[Line], int, Line | None] | None:
    """The title's lines, how many lines they came from, and the rest of the last of these."""
    words = lines[0].words
    numbered = _DOTTED.fullmatch(words[0].text) or (roman and _BELOW_ROMAN.fullmatch(words[0].text))
    if len(words) < 2 or not numbered or _style(words[1]) == (False, False):
        return None
    for used, line in enumerate(lines, start=1):
        if used > 1 and not _continues(lines[used - 2], line):
            return None
        end = _title_end(line, start=1 if used == 1 else 0, style=_style(words[1]))
        if end and line.words[end - 1].text.endswith((".", ":", "—")):
            rest = line_of(line.words[end:], size=line.size) if end < len(line.words) else None
            return [*lines[: used - 1], line_of(line.words[:end], size=line.size)], used, rest
        if end < len(line.words):
            return None
    return None


def _title_end(line: Line, *, start: int, style: tuple[bool, bool]) -> int:
    """Behind how many of a line's words the style ends that begins at `start`."""
    return next((at for at in range(start, len(line.words)) if _style(line.words[at]) != style), len(line.words))


def _continues(last: Line, line: Line) -> bool:
    """Whether a title that fills its line may go on in the next one."""
    filled = last.box.x1 > line.box.x1 - 3 * line.size
    return filled and 0 < line.baseline - last.baseline < _PITCH * line.size


def _style(word: Word) -> tuple[bool, bool]:
    return word.bold, word.italic
