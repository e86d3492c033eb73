"""Headings: blocks of lines in a style of their own, numbered, named in the outline, or set apart."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingest.document.hyphenation import join_lines
from ingest.document.pages import OutlineEntry
from ingest.pdf.backends.fonts import is_monospaced, is_small_capitals
from ingest.pdf.layout import BodyStyle, Edges, PageLayout
from ingest.pdf.lines import Line, bounding_box, line_of
from ingest.pdf.words import Word
from paperscope_core.types import Box

__all__ = [
    "FIXED",
    "NUMBER",
    "Block",
    "FoundHeading",
    "LineStyle",
    "blocks_of",
    "continues_below",
    "cut_run_ins",
    "find_headings",
    "has_space_above",
    "is_references_title",
    "is_roman_scheme",
    "is_set_off",
    "levels_of",
    "split_number",
    "style_of",
]


NUMBER = re.compile(
    r"(?:(?i:appendix|section|chapter)\s+)?(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|[A-Z](?:\.\d{1,2}){1,3}|[A-Z]|[IVX]{1,5})"
    r"(?P<dot>[.:)]?)\s+(?=[^\W\d_]|\d+[A-Z]|[“\"'])"
)
FIXED = re.compile(
    r"(?:abstract|references|bibliography|works cited|acknowledge?ments?|appendi(?:x|ces)|conclusions?|limitations|"
    r"introduction|discussion|results|methods|(?:broader )?impact(?: statement)?|ethics statement|"
    r"supplementary materials?|declarations?|funding|data availability)[.:]?",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"(?:\S+\s+)?(?:references(?: and notes| cited)?|notes and references|bibliography|works cited|"
    r"literature cited)[.:]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LineStyle:
    """How a line is set; `size` to half a point."""

    size: float
    bold: bool
    italic: bool
    capitals: bool

    @property
    def rank(self) -> tuple[float, bool, bool, bool]:
        """Sorts styles from the most to the least prominent."""
        return -self.size, not self.capitals, not self.bold, self.italic


def style_of(line: Line) -> LineStyle:
    """The style of most of a line's letters."""
    letters = [letter for letter in line.text if letter.isalpha()]
    capitals = len(letters) > 3 and sum(letter.isupper() for letter in letters) > 0.8 * len(letters)
    return LineStyle(
        size=round(line.size * 2) / 2,
        bold=line.bold > 0.85,
        italic=line.italic > 0.7,
        capitals=capitals or is_small_capitals(line.font),
    )


def split_number(text: str) -> tuple[str, str]:
    """`4.2 Results` -> (`4.2`, `Results`); a heading without a number gives ("", text)."""
    match = NUMBER.match(text)
    if not match:
        return "", text.strip()
    return match["number"], text[match.end() :].strip()


def is_references_title(text: str) -> bool:
    """Whether a heading opens the bibliography."""
    return bool(_REFERENCES.fullmatch(split_number(text)[1]))


