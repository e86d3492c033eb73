"""Plain text, cut into blocks at its blank lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Block", "blocks_of", "starts_item"]

_ITEM = re.compile(r"\s*(?:[•●◦▪■–‣∙·*+]|[-—]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]|\[\d{1,3}\])\s+\S")
_LONG_LINE = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Lines that stand together; `first` is the number of the first one, from 1."""

    first: int
    lines: tuple[str, ...]

    @property
    def last(self) -> int:
        """The number of the last line."""
        return self.first + len(self.lines) - 1

    def part(self, start: int, end: int) -> "Block":
        """The lines from `start` to before `end`, counted within the block."""
        return Block(first=self.first + start, lines=self.lines[start:end])

    def cut(self, starts: list[int]) -> list["Block"]:
        """The parts that begin at these lines; the first line always begins one."""
        at = sorted({0, *starts})
        return [self.part(start, end) for start, end in zip(at, [*at[1:], len(self.lines)], strict=True)]


def starts_item(line: str) -> bool:
    """Whether a line begins with the mark of a list's item."""
    return bool(_ITEM.match(line))


def blocks_of(text: str) -> list[Block]:
    """The blocks in their order. Where lines are not wrapped, every line is one."""
    blocks = list(_parted(text))
    lines = [line for block in blocks for line in block.lines]
    long = sum(len(line) > _LONG_LINE for line in lines)
    if 4 * long < len(lines):
        return blocks
    return [block.part(at, at + 1) for block in blocks for at in range(len(block.lines))]


def _parted(text: str) -> Iterator[Block]:
    group: list[str] = []
    first = 1
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.replace("\f", " ").rstrip()
        if line.strip():
            if not group:
                first = number
            group.append(line)
        elif group:
            yield Block(first=first, lines=tuple(group))
            group = []
    if group:
        yield Block(first=first, lines=tuple(group))
