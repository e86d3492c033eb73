"""Running text: paragraphs, lists and references; what MinerU cut is put together, what it joined is parted."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingest.mineru.blocks import Block, TextLine
from ingest.pdf.references.entry import entry_label, entry_mark, entry_year
from paperscope.types import Box, PassageRole

__all__ = ["Text", "TextFlow"]

_ENDS = (".", "!", "?", ":", "。", "”", '"', ")")
_ITEM = re.compile(r"[•▪‣◦–*-] |\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)] ")


@dataclass(kw_only=True, slots=True)
class Text:
    """A passage that grows: its lines and, for each block that they come from, page index and box."""

    at: float
    role: PassageRole
    reference: bool
    lines: list[TextLine] = field(default_factory=list)
    places: list[tuple[int, Box]] = field(default_factory=list)

    def add(self, page: int, lines: Sequence[TextLine]) -> None:
        """Take in lines of a page."""
        box = lines[0].box
        for line in lines[1:]:
            box = box.union(line.box)
        if (
            self.places
            and self.places[-1][0] == page
            and self.places[-1][1].x0 < box.x1
            and box.x0 < self.places[-1][1].x1
        ):
            self.places[-1] = (page, self.places[-1][1].union(box))
        else:
            self.places.append((page, box))
        self.lines.extend(lines)


class TextFlow:
    """Takes blocks in reading order and gives texts; `stop` ends the one that is open, as headings and equations do."""

    def __init__(self) -> None:
        self.texts: list[Text] = []
        self._open: Text | None = None

    def stop(self) -> None:
        """Let nothing that follows go on with the last text."""
        self._open = None

    def take(self, block: Block, *, at: float, role: PassageRole, reference: bool) -> None:
        """Add a block: to the last text where it goes on with that, else as one text or several."""
        parts = list(_references(block) if reference else _items(block))
        for index, (lines, marked) in enumerate(parts):
            own: PassageRole = "list" if marked and role == "paragraph" else role
            text = self._open
            if text is None or marked or index or not _goes_on(text, block, lines):
                text = Text(at=at + index / (len(parts) + 1), role=own, reference=reference)
                self.texts.append(text)
            text.add(block.page, lines)
            self._open = text


def _goes_on(text: Text, block: Block, lines: Sequence[TextLine]) -> bool:
    """Whether a block goes on with a text: MinerU joined them, or it starts a column in the midst of a sentence."""
    if block.goes_on:
        return True
    last, first = text.lines[-1].text.rstrip(), lines[0].text
    moved = text.places[-1][0] != block.page or block.box.y0 < text.places[-1][1].y0
    if text.reference:
        return moved and not entry_label(block.text)
    return moved and first[:1].islower() and not last.endswith(_ENDS)


def _items(block: Block) -> Iterator[tuple[list[TextLine], bool]]:
    """The lines of a block, cut where items of a list begin; the flag marks such an item."""
    listed = block.kind == "list" or any(line.text.startswith("• ") for line in block.lines)
    bulleted = any(line.starts for line in block.lines)
    run: list[TextLine] = []
    marked = False
    for line in block.lines:
        starts = listed and (line.text.startswith("• ") or (line.starts if bulleted else bool(_ITEM.match(line.text))))
        if starts and run:
            yield run, marked
            run = []
        if starts or not run:
            marked = starts
        run.append(line)
    if run:
        yield run, marked


def _references(block: Block) -> Iterator[tuple[list[TextLine], bool]]:
    """The entries of a block: cut at marks (`[12]`) where it has such, else at items of a list that name a year."""
    marks = [bool(entry_mark(line.text)) for line in block.lines]
    cuts = marks if any(marks) else [line.starts for line in block.lines]
    runs: list[list[TextLine]] = []
    for line, cut in zip(block.lines, cuts, strict=True):
        if cut or not runs:
            runs.append([line])
        else:
            runs[-1].append(line)
    entries: list[list[TextLine]] = []
    for run in runs:
        if entries and not any(marks) and entry_year(" ".join(line.text for line in run)) is None:
            entries[-1].extend(run)
        else:
            entries.append(run)
    yield from ((entry, any(marks[:1])) for entry in entries)
