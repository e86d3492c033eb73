"""The head of a paper: title and authors."""

import re
from collections.abc import Sequence

from ingest.pdf.layout import BodyStyle, PageLayout
from ingest.pdf.lines import Line

__all__ = ["author_lines", "author_names", "title_lines"]

_AFFILIATION = re.compile(
    r"universit|institut|department|school|college|laborator|academy|research|cent(?:er|re)\b|inc\b|corp|ltd|gmbh|"
    r"@|https?:|\.com|\.edu|\.org|faculty|hospital|group\b|team\b|\bai\b|street|avenue|china|usa|germany|france|"
    r"google|microsoft|meta\b|amazon|ibm\b|equal|correspond|contribut",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_][\w.'’-]*(?:\s+[^\W\d_][\w.'’-]*){1,4}")
_MARKS = re.compile(r"[\d¹²³⁴⁵⁶⁷⁸⁹⁰*†‡§¶♠♣♦♥⋆∗^_,]+(?=\s|$)|[*†‡§¶♠♣♦♥⋆∗⁰¹²³⁴⁵⁶⁷⁸⁹]")


def title_lines(layout: PageLayout, free: Sequence[Line], *, body: BodyStyle) -> list[Line]:
    """The run of the largest lines in the upper part of the first page; empty if nothing is larger than the body."""
    upper = [line for line in free if line.box.y1 < 0.6 * layout.content.height and len(line.text) > 3]
    largest = max((line.size for line in upper), default=0.0)
    if largest < body.size + 1:
        return []
    run: list[Line] = []
    for line in sorted(upper, key=lambda line: line.baseline):
        if line.size < largest - 0.3:
            continue
        if run and line.baseline - run[-1].baseline > 2 * largest:
            break
        run.append(line)
    return run


def author_lines(
    free: Sequence[Line], *, title: Sequence[Line], end: Line | None, body: BodyStyle, measure: float
) -> list[Line]:
    """The lines between the title and `end`, the first heading or the abstract, on the first page, without running
    text: lines of body size that fill most of the `measure`, the width of a column (0 on a page of one)."""
    if not title or end is None:
        return []
    top, bottom = title[-1].baseline, end.baseline
    return [
        line
        for line in free
        if top < line.baseline < bottom
        and line not in title
        and not (
            abs(line.size - body.size) < 0.6 and len(line.words) > 5 and 0.8 * measure < line.width < 1.1 * measure
        )
    ]


def author_names(lines: Sequence[str], *, metadata: str) -> tuple[str, ...]:
    """The names in the file's metadata if it lists any, else what looks like names in the authors' lines."""
    listed = [name.strip() for name in re.split(r"\s*;\s*|\s*,\s*|\s+and\s+", metadata) if name.strip()]
    if listed and all(_NAME.fullmatch(name) for name in listed):
        return tuple(listed)
    names: list[str] = []
    for line in lines:
        if _AFFILIATION.search(line):
            continue
        for part in re.split(r",|;|\band\b|&|\s{2,}|[¹²³⁴⁵⁶⁷⁸⁹⁰*†‡§¶∗]+", line):
            name = _MARKS.sub("", part).strip(" .·|")
            if _NAME.fullmatch(name) and name[0].isupper() and len(name) < 40:
                names.append(name)
    return tuple(dict.fromkeys(names))
