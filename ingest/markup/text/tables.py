"""Tables in plain text: only those of which there is no doubt."""

import re

from ingest.markup.grid import MarkedCell, cells_of_rows
from ingest.markup.spots import Lines
from ingest.markup.text.blocks import Block
from ingest.pdf.tables.rows import is_value
from paperscope.types import Table

__all__ = ["table_of"]

_RULE = re.compile(r"[\s|+:=–—─━═-]*[=–—─━═-]{3}[\s|+:=–—─━═-]*")
_GAP = re.compile(r"\s{2,}")
_FIELD = re.compile(r"\S+(?: \S+)*")


def table_of(block: Block, *, lines: Lines) -> Table | None:
    """The table that a block is: fields between bars or tabs, or columns that stand exactly below each other."""
    body = [(number, line) for number, line in enumerate(block.lines) if not _RULE.fullmatch(line)]
    if len(body) < 2:
        return None
    texts = [line for _, line in body]
    rows = _barred(texts) or _tabbed(texts) or _aligned(texts)
    if not rows:
        return None
    ruled = [number for number, line in enumerate(block.lines) if _RULE.fullmatch(line) and number > body[0][0]]
    head = sum(number < ruled[0] for number, _ in body) if ruled else 0
    marked = [
        [MarkedCell(text=text, place=lines.at(block.first + number, block.first + number)) for text in row]
        for (number, _), row in zip(body, rows, strict=True)
    ]
    cells, header_rows = cells_of_rows(marked, head=head if head < len(body) else 0)
    return Table(id="", place=lines.at(block.first, block.last), order=0, cells=cells, header_rows=header_rows)


def _barred(lines: list[str]) -> list[list[str]]:
    """`a | b | c`, the same number of bars in every line."""
    counts = {line.strip().strip("|").count("|") for line in lines}
    if len(counts) != 1 or 0 in counts:
        return []
    return [[field.strip() for field in line.strip().removeprefix("|").removesuffix("|").split("|")] for line in lines]


def _tabbed(lines: list[str]) -> list[list[str]]:
    counts = {line.count("\t") for line in lines}
    if len(counts) != 1 or 0 in counts:
        return []
    return [[field.strip() for field in line.split("\t")] for line in lines]


def _aligned(lines: list[str]) -> list[list[str]]:
    """Three columns or more, as many in each of three lines or more, whose edges stand below each other and below the
    first line's; numbers are among them."""
    if len(lines) < 3 or any("\t" in line for line in lines):
        return []
    spans = [[match.span() for match in _FIELD.finditer(line)] for line in lines]
    width = len(spans[0])
    if width < 3 or any(len(row) != width for row in spans):
        return []
    for column in range(width):
        starts = {row[column][0] for row in spans[1:]}
        ends = {row[column][1] for row in spans[1:]}
        first, last = spans[0][column]
        if (len(starts) > 1 and len(ends) > 1) or last <= min(starts) or first >= max(ends):
            return []
    rows = [_GAP.split(line.strip()) for line in lines]
    return rows if any(is_value(text) for row in rows[1:] for text in row[1:]) else []
