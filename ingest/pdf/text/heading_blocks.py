"""Blocks: the lines that may make one heading, and the space around them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingest.pdf.page.layout import PageLayout
from ingest.pdf.page.lines import Line
from ingest.pdf.text.heading_styles import FIXED, NUMBER, style_of
from ingest.pdf.text.hyphens import join_lines

__all__ = ["Block", "blocks_of", "is_set_off", "opens", "runs_on"]

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


def opens(block: Block) -> bool:
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


def runs_on(block: Block) -> bool:
    """Whether the text goes on below in much the same style."""
    last, below = block.lines[-1], block.below
    return (
        below is not None
        and 0 < below.baseline - last.baseline < 1.3 * last.size
        and abs(below.size - last.size) < 0.3
        and (below.bold > 0.3 if last.bold > 0.5 else below.italic > 0.5 and last.italic > 0.5)
    )
