"""The head of a paper: title and authors."""

import re
from collections.abc import Sequence
from itertools import pairwise

from ingest.pdf.headings import FIXED, style_of
from ingest.pdf.layout import BodyStyle, PageLayout
from ingest.pdf.lines import Line, line_of
from ingest.pdf.words import Word

__all__ = ["author_lines", "author_names", "author_text", "title_lines"]


_AFFILIATION = re.compile(
    r"universi[td]|institut|facult|scien(?:ce|za|cia)|hochschule|cole\b|department|school|college|laborator|academy|"
    r"research|cent(?:er|re|ro|rum)\b|inc\b|corp|ltd|gmbh|kingdom|"
    r"@|https?:|\.com|\.edu|\.org|hospital|group\b|team\b|\bai\b|street|avenue|china|usa|germany|france|"
    r"google|microsoft|meta\b|amazon|ibm\b|equal|correspond|contribut",
    re.IGNORECASE,
)
_CHAPTER = re.compile(r"(?:chapter|part|appendix|lecture)\s+(?:\d{1,3}|[IVXL]+|[A-Z])[.:]?", re.IGNORECASE)
_OPENING = frozenset("“\"'‘([¿¡$")
_UPPER = 0.6
_OFF_CENTRE = 0.03
_LEAST_LINES = 4
_WIDE_GAP = 0.7
_NAME = re.compile(r"[^\W\d_][\w.'’-]*(?:\s+[^\W\d_][\w.'’-]*){1,4}")
_SIGNS = "¹²³⁴⁵⁶⁷⁸⁹⁰*†‡§¶♠♣♦♥⋆∗"
_MARK = re.compile(rf"\^\([^)]*\)|\^\w|[{_SIGNS}]+|(?<=[^\W\d_A-Z])\d+\b")
_PARTS = re.compile(rf"(?:{_MARK.pattern}|[,;&]|\b(?:and|AND)\b|\s{{2,}})+")
_MARKED_AFFILIATION = re.compile(rf"(?:\d|[{_SIGNS}]|\^\w)+\s*[^\W\d_]")


def title_lines(layout: PageLayout, free: Sequence[Line], *, body: BodyStyle) -> list[Line]:
    """The run of the largest lines in the upper part of the first page, the number of a chapter left out.

    If nothing is larger than the body: the lines in bold or capitals, centred, that open the page. Empty if there are
    none.
    """
    upper = sorted((line for line in free if _may_title(line, layout)), key=lambda line: line.baseline)
    largest = max((line.size for line in upper), default=0.0)
    if largest < body.size + 1:
        return _centred_opening(upper, layout)
    run: list[Line] = []
    for line in upper:
        if line.size < largest - 0.3:
            continue
        if run and line.baseline - run[-1].baseline > 2 * largest:
            break
        run.append(line)
    return run


def _may_title(line: Line, layout: PageLayout) -> bool:
    first = line.text[0]
    return (
        line.box.y1 < _UPPER * layout.content.height
        and len(line.text) > 3
        and (first.isalpha() or first.isdecimal() or first in _OPENING)
        and not _CHAPTER.fullmatch(line.text)
    )


def _centred_opening(upper: Sequence[Line], layout: PageLayout) -> list[Line]:
    """The first lines of a page in one style of bold letters or capitals, each in the page's middle."""
    if not upper or not (style_of(upper[0]).bold or style_of(upper[0]).capitals) or FIXED.fullmatch(upper[0].text):
        return []
    run: list[Line] = []
    for line in upper:
        centred = abs(line.center - layout.content.width / 2) < _OFF_CENTRE * layout.content.width
        follows = not run or line.baseline - run[-1].baseline < 2 * line.size
        if not centred or not follows or style_of(line) != style_of(upper[0]):
            break
        run.append(line)
    return run


def author_lines(
    free: Sequence[Line], *, title: Sequence[Line], end: Line | None, body: BodyStyle, measure: float
) -> list[Line]:
    """The lines between the title and `end`, the first heading or the abstract, on the first page, without running
    text: lines of body size that fill most of the `measure`, the width of a column (0 on a page of one), and
    justified lines below each other."""
    if not title or end is None:
        return []
    top, bottom = title[-1].baseline, end.baseline
    justified = _justified([line for line in free if top < line.baseline < bottom])
    return [
        line
        for line in free
        if top < line.baseline < bottom
        and line not in title
        and line not in justified
        and not (
            abs(line.size - body.size) < 0.6 and len(line.words) > 5 and 0.8 * measure < line.width < 1.1 * measure
        )
    ]


def _justified(lines: Sequence[Line]) -> set[Line]:
    """The lines, of those in reading order, of paragraphs of at least four whose lines but the last end at one edge."""
    runs: list[list[Line]] = []
    for line in lines:
        last = runs[-1][-1] if runs else None
        pitch = (line.baseline - last.baseline) / line.size if last else 0.0
        if last and 0 < pitch < 1.5 and abs(line.size - last.size) < 0.5 and abs(line.box.x0 - last.box.x0) < 15:
            runs[-1].append(line)
        else:
            runs.append([line])
    return {line for run in runs if _is_justified(run) for line in run}


def _is_justified(run: Sequence[Line]) -> bool:
    ends = [line.box.x1 for line in run[:-1]]
    return len(run) >= _LEAST_LINES and max(ends) - min(ends) < 2 and all(len(line.words) > 5 for line in run[:-1])


def author_text(line: Line) -> str:
    """A line of the authors; two blanks stand where a wide gap parts names without a comma."""
    groups: list[list[Word]] = [[line.words[0]]]
    for last, word in pairwise(line.words):
        if word.x0 - last.x1 > _WIDE_GAP * line.size:
            groups.append([])
        groups[-1].append(word)
    return "  ".join(line_of(group, size=line.size).text for group in groups)


def author_names(lines: Sequence[str], *, metadata: str) -> tuple[str, ...]:
    """The names in the file's metadata if it lists any, else what looks like names in the authors' lines.

    Below the first affiliation that a mark opens, only names with a mark count.
    """
    listed = [name.strip() for name in re.split(r"\s*;\s*|\s*,\s*|\s+and\s+", metadata) if name.strip()]
    if listed and all(_NAME.fullmatch(name) for name in listed):
        return tuple(listed)
    names: list[str] = []
    begun, affiliated = "", False
    for line in lines:
        if not any(letter.isalpha() for letter in line):
            continue
        affiliated = affiliated or bool(_MARKED_AFFILIATION.match(line))
        if _MARKED_AFFILIATION.match(line) or _AFFILIATION.search(line) or (affiliated and not _MARK.search(line)):
            begun = ""
            continue
        parts = _PARTS.split(f"{begun} {line}".strip())
        names.extend(name for part in parts if _is_name(name := part.strip(" .·|,")))
        begun = parts[-1].strip() if len(parts) > 1 and parts[-1].strip().isalpha() else ""
    return tuple(dict.fromkeys(names))


def _is_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and name[0].isupper() and len(name) < 40
