"""Headings: short lines in a style of their own, numbered, named in the outline, or set apart."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.pdf.backend import OutlineEntry
from ingest.pdf.edges import Edges
from ingest.pdf.hyphens import join_lines
from ingest.pdf.layout import BodyStyle, PageLayout
from ingest.pdf.lines import Line, bounds
from paperscope.types import Box

__all__ = ["FoundHeading", "find_headings", "is_references_title", "split_number"]

_NUMBER = re.compile(
    r"(?:(?:Appendix|Section|Chapter)\s+)?(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|[A-Z](?:\.\d{1,2}){1,3}|[A-Z]|[IVX]{1,5})"
    r"(?P<dot>[.:)]?)\s+(?=[^\W\d_]|\d+[A-Z]|[“\"'])"
)
_FIXED = re.compile(
    r"(?:abstract|references|bibliography|works cited|acknowledge?ments?|appendi(?:x|ces)|conclusions?|limitations|"
    r"introduction|discussion|results|methods|(?:broader )?impact(?: statement)?|ethics statement|"
    r"supplementary materials?|declarations?|funding|data availability)[.:]?",
    re.IGNORECASE,
)
_REFERENCES = re.compile(r"(?:\S+\s+)?(?:references|bibliography|works cited|literature cited)[.:]?", re.IGNORECASE)
_LONGEST = 140


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundHeading:
    """A heading of one or more lines on a page (its index from 0); `level` counts from 1."""

    page: int
    text: str
    level: int
    box: Box
    lines: tuple[Line, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Style:
    size: float
    bold: bool
    italic: bool
    capitals: bool


def split_number(text: str) -> tuple[str, str]:
    """`4.2 Results` -> (`4.2`, `Results`); a heading without a number gives ("", text)."""
    match = _NUMBER.match(text)
    if not match:
        return "", text.strip()
    return match["number"], text[match.end() :].strip()


def is_references_title(text: str) -> bool:
    """Whether a heading opens the bibliography."""
    return bool(_REFERENCES.fullmatch(split_number(text)[1]))


def find_headings(
    layouts: Sequence[PageLayout],
    flow: Sequence[Sequence[Line]],
    *,
    edges: Sequence[Sequence[Edges]],
    body: BodyStyle,
    outline: Sequence[OutlineEntry],
) -> list[FoundHeading]:
    """The headings among the lines of each page, which come in reading order."""
    titles = {_key(entry.title): entry.level for entry in outline}
    groups: list[tuple[int, list[Line]]] = []
    for page, (layout, lines) in enumerate(zip(layouts, flow, strict=True)):
        last: Line | None = None
        for index, line in enumerate(lines):
            above = lines[index - 1] if index else None
            below = lines[index + 1] if index + 1 < len(lines) else None
            if last is not None and groups and above is last and _goes_on(last, line, layout, body=body):
                groups[-1][1].append(line)
                last = line
            elif _is_heading(line, above, below, layout, edges=edges[page], body=body, titles=titles):
                groups.append((page, [line]))
                last = line
            else:
                last = None
    levels = _levels([group for _, group in groups], titles=titles)
    return [
        FoundHeading(
            page=page,
            text=_text(group),
            level=level,
            box=bounds(line.box for line in group),
            lines=tuple(group),
        )
        for (page, group), level in zip(groups, levels, strict=True)
    ]


def _key(text: str) -> str:
    return re.sub(r"\W", "", split_number(text)[1]).lower()


def _text(lines: Sequence[Line]) -> str:
    return join_lines(line.text for line in lines)


def _style(line: Line) -> _Style:
    letters = [letter for letter in line.text if letter.isalpha()]
    capitals = sum(letter.isupper() for letter in letters) > 0.8 * len(letters) if len(letters) > 3 else False
    return _Style(size=round(line.size * 2) / 2, bold=line.bold > 0.85, italic=line.italic > 0.7, capitals=capitals)


def _is_heading(
    line: Line,
    above: Line | None,
    below: Line | None,
    layout: PageLayout,
    *,
    edges: Sequence[Edges],
    body: BodyStyle,
    titles: dict[str, int],
) -> bool:
    text, style = line.text, _style(line)
    larger = line.size > body.size + 0.7
    strong = style.bold or larger or style.capitals
    if not (strong or style.italic) or not _can_be(line, body=body):
        return False
    key = _key(text)
    if strong and (_FIXED.fullmatch(text) or (len(key) > 3 and key in titles)):
        return True
    numbered = bool(_NUMBER.match(text)) and not text.endswith(".")
    if numbered and (style.bold or larger):
        return larger or _opens(line, above)
    column = min(layout.column(line), len(edges) - 1)
    short = line.box.x1 < edges[column].right - 1.5 * line.size
    apart = short and _opens(line, above) and (below is None or not _same_paragraph(line, below))
    plain = (larger or style.bold) and not text.endswith((".", ":")) and len(text) > 2
    return apart and (numbered or plain)


def _can_be(line: Line, *, body: BodyStyle) -> bool:
    """Whether a line's letters allow it to be a heading at all."""
    text = line.text
    return (
        len(text) <= _LONGEST
        and any(letter.isalpha() for letter in text)
        and line.math <= 0.5
        and line.size >= body.size - 0.7
        and not text.endswith((",", ";", "-") if line.size < body.size + 0.7 else (",", ";"))
        and not text[0].islower()
    )


def _opens(line: Line, above: Line | None) -> bool:
    """Whether a line has more than the usual space above it, or nothing."""
    if above is None or above.baseline >= line.baseline:
        return True
    return line.baseline - above.baseline > 1.3 * max(above.size, min(line.size, above.size * 1.1))


def _same_paragraph(line: Line, below: Line) -> bool:
    return (
        0 < below.baseline - line.baseline < 1.3 * line.size and abs(below.size - line.size) < 0.3 and below.bold > 0.3
    )


def _goes_on(last: Line, line: Line, layout: PageLayout, *, body: BodyStyle) -> bool:
    """Whether a line is the second line of a heading."""
    return (
        _style(last) == _style(line)
        and 0 < line.baseline - last.baseline < 1.45 * line.size
        and layout.column(line) == layout.column(last)
        and not _NUMBER.match(line.text)
        and not _FIXED.fullmatch(line.text)
        and not _FIXED.fullmatch(last.text)
        and (line.size > body.size + 0.3 or line.bold > 0.85)
    )


def _levels(groups: Sequence[Sequence[Line]], *, titles: dict[str, int]) -> list[int]:
    """By the number; else by the outline; else that of numbered headings in the same style; else by size."""
    texts = [_text(group) for group in groups]
    styles = [_style(group[0]) for group in groups]
    numbered: dict[_Style, int] = {}
    for text, style in zip(texts, styles, strict=True):
        number, _ = split_number(text)
        if number:
            numbered.setdefault(style, number.count(".") + 1)
    sizes = sorted({style.size for style in styles}, reverse=True)
    levels = []
    for text, style in zip(texts, styles, strict=True):
        number, _ = split_number(text)
        if number:
            levels.append(number.count(".") + 1)
        elif _FIXED.fullmatch(text):
            levels.append(1)
        else:
            levels.append(titles.get(_key(text)) or numbered.get(style) or min(sizes.index(style.size) + 1, 4))
    return levels