_ORNAMENT = re.compile(r"^[■□▪▫◼◾◆♦▶►]\s*(?=[^\W_])")
_LABELLED = re.compile(r"(?:appendix|chapter)\s+[A-Z\d]{1,3}[.:]?", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Block:
    """Lines in one style, with the lines before and after them on their page."""

    page: int
    lines: tuple[Line, ...]
    above: Line | None
    below: Line | None

    @property
    def text(self) -> str:
        """The lines, joined, without the square or dot that some journals print before a title."""
        return _ORNAMENT.sub("", join_lines(line.text for line in self.lines))


def blocks_of(page: int, lines: Sequence[Line], *, layout: PageLayout, sure: frozenset[Line]) -> Iterator[Block]:
    """The blocks of a page's lines, which come in reading order; lines in `sure` share none with others."""
    start = 0
    for index in range(1, len(lines) + 1):
        if index < len(lines) and _goes_on(lines[index - 1], lines[index], layout, sure=sure):
            continue
        yield Block(
            page=page,
            lines=tuple(lines[start:index]),
            above=lines[start - 1] if start else None,
            below=lines[index] if index < len(lines) else None,
        )
        start = index


def _goes_on(last: Line, line: Line, layout: PageLayout, *, sure: frozenset[Line]) -> bool:
    """Whether a line may be the next line of the same heading."""
    return (
        style_of(last) == style_of(line)
        and 0 < line.baseline - last.baseline < 1.45 * line.size
        and layout.column(line) == layout.column(last)
        and (last in sure) == (line in sure)
        and not _is_numbered(line)
        and not FIXED.fullmatch(line.text)
        and (not FIXED.fullmatch(last.text) or bool(_LABELLED.fullmatch(last.text)))
    )


def _is_numbered(line: Line) -> bool:
    """Whether a line opens with a number; a second line may well begin with a capital letter on its own."""
    match = NUMBER.match(line.text)
    if not match:
        return False
    return not match["number"].isalpha() or bool(match["dot"]) or len(match["number"]) > 1


def has_space_above(block: Block) -> bool:
    """Whether a block has more than the usual space above it, or nothing."""
    line, above = block.lines[0], block.above
    if above is None or above.baseline >= line.baseline:
        return True
    return line.baseline - above.baseline > 1.3 * max(above.size, min(line.size, above.size * 1.1))


def is_set_off(block: Block) -> bool:
    """Whether a block has the space of two lines above it, and more than the usual one below."""
    first, last, above, below = block.lines[0], block.lines[-1], block.above, block.below
    if above is None or below is None:
        return False
    return first.baseline - above.baseline > 2.2 * first.size and below.baseline - last.baseline > 1.6 * last.size


def continues_below(block: Block) -> bool:
    """Whether the text goes on below in much the same style."""
    last, below = block.lines[-1], block.below
    return (
        below is not None
        and 0 < below.baseline - last.baseline < 1.3 * last.size
        and abs(below.size - last.size) < 0.3
        and (below.bold > 0.3 if last.bold > 0.5 else below.italic > 0.5 and last.italic > 0.5)
    )


_ROMAN = re.compile(r"[IVX]+")
_SECOND_ROMAN = re.compile(r"(?:II|III|IV)\.?\s")


def is_roman_scheme(texts: Sequence[str]) -> bool:
    """Whether sections count I, II, III: then A, B are subsections, and 1), a) what is below them."""
    return any(_SECOND_ROMAN.match(text) for text in texts)


def levels_of(texts: Sequence[str], styles: Sequence[LineStyle], *, outlined: Sequence[int]) -> list[int]:
    """A level from 1 for each heading; `outlined` are the levels in the file's outline, 0 for those not in it."""
    roman = is_roman_scheme(texts)
    roman_styles = {style for text, style in zip(texts, styles, strict=True) if _SECOND_ROMAN.match(text)}
    known = [
        _by_number(text, roman=roman, sectional=style in roman_styles)
        for text, style in zip(texts, styles, strict=True)
    ]
    numbered: dict[LineStyle, int] = {}
    for level, style in zip(known, styles, strict=True):
        if level:
            numbered.setdefault(style, level)
    free = {style for level, style in zip(known, styles, strict=True) if not level}
    ranks = {style: rank for rank, style in enumerate(sorted(free, key=lambda style: style.rank), start=1)}
    return [
        level or (1 if FIXED.fullmatch(text) else in_outline or numbered.get(style) or min(ranks[style], 4))
        for level, text, style, in_outline in zip(known, texts, styles, outlined, strict=True)
    ]


def _by_number(text: str, *, roman: bool, sectional: bool) -> int:
    """The level that a heading's number says, 0 without a number."""
    number, _ = split_number(text)
    if not number:
        return 0
    if not roman:
        return number.count(".") + 1
    if sectional and _ROMAN.fullmatch(number):
        return 1
    if number.isalpha() and len(number) == 1:
        return 2 if not sectional else 1
    return 3 if number.isdigit() and text[len(number) :][:1] == ")" else number.count(".") + 1


_LONGEST = 160
_MOST_LINES = 4
_FORMULA = re.compile(r"[=∫∑∏≤≥≈→←∈]")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundHeading:
    """A heading of one or more lines on a page (its index from 0); `level` counts from 1."""

    page: int
    text: str
    level: int
    box: Box
    lines: tuple[Line, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _HeadingClassifier:
    """Decides which blocks are headings; `titles` are those of the outline, as keys."""

    layouts: Sequence[PageLayout]
    edges: Sequence[Sequence[Edges]]
    body: BodyStyle
    titles: dict[str, int]
    sure: frozenset[Line]

    def accepts(self, block: Block, *, stacked: bool) -> bool:
        """`stacked` says that the block stands right under a heading."""
        first = block.lines[0]
        if first in self.sure:
            return True
        text, style = block.text, style_of(first)
        larger = first.size > self.body.size + 0.7
        strong = style.bold or larger or style.capitals
        if not (strong or style.italic) or not self.can_be(block, text):
            return False
        key = _key(text)
        if strong and (FIXED.fullmatch(text) or (len(key) > 3 and key in self.titles and not text.endswith(":"))):
            return True
        numbered = bool(NUMBER.match(text)) and not text.endswith(".")
        if numbered and (style.bold or larger):
            return larger or stacked or has_space_above(block)
        apart = self.is_short(block) and (stacked or has_space_above(block)) and not continues_below(block)
        plain = strong and not text.endswith((".", ":")) and len(text) > 2
        return apart and (numbered or (plain and not _FORMULA.search(text) and not self.is_row(block)))

    def can_be(self, block: Block, text: str) -> bool:
        """Whether a block's letters and neighbours allow it to be a heading at all."""
        first = block.lines[0]
        larger = first.size > self.body.size + 0.7
        style = style_of(first)
        least = self.body.size - (1.6 if style.bold or style.italic else 0.7)
        return (
            len(text) <= _LONGEST
            and len(block.lines) <= _MOST_LINES
            and any(letter.isalpha() for letter in text)
            and max(line.math for line in block.lines) <= 0.5
            and first.size >= least
            and not text.endswith((",", ";") if larger else (",", ";", "-"))
            and not text[0].islower()
            and (larger or not is_monospaced(first.font) or is_monospaced(self.body.font))
        )

    def is_row(self, block: Block) -> bool:
        """Whether other words stand beside the block in its column, as in a row of a table."""
        layout = self.layouts[block.page]
        column = layout.column(block.lines[0])
        edges = self.edges[block.page][min(column, len(self.edges[block.page]) - 1)]
        words = {word for line in block.lines for word in line.words}
        return any(
            abs(other.baseline - line.baseline) < 0.25 * line.size
            and layout.column(other) == column
            and other.box.x1 > edges.left
            and other.box.x0 < edges.right
            and words.isdisjoint(other.words)
            for line in block.lines
            for other in layout.lines
        )

    def is_short(self, block: Block) -> bool:
        """Whether the last line ends before the column does, is centred in it, or has much space around the block."""
        last = block.lines[-1]
        edges = self.edges[block.page]
        edge = edges[min(self.layouts[block.page].column(last), len(edges) - 1)]
        left, right = last.box.x0 - edge.left, edge.right - last.box.x1
        centred = abs(left - right) < 0.5 * last.size < left
        return right > 1.5 * last.size or centred or is_set_off(block)


def find_headings(
    layouts: Sequence[PageLayout],
    flow: Sequence[Sequence[Line]],
    *,
    edges: Sequence[Sequence[Edges]],
    body: BodyStyle,
    outline: Sequence[OutlineEntry],
    sure: frozenset[Line] = frozenset(),
    title: Sequence[Line] = (),
) -> list[FoundHeading]:
    """The headings among the lines of each page, which come in reading order; those in `sure` are known to be some.

    The paper's title, printed again over a supplement, is none.
    """
    titles = {_key(entry.title): entry.level for entry in outline}
    judge = _HeadingClassifier(layouts=layouts, edges=edges, body=body, titles=titles, sure=sure)
    named = _key(join_lines(line.text for line in title))
    blocks = [
        block
        for page, (layout, lines) in enumerate(zip(layouts, flow, strict=True))
        for block in blocks_of(page, lines, layout=layout, sure=sure)
    ]
    found = _accepted([block for block in blocks if _key(block.text) != named], judge=judge)
    found += _lone_italics(blocks, found, judge=judge)
    order = {line: at for lines in flow for at, line in enumerate(lines)}
    found.sort(key=lambda block: (block.page, order[block.lines[0]]))
    outlined = [titles.get(_key(block.text), 0) for block in found]
    levels = levels_of(
        [block.text for block in found], [style_of(block.lines[0]) for block in found], outlined=outlined
    )
    return [
        FoundHeading(
            page=block.page,
            text=block.text,
            level=level,
            box=bounding_box(line.box for line in block.lines),
            lines=block.lines,
        )
        for block, level in zip(found, levels, strict=True)
    ]


def _accepted(blocks: Sequence[Block], *, judge: _HeadingClassifier) -> list[Block]:
    found: list[Block] = []
    for block in blocks:
        if judge.accepts(block, stacked=bool(found) and found[-1].lines[-1] is block.above):
            found.append(block)
    return found


def _lone_italics(blocks: Sequence[Block], found: Sequence[Block], *, judge: _HeadingClassifier) -> list[Block]:
    """Headings in italics without numbers: set apart, and at least two of them in one style."""
    candidates = [
        block
        for block in blocks
        if block not in found
        and style_of(block.lines[0]).italic
        and not NUMBER.match(block.text)
        and block.text[-1].isalnum()
        and len(block.text) < 0.5 * _LONGEST
        and judge.can_be(block, block.text)
        and judge.is_short(block)
        and has_space_above(block)
        and not continues_below(block)
        and block.below is not None
        and block.below.italic < 0.5
        and not _FORMULA.search(block.text)
        and not judge.is_row(block)
    ]
    styles = Counter((round(block.lines[0].size, 1), block.lines[0].font) for block in candidates)
    return [block for block in candidates if styles[round(block.lines[0].size, 1), block.lines[0].font] > 1]


def _key(text: str) -> str:
    return re.sub(r"\W", "", split_number(text)[1]).lower()


_DOTTED = re.compile(r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){1,3}\.?")
_BELOW_ROMAN = re.compile(r"\d{1,2}\)")
_MOST_RUN_IN_LINES = 3
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
        parts = _cut(lines[index : index + _MOST_RUN_IN_LINES], roman=roman)
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
