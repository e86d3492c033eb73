"""Converts MinerU's blocks to elements in reading order and matches captions with floats."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.document.assembly import Draft
from ingest.document.drafts import (
    Caption,
    draft_equation,
    draft_figure,
    draft_listing,
    draft_passage,
    draft_reference,
    draft_table,
)
from ingest.document.line_text import join_lines, vocabulary_of
from ingest.readers.block_captions import BlockCaption, BlockFloat, match_captions
from ingest.readers.layout_blocks import Block, Outline, find_front, is_heading
from ingest.readers.mineru.blocks import BlockDocument
from ingest.readers.mineru.folder import ImageError, joined_image
from ingest.readers.mineru.running_text import RunningText, TextJoiner
from ingest.readers.mineru.tables import read_html_table
from paperscope_core.types import Cell, Element, PageProblem, Passage, PassageRole, content_hash

__all__ = ["BlockDrafter"]

# Confidence of tables that MinerU's model wrote as HTML.
_HTML_CONFIDENCE = 0.8
_EQUATION_TAG = re.compile(r"\\tag\s*+\*?\s*+\{\s*+\(?\s*+([^{}()]{1,12}?)\s*+\)?\s*+\}")
_CITED_EQUATION = re.compile(r"\bEq(?:s?\.|uations?)\s*\(?(\d{1,3})\)?")
_NOTE_MARK = re.compile(r"(?:\d{1,2}|[*†‡§¶]|\$\^)")


class BlockDrafter:
    """Drafts the elements of one document.

    Attributes:
        elements: The elements in reading order.
        title: The title, "" if it can't be found.
        author_lines: The lines of the authors, () if they can't be found.
        crops: The crops of the elements.
        problems: What could not be read.
    """

    def __init__(self, document: BlockDocument, *, folder: Path) -> None:
        self._blocks = document.blocks
        self._at = {block: index for index, block in enumerate(document.blocks)}
        self._folder = folder
        self._heights = {page.number: page.height for page in document.pages}
        self._vocabulary = vocabulary_of(line.text for block in document.blocks for line in block.lines)
        self._front = find_front(document.blocks)
        self._equation_numbers = _missing_numbers(document.blocks)
        self.title = self._joined(self._front.title) if self._front.title else ""
        self.author_lines = self._front.author_lines
        self.crops: dict[str, bytes] = {}
        self.problems: list[PageProblem] = []
        self.elements = self._in_order()
        if self._equation_numbers:
            reason = "MinerU left out the numbers of equations; they were counted, as the text cites the last one"
            self.problems.append(PageProblem(page=document.pages[0].number, reason=reason))

    def _in_order(self) -> list[Element]:
        """Returns the elements in reading order, then the page furniture."""
        floats, unmatched = match_captions([block for block in self._blocks if block is not self._front.title])
        taken = {block for part in floats for block in part.blocks} | set(self._front.blocks)
        taken |= {label.block for label in (*floats.values(), *unmatched) if label}
        drafts = [*self._text_drafts([block for block in self._blocks if block not in taken])]
        for part, label in floats.items():
            element = self._float(part, label.caption if label else Caption())
            drafts.append(Draft(at=min(self._at[block] for block in part.blocks), element=element))
        drafts.extend(Draft(at=self._at[label.block], element=self._missing_float(label)) for label in unmatched)
        drafts.sort(key=lambda draft: draft.at)
        title = self._passage(self._front.title, "title") if self._front.title else None
        return [*self._front.passages(title), *(draft.element for draft in drafts), *self._furniture()]

    def _text_drafts(self, blocks: Sequence[Block]) -> Iterator[Draft]:
        """Yields headings, equations, footnotes and running text."""
        flow = TextJoiner()
        outline = Outline(block.level for block in blocks if is_heading(block))
        for block in blocks:
            if not block.lines:
                continue
            if is_heading(block):
                flow.stop()
                level = outline.enter(self._joined(block), level=block.level)
                yield Draft(at=self._at[block], element=self._passage(block, "heading", level=level))
            elif block.kind == "equation":
                flow.stop()
                yield Draft(at=self._at[block], element=self._equation(block))
            elif block.kind == "footnote" or (block.kind == "note" and not block.continues):
                yield Draft(at=self._at[block], element=self._passage(block, "footnote"))
            elif block.kind in ("text", "heading", "title", "list", "reference", "note"):
                reference = outline.in_references or block.kind == "reference"
                flow.take(block, at=self._at[block], role=outline.role(block.text), reference=reference)
        yield from (Draft(at=text.at, element=self._text(text)) for text in flow.texts)

    def _text(self, text: RunningText) -> Element:
        joined = join_lines((line.text for line in text.lines), self._vocabulary)
        return (
            draft_reference(joined, *text.places) if text.reference else draft_passage(joined, text.role, *text.places)
        )

    def _equation(self, block: Block) -> Element:
        text = " ".join(line.text for line in block.lines).strip().strip("$").strip()
        tag = _EQUATION_TAG.search(text)
        return draft_equation(
            _EQUATION_TAG.sub("", text).strip(),
            block.place,
            number=tag[1] if tag else self._equation_numbers.get(block, ""),
            crop=self._crop([block], name="an equation"),
        )

    def _float(self, part: BlockFloat, caption: Caption) -> Element:
        if part.kind == "code":
            text = "\n".join(line.text for block in part.blocks for line in block.lines)
            return draft_listing(text, part.place, caption=caption)
        crop = self._crop(part.blocks, name=caption.label or f"a {part.kind}")
        if part.kind == "table" or caption.kind == "table":
            cells, header = _cells(part)
            if not cells:
                self._report(part.blocks[0], f"{caption.label or 'a table'}: MinerU gives no cells for it")
            return draft_table(
                cells, part.place, caption=caption, header_rows=header, crop=crop, confidence=_HTML_CONFIDENCE
            )
        if not any(block.images for block in part.blocks):
            self._report(part.blocks[0], f"{caption.label or 'a figure'}: MinerU kept no picture of it")
        return draft_figure(part.place, caption=caption, crop=crop)

    def _missing_float(self, label: BlockCaption) -> Element:
        """Returns the empty element of a caption without a float, placed at the caption."""
        caption, place = label.caption, label.block.place
        self._report(label.block, f"{caption.label}: MinerU found nothing beside this caption")
        if caption.kind == "table":
            return draft_table((), place, caption=caption)
        return (
            draft_figure(place, caption=caption)
            if caption.kind == "figure"
            else draft_listing("", place, caption=caption)
        )

    def _crop(self, blocks: Sequence[Block], *, name: str) -> str | None:
        """Returns the hash of the blocks' crop, None without an image; an unreadable one is a problem."""
        if not any(block.images for block in blocks):
            return None
        try:
            picture = joined_image(self._folder, blocks)
        except ImageError as error:
            self._report(blocks[0], f"{name}: {error}")
            return None
        crop = content_hash(picture)
        self.crops[crop] = picture
        return crop

    def _furniture(self) -> Iterator[Element]:
        """Yields page furniture, and the footnotes among the blocks that older versions discard."""
        for block in self._blocks:
            if block.lines and block.kind in ("furniture", "discarded"):
                height = self._heights[block.page]
                low = block.box.y0 > 0.5 * height and block.box.y1 < 0.95 * height
                marked = _NOTE_MARK.match(block.text) and len(block.text.split()) > 3
                note = block.kind == "discarded" and low and marked
                yield self._passage(block, "footnote" if note else "furniture")

    def _passage(self, block: Block, role: PassageRole, *, level: int = 0) -> Passage:
        return draft_passage(self._joined(block), role, block.place, level=level)

    def _joined(self, block: Block) -> str:
        return join_lines((line.text for line in block.lines), self._vocabulary)

    def _report(self, block: Block, reason: str) -> None:
        self.problems.append(PageProblem(page=block.page, reason=reason))


def _cells(part: BlockFloat) -> tuple[tuple[Cell, ...], int]:
    """Returns the cells of all parts, stacked vertically, and the number of header rows of the first part."""
    cells: list[Cell] = []
    header, row = 0, 0
    for block in part.blocks:
        found, header_rows = read_html_table(block.html, place=block.place, first_row=row)
        header = header if row else header_rows
        cells.extend(found)
        row = max((cell.row + cell.row_span for cell in cells), default=0)
    return tuple(cells), header


def _missing_numbers(blocks: Sequence[Block]) -> dict[Block, str]:
    """Returns consecutive numbers for equations that lost theirs.

    Empty unless the highest number cited in the text equals the number of equations.
    """
    equations = [block for block in blocks if block.kind == "equation"]
    if not equations or any(_EQUATION_TAG.search(block.text) for block in equations):
        return {}
    cited = [int(number) for block in blocks if block.kind == "text" for number in _CITED_EQUATION.findall(block.text)]
    if max(cited, default=0) != len(equations):
        return {}
    return {block: str(number) for number, block in enumerate(equations, start=1)}
