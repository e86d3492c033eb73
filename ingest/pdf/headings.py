"""Finds headings: blocks of lines in a distinct style, numbered, listed in the outline, or set off by space."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ingest.document.caption_wording import FIXED_TITLE, NUMBER, is_references_title, split_number
from ingest.document.geometry import bounding_box
from ingest.document.line_text import join_lines
from ingest.document.pages import OutlineEntry
from ingest.pdf.fonts import is_small_capitals
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, line_of
from ingest.pdf.pdf_words import Word
from paperscope_core.types import Box

__all__ = ["FoundHeading", "LineStyle", "cut_run_ins", "find_headings", "is_contents_entry", "levels_of", "style_of"]

# Letter sizes unless said otherwise; chosen on the development papers.
_MAX_LENGTH = 160  # The most letters in a heading.
_MAX_LINES = 4  # More lines in one style are a paragraph.
_LARGER = 0.7  # Points by which a heading is larger than the body, unless its style differs.
_MUCH_SMALLER = 1.6  # Points by which a bold or italic heading may be smaller than the body.
_BOLD_SHARE, _ITALIC_SHARE, _CAPITALS_SHARE = 0.85, 0.7, 0.8  # Shares of a line's letters.
_LEADING = 1.45  # The largest distance between lines of one heading.
_SPACE_ABOVE = 1.3  # Baselines further apart than this have extra space between them.
_TWO_LINES_ABOVE, _SPACE_BELOW = 2.2, 1.6  # The least space above and below a block that is set off.
_CONTINUED_LEADING = 1.3  # Text at a smaller distance may continue the block.
_ALIKE_SIZE = 0.3  # The largest difference in size, in points, to a block's continuation.
_ALIKE_BOLD = 0.3  # The least share of bold letters in the line below a bold block.
_MAX_LARGER = 1.1  # The largest factor by which the size of the text above is raised to the size of a larger heading.
_SHORT = 1.5  # The least distance from the end of a heading to the end of its column.
_MAX_MATH = 0.5  # The largest share of mathematical letters; a formula is not a heading.
_MAX_LEVEL = 4  # The deepest level of headings without a number.
_MAX_RUN_IN_LINES = 3  # A run-in title over more lines is a sentence in italics.
_ALIGNED, _ALIGNED_NUMBERS = 0.2, 3  # Page numbers end at one x; the least number that shows it.
_SAME_ROW = 0.25  # The largest difference in baseline within a row.
_ENTRY_GAP = (
    2.0  # The least gap before the page number of an entry in a table of contents; spaces of text are narrower.
)
_FULL_LINE = 3.0  # The largest distance from the end of a title's first line to the end of the column.

_FORMULA = re.compile(r"[=∫∑∏≤≥≈→←∈]")
_WORD = re.compile(r"[^\W\d_]{2}")  # The labels of a drawing may be single letters.
_LEADERS = re.compile(r"(?:\.\s?){4}")
_ORNAMENT = re.compile(r"^[■□▪▫◼◾◆♦▶►]\s*(?=[^\W_])")
_LABELLED = re.compile(r"(?:appendix|chapter)\s+[A-Z\d]{1,3}[.:]?", re.IGNORECASE)
_ROMAN = re.compile(r"[IVX]+")
_SECOND_ROMAN = re.compile(r"(?:II|III|IV)\.?\s")
_DOTTED = re.compile(r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){1,3}\.?")
_BELOW_ROMAN = re.compile(r"\d{1,2}\)")


@dataclass(frozen=True, kw_only=True, slots=True)
class LineStyle:
    """The style of a line; `size` is rounded to half a point."""

    size: float
    bold: bool
    italic: bool
    capitals: bool

    @property
    def rank(self) -> tuple[float, bool, bool, bool]:
        """Returns a sort key from the most to the least prominent style."""
        return -self.size, not self.capitals, not self.bold, self.italic


def style_of(line: Line) -> LineStyle:
    """Return the style of most of a line's letters."""
    letters = [letter for letter in line.text if letter.isalpha()]
    capitals = len(letters) > 3 and sum(letter.isupper() for letter in letters) > _CAPITALS_SHARE * len(letters)
    return LineStyle(
        size=round(line.size * 2) / 2,
        bold=line.bold > _BOLD_SHARE,
        italic=line.italic > _ITALIC_SHARE,
        capitals=capitals or is_small_capitals(line.font),
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundHeading:
    """A heading of one or more lines on a page (its index from 0); `level` counts from 1."""

    page: int
    text: str
    level: int
    box: Box
    lines: tuple[Line, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Block:
    """Lines in one style that may be a heading, with the lines before and after them on their page."""

    layout: PageLayout
    lines: tuple[Line, ...]
    above: Line | None
    below: Line | None

    @cached_property
    def text(self) -> str:
        """The lines, joined, without the square or dot that some journals print before a title."""
        return _ORNAMENT.sub("", join_lines(line.text for line in self.lines))

    @cached_property
    def style(self) -> LineStyle:
        return style_of(self.lines[0])

    @property
    def is_larger(self) -> bool:
        """Whether it is larger than the body."""
        return self.lines[0].size > self.layout.body.size + _LARGER

    @property
    def may_be_heading(self) -> bool:
        """Whether its text and style allow it to be a heading."""
        first, text, style, body = self.lines[0], self.text, self.style, self.layout.body
        return (
            len(text) <= _MAX_LENGTH
            and len(self.lines) <= _MAX_LINES
            and bool(_WORD.search(text))
            and max(line.math for line in self.lines) <= _MAX_MATH
            and first.size >= body.size - (_MUCH_SMALLER if style.bold or style.italic else _LARGER)
            and not text.endswith((",", ";") if self.is_larger else (",", ";", "-"))
            and (self.is_larger or not body.is_program(first.font))
        )

    @property
    def has_space_above(self) -> bool:
        """Whether there is more than the usual space above, or nothing."""
        line, above = self.lines[0], self.above
        if above is None or above.baseline >= line.baseline:
            return True
        return line.baseline - above.baseline > _SPACE_ABOVE * max(above.size, min(line.size, above.size * _MAX_LARGER))

    @property
    def is_set_off(self) -> bool:
        """Whether there are two lines of space above, and more than the usual space below."""
        first, last, above, below = self.lines[0], self.lines[-1], self.above, self.below
        if above is None or below is None:
            return False
        return (
            first.baseline - above.baseline > _TWO_LINES_ABOVE * first.size
            and below.baseline - last.baseline > _SPACE_BELOW * last.size
        )

    @property
    def is_continued(self) -> bool:
        """Whether the text below continues in a similar style."""
        last, below = self.lines[-1], self.below
        return (
            below is not None
            and 0 < below.baseline - last.baseline < _CONTINUED_LEADING * last.size
            and abs(below.size - last.size) < _ALIKE_SIZE
            and (below.bold > _ALIKE_BOLD if last.bold > 0.5 else below.italic > 0.5 and last.italic > 0.5)
        )

    @property
    def is_row(self) -> bool:
        """Whether other words are next to it in its column, as in a row of a table."""
        column, edges = self.layout.column(self.lines[0]), self.layout.edges_at(self.lines[0])
        words = {word for line in self.lines for word in line.words}
        return any(
            self.layout.column(other) == column
            and other.box.x1 > edges.left
            and other.box.x0 < edges.right
            and words.isdisjoint(other.words)
            for line in self.lines
            for other in _row_of(line, self.layout)
        )

    @property
    def is_contents_entry(self) -> bool:
        """Whether it is an entry of a table of contents."""
        return any(is_contents_entry(line, self.layout) for line in self.lines)

    @property
    def is_short(self) -> bool:
        """Whether its last line ends before the column does, is centred in it, or the block is set off."""
        last = self.lines[-1]
        edges = self.layout.edges_at(last)
        left, right = last.box.x0 - edges.left, edges.right - last.box.x1
        centred = abs(left - right) < 0.5 * last.size < left
        return right > _SHORT * last.size or centred or self.is_set_off


def _row_of(line: Line, layout: PageLayout) -> Sequence[Line]:
    """Return the lines at the height of a line, itself among them."""
    return layout.lines_between(line.baseline - _SAME_ROW * line.size, line.baseline + _SAME_ROW * line.size)


def is_contents_entry(line: Line, layout: PageLayout) -> bool:
    """Return whether a line has dot leaders, or a page number at the end of its row, as in a table of contents."""
    *words, last = line.words
    if words and last.text.isdecimal() and last.x0 - words[-1].x1 > _ENTRY_GAP * line.size:
        return True
    right = [other for other in _row_of(line, layout) if other.box.x0 > line.box.x1]
    return bool(_LEADERS.search(line.text)) or (len(right) == 1 and _is_page_number(right[0], line, layout))


def _is_page_number(number: Line, line: Line, layout: PageLayout) -> bool:
    """Return whether a number ends a line's column, or is aligned with other numbers."""
    if not number.text.isdecimal():
        return False
    end = number.box.x1
    aligned = sum(other.text.isdecimal() and abs(other.box.x1 - end) < _ALIGNED * line.size for other in layout.lines)
    ends_column = layout.column(number) == layout.column(line)
    ends_column = ends_column and abs(end - layout.edges_at(line).right) < _ENTRY_GAP * line.size
    return ends_column or aligned >= _ALIGNED_NUMBERS


def find_headings(
    layouts: Sequence[PageLayout],
    flow: Sequence[Sequence[Line]],
    *,
    outline: Sequence[OutlineEntry],
    run_ins: frozenset[Line] = frozenset(),
    title: Sequence[Line] = (),
) -> list[FoundHeading]:
    """Find the headings among the lines of each page.

    Args:
        layouts: The pages.
        flow: The lines of running text of each page, in reading order.
        outline: The file's bookmarks.
        run_ins: Lines that are known to be headings.
        title: The paper's title; where it is printed again, over a supplement, it is not a heading.
    """
    titles = {_key(entry.title): entry.level for entry in outline}
    blocks = [
        block for layout, lines in zip(layouts, flow, strict=True) for block in _blocks(layout, lines, run_ins=run_ins)
    ]
    paper_title = _key(join_lines(line.text for line in title))
    found: list[_Block] = []
    for block in blocks:
        stacked = bool(found) and found[-1].lines[-1] is block.above
        run_in = block.lines[0] in run_ins
        if _key(block.text) != paper_title and (run_in or _is_heading(block, titles, stacked=stacked)):
            found.append(block)
    lower = [block for block in found if block.text[0].islower()]
    capital = {(block.style, block.lines[0].font) for block in found if block not in lower}
    # A heading may begin with the name of a function; but so may bold text.
    found = [block for block in found if block not in lower or (block.style, block.lines[0].font) in capital]
    found += _lone_italics(_outside_references(blocks, found))
    order = {block: at for at, block in enumerate(blocks)}
    found.sort(key=lambda block: order[block])
    levels = levels_of(
        [block.text for block in found],
        [block.style for block in found],
        outlined=[titles.get(_key(block.text), 0) for block in found],
    )
    return [
        FoundHeading(
            page=block.layout.index,
            text=block.text,
            level=level,
            box=bounding_box(line.box for line in block.lines),
            lines=block.lines,
        )
        for block, level in zip(found, levels, strict=True)
    ]


def _key(text: str) -> str:
    return re.sub(r"\W", "", split_number(text)[1]).lower()


def _blocks(layout: PageLayout, lines: Sequence[Line], *, run_ins: frozenset[Line]) -> Iterator[_Block]:
    """Yield the blocks of a page's lines; run-in headings share no block with other lines."""
    start = 0
    for index in range(1, len(lines) + 1):
        if index < len(lines) and _may_continue(lines[index - 1], lines[index], layout, run_ins=run_ins):
            continue
        yield _Block(
            layout=layout,
            lines=tuple(lines[start:index]),
            above=lines[start - 1] if start else None,
            below=lines[index] if index < len(lines) else None,
        )
        start = index


def _may_continue(last: Line, line: Line, layout: PageLayout, *, run_ins: frozenset[Line]) -> bool:
    """Return whether a line may be the next line of the same heading."""
    return (
        style_of(last) == style_of(line)
        and 0 < line.baseline - last.baseline < _LEADING * line.size
        and layout.column(line) == layout.column(last)
        and (last in run_ins) == (line in run_ins)
        and not _is_numbered(line)
        and not FIXED_TITLE.fullmatch(line.text)
        and (not FIXED_TITLE.fullmatch(last.text) or bool(_LABELLED.fullmatch(last.text)))
    )


def _is_numbered(line: Line) -> bool:
    """Return whether a line begins with a number; the second line of a heading may begin with a single capital
    letter."""
    match = NUMBER.match(line.text)
    if not match:
        return False
    return not match["number"].isalpha() or bool(match["dot"]) or len(match["number"]) > 1


def _is_heading(block: _Block, titles: Mapping[str, int], *, stacked: bool) -> bool:
    """Return whether a block is a heading; `titles` are in the outline, and a `stacked` block is right below a
    heading."""
    text, style = block.text, block.style
    strong = style.bold or block.is_larger or style.capitals
    if not (strong or style.italic) or not block.may_be_heading or block.is_contents_entry:
        return False
    key = _key(text)
    if strong and (FIXED_TITLE.fullmatch(text) or (len(key) > 3 and key in titles and not text.endswith(":"))):
        return True
    numbered = bool(NUMBER.match(text)) and not text.endswith(".")
    if numbered and (style.bold or block.is_larger):
        return block.is_larger or stacked or block.has_space_above
    if not block.is_short or not (stacked or block.has_space_above) or block.is_continued:
        return False
    plain = strong and not text.endswith((".", ":")) and len(text) > 2
    plain = plain and (style.bold or not text[0].islower())
    return numbered or (plain and not _FORMULA.search(text) and not block.is_row)


def _outside_references(blocks: Sequence[_Block], headings: Sequence[_Block]) -> Iterator[_Block]:
    """Yield the blocks that are neither headings nor below the title of a bibliography, whose entries may end in
    italics."""
    listed = False
    for block in blocks:
        if block in headings:
            listed = is_references_title(block.text)
        elif not listed:
            yield block


def _lone_italics(blocks: Iterable[_Block]) -> list[_Block]:
    """Return headings in italics without numbers: set off by space, with at least two in one style."""
    candidates = [
        block
        for block in blocks
        if block.style.italic
        and not NUMBER.match(block.text)
        and block.text[-1].isalnum()
        and len(block.text) < 0.5 * _MAX_LENGTH
        and block.may_be_heading
        and not block.text[0].islower()
        and block.is_short
        and block.has_space_above
        and not block.is_continued
        and block.below is not None
        and block.below.italic < 0.5
        and not _FORMULA.search(block.text)
        and not block.is_row
        and not block.is_contents_entry
    ]
    fonts = [(block.lines[0].font, round(block.lines[0].size, 1)) for block in candidates]
    return [block for block, font in zip(candidates, fonts, strict=True) if fonts.count(font) > 1]


def levels_of(texts: Sequence[str], styles: Sequence[LineStyle], *, outlined: Sequence[int]) -> list[int]:
    """Return the level of each heading, from 1: by its number, otherwise by the outline, otherwise by its style.

    Args:
        texts: The headings.
        styles: Their styles.
        outlined: Their levels in the file's outline, 0 for those not in it.
    """
    roman = {style for text, style in zip(texts, styles, strict=True) if _SECOND_ROMAN.match(text)}
    known = [_level_by_number(text, style, roman) for text, style in zip(texts, styles, strict=True)]
    numbered: dict[LineStyle, int] = {}
    for level, style in zip(known, styles, strict=True):
        if level:
            numbered.setdefault(style, level)
    free = {style for level, style in zip(known, styles, strict=True) if not level}
    ranks = {style: rank for rank, style in enumerate(sorted(free, key=lambda style: style.rank), start=1)}
    return [
        level
        or (1 if FIXED_TITLE.fullmatch(text) else in_outline or numbered.get(style) or min(ranks[style], _MAX_LEVEL))
        for level, text, style, in_outline in zip(known, texts, styles, outlined, strict=True)
    ]


def _level_by_number(text: str, style: LineStyle, roman: Collection[LineStyle]) -> int:
    """Return the level of a heading's number, 0 without one.

    If sections are numbered I, II, III, in one of the styles `roman`, then A, B are subsections, and 1), a) are below.
    """
    number, _ = split_number(text)
    if not number:
        return 0
    if not roman:
        return number.count(".") + 1
    sectional = style in roman
    if sectional and _ROMAN.fullmatch(number):
        return 1
    if number.isalpha() and len(number) == 1:
        return 1 if sectional else 2
    return 3 if number.isdigit() and text[len(number) :][:1] == ")" else number.count(".") + 1


def cut_run_ins(flow: Sequence[Sequence[Line]]) -> tuple[list[list[Line]], frozenset[Line]]:
    """Split numbered run-in headings, which have a distinct style, from the paragraphs that follow on the same line.

    A title without a number ("Results. We ...") remains part of its paragraph.

    Returns:
        The lines of each page, and which of them are run-in headings.
    """
    capitals = [line.text for lines in flow for line in lines if style_of(line).capitals]
    roman = any(_SECOND_ROMAN.match(text) for text in capitals)
    pages: list[list[Line]] = []
    titles: set[Line] = set()
    for lines in flow:
        page: list[Line] = []
        index = 0
        while index < len(lines):
            title, used, rest = _run_in(lines[index : index + _MAX_RUN_IN_LINES], roman=roman) or ([], 1, lines[index])
            titles.update(title)
            page.extend([*title, rest] if rest else title)
            index += used
        pages.append(page)
    return pages, frozenset(titles)


def _run_in(lines: Sequence[Line], *, roman: bool) -> tuple[list[Line], int, Line | None] | None:
    """Return the title's lines, the number of lines that they came from, and the rest of the last of these."""
    words = lines[0].words
    numbered = _DOTTED.fullmatch(words[0].text) or (roman and _BELOW_ROMAN.fullmatch(words[0].text))
    title = _word_style(words[1]) if len(words) > 1 else (False, False)
    if not numbered or title == (False, False):
        return None
    for used, line in enumerate(lines, start=1):
        if used > 1 and not _fills_line(lines[used - 2], line):
            return None
        styled = enumerate(map(_word_style, line.words))
        end = next((at for at, style in styled if style != title and (at > 0 or used > 1)), len(line.words))
        if end and line.words[end - 1].text.endswith((".", ":", "—")):
            rest = line_of(line.words[end:], size=line.size) if end < len(line.words) else None
            return [*lines[: used - 1], line_of(line.words[:end], size=line.size)], used, rest
        if end < len(line.words):
            return None
    return None


def _word_style(word: Word) -> tuple[bool, bool]:
    return word.bold, word.italic


def _fills_line(last: Line, line: Line) -> bool:
    """Return whether a title fills its line, so that it may continue on the next one."""
    filled = last.box.x1 > line.box.x1 - _FULL_LINE * line.size
    return filled and 0 < line.baseline - last.baseline < _LEADING * line.size
