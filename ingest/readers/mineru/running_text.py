"""Joins the blocks of running text to passages: paragraphs, list items and bibliography entries."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from ingest.document.geometry import bounding_box, overlap_x, runs_of
from ingest.document.references import entry_label, entry_mark, entry_year
from ingest.readers.layout_blocks import Block, TextLine
from paperscope_core.types import PassageRole, Place

__all__ = ["RunningText", "TextJoiner"]

_SENTENCE_ENDS = (".", "!", "?", ":", "。", "”", '"', ")")
_ITEM_MARKER = re.compile(r"[•▪‣◦–*-] |\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)] ")


@dataclass(kw_only=True, slots=True)
class RunningText:
    """A passage under construction: its lines, and the place of each block they come from."""

    at: float
    role: PassageRole
    reference: bool
    lines: list[TextLine] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)

    def add(self, lines: Sequence[TextLine], place: Place) -> None:
        """Adds lines of a block; `place` names its page."""
        box = bounding_box(line.box for line in lines)
        last = self.places[-1] if self.places else None
        if last and last.page == place.page and overlap_x(last.box, box) > 0:
            self.places[-1] = replace(last, box=last.box.union(box))
        else:
            self.places.append(replace(place, box=box))
        self.lines.extend(lines)


class TextJoiner:
    """Joins consecutive blocks into passages; `stop` ends the current passage at headings and equations."""

    def __init__(self) -> None:
        self.texts: list[RunningText] = []
        self._current: RunningText | None = None

    def stop(self) -> None:
        """Ends the current passage."""
        self._current = None

    def take(self, block: Block, *, at: float, role: PassageRole, reference: bool) -> None:
        """Appends a block to the current passage if it continues it, otherwise starts one or more passages."""
        parts = list(_reference_entries(block) if reference else _list_items(block))
        for index, (lines, marked) in enumerate(parts):
            own: PassageRole = "list" if marked and role == "paragraph" else role
            text = self._current
            if text is None or marked or index or not _continues(text, block, lines):
                text = RunningText(at=at + index / (len(parts) + 1), role=own, reference=reference)
                self.texts.append(text)
            text.add(lines, block.place)
            self._current = text


def _continues(text: RunningText, block: Block, lines: Sequence[TextLine]) -> bool:
    """Whether a block continues a passage: MinerU joined them, or it starts a column in mid-sentence."""
    if block.continues:
        return True
    last, first = text.lines[-1].text.rstrip(), lines[0].text
    moved = text.places[-1].page != block.page or block.box.y0 < text.places[-1].box.y0
    if text.reference:
        return moved and not entry_label(block.text)
    return moved and first[:1].islower() and not last.endswith(_SENTENCE_ENDS)


def _list_items(block: Block) -> Iterator[tuple[list[TextLine], bool]]:
    """Yields the lines of each list item in a block, and whether they start with a list marker."""
    listed = block.kind == "list" or any(line.text.startswith("• ") for line in block.lines)
    bulleted = any(line.starts for line in block.lines)

    def starts(line: TextLine) -> bool:
        own = line.starts if bulleted else bool(_ITEM_MARKER.match(line.text))
        return listed and (own or line.text.startswith("• "))

    for run in runs_of(block.lines, joins=lambda _, line: not starts(line)):
        yield run, starts(run[0])


def _reference_entries(block: Block) -> Iterator[tuple[list[TextLine], bool]]:
    """Yields the entries of a block, split at marks (`[12]`) or else at list items that contain a year.

    The second value is true if the block begins with a mark.
    """
    marked = any(entry_mark(line.text) for line in block.lines)
    entries = runs_of(block.lines, joins=lambda _, line: not (entry_mark(line.text) if marked else line.starts))
    if not marked:
        dated = runs_of(entries, joins=lambda _, entry: entry_year(" ".join(line.text for line in entry)) is None)
        entries = [list(chain.from_iterable(run)) for run in dated]
    yield from ((entry, bool(entry_mark(block.lines[0].text))) for entry in entries)
