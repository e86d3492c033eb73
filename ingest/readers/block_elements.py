"""Drafts the elements of the blocks that a layout engine (MinerU, docling) found, in reading order."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from ingest.document.assembly import Draft, assemble_paper
from ingest.document.bylines import author_names
from ingest.document.drafts import (
    NO_CAPTION,
    Caption,
    draft_equation,
    draft_figure,
    draft_listing,
    draft_passage,
    draft_reference,
    draft_table,
)
from ingest.document.geometry import bounding_box, overlap_x, runs_of
from ingest.document.line_text import join_lines, vocabulary_of
from ingest.document.references import entry_label, entry_mark, entry_year
from ingest.readers.block_captions import BlockCaption, BlockFloat, match_captions
from ingest.readers.layout_blocks import Block, Outline, TextLine, find_front, is_heading
from paperscope_core.text.latex import latex_text
from paperscope_core.types import (
    UNPUBLISHED,
    Cell,
    Element,
    Page,
    PageProblem,
    Paper,
    PaperFormat,
    Passage,
    PassageRole,
    Place,
    Publication,
)

__all__ = ["BlockDrafter"]

# Confidence of tables whose cells a model read.
_TABLE_CONFIDENCE = 0.8
# Without formula recognition, an engine gives an equation's printed text.
_LATEX = re.compile(r"\\[A-Za-z]|[_^]")
_EQUATION_TAG = re.compile(r"\\tag\s*+\*?\s*+\{\s*+\(?\s*+([^{}()]{1,12}?)\s*+\)?\s*+\}")
_CITED_EQUATION = re.compile(r"\bEq(?:s?\.|uations?)\s*\(?(\d{1,3})\)?")
_NOTE_MARK = re.compile(r"(?:\d{1,2}|[*†‡§¶]|\$\^)")
_SENTENCE_ENDS = (".", "!", "?", ":", "。", "”", '"', ")")
_ITEM_MARKER = re.compile(r"[•▪‣◦–*-] |\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)] ")


class BlockDrafter:
    """Drafts the elements of one document.

    Args:
        blocks: The blocks in reading order.
        pages: The pages.
        engine: The name of the layout engine, for problems.
        crop: Returns the hash of the crop of a float or an equation, None without one. If it is None, crops are made
            later.

    Attributes:
        problems: What could not be read.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        pages: Sequence[Page],
        *,
        engine: str,
        crop: Callable[[Sequence[Block]], str | None] | None = None,
    ) -> None:
        self._blocks = blocks
        self._engine = engine
        self._crop = crop
        self._at = {block: index for index, block in enumerate(blocks)}
        self._pages = pages
        self._heights = {page.number: page.height for page in pages}
        self._vocabulary = vocabulary_of(line.text for block in blocks for line in block.lines)
        self._front = find_front(blocks)
        self._equation_numbers = _missing_numbers(blocks)
        self.problems: list[PageProblem] = []
        self._elements = self._in_order()
        if self._equation_numbers:
            reason = f"{engine} left out the numbers of equations; they were counted, as the text cites the last one"
            self.problems.append(PageProblem(page=pages[0].number, reason=reason))

    def paper(
        self,
        *,
        sha256: str,
        file: str,
        format: PaperFormat = "pdf",  # noqa: A002
        problems: Sequence[PageProblem] = (),
        stated: Publication = UNPUBLISHED,
    ) -> Paper:
        """Return the paper; `problems` are others than these, `stated` is what the file's metadata say."""
        return assemble_paper(
            self._elements,
            sha256=sha256,
            file=file,
            title=(self._joined(self._front.title) if self._front.title else "") or file,
            authors=author_names(self._front.author_lines, metadata=""),
            pages=tuple(self._pages),
            problems=(*problems, *self.problems),
            format=format,
            stated=stated,
        )

    def _in_order(self) -> list[Element]:
        """Return the elements in reading order, then the page furniture."""
        loose = [block for block in self._blocks if block is not self._front.title and block.caption is None]
        floats, unmatched = match_captions(loose)
        taken = {block for part in floats for block in part.blocks} | set(self._front.blocks)
        taken |= {label.block for label in (*floats.values(), *unmatched) if label}
        captions = {part: label.caption if label else NO_CAPTION for part, label in floats.items()}
        captions |= {BlockFloat(blocks=(block,)): block.caption for block in self._blocks if block.caption}
        taken.update(block for block in self._blocks if block.caption)
        drafts = [*self._text_drafts([block for block in self._blocks if block not in taken])]
        for part, caption in captions.items():
            drafts.append(Draft(at=min(self._at[block] for block in part.blocks), element=self._float(part, caption)))
        drafts.extend(Draft(at=self._at[label.block], element=self._missing_float(label)) for label in unmatched)
        drafts.sort(key=lambda draft: draft.at)
        title = self._passage(self._front.title, "title") if self._front.title else None
        return [*self._front.passages(title), *(draft.element for draft in drafts), *self._furniture()]

    def _text_drafts(self, blocks: Sequence[Block]) -> Iterator[Draft]:
        """Yield headings, equations, footnotes and running text."""
        flow = _TextJoiner()
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

    def _text(self, text: "_RunningText") -> Element:
        joined = join_lines((line.text for line in text.lines), self._vocabulary)
        if text.reference:
            return draft_reference(joined.removeprefix("• "), *text.places)
        return draft_passage(joined, text.role, *text.places)

    def _equation(self, block: Block) -> Element:
        text = " ".join(line.text for line in block.lines).strip().strip("$").strip()
        tag = _EQUATION_TAG.search(text)
        latex = _EQUATION_TAG.sub("", text).strip()
        return draft_equation(
            latex_text(latex),
            block.place,
            latex=latex if _LATEX.search(latex) else "",
            number=block.number or (tag[1] if tag else self._equation_numbers.get(block, "")),
            crop=self._crop([block]) if self._crop else None,
        )

    def _float(self, part: BlockFloat, caption: Caption) -> Element:
        places = (part.place, *part.blocks[0].more_places)
        lines = [line.text for block in part.blocks for line in block.lines]
        if part.kind == "code":
            return draft_listing("\n".join(lines), *places, caption=caption)
        crop = self._crop(part.blocks) if self._crop else None
        if part.kind == "table" or caption.kind == "table":
            cells = _stacked(part.blocks)
            header_rows = part.blocks[0].header_rows
            if not cells:
                self._report(part.blocks[0], f"{caption.label or 'a table'}: {self._engine} read no cells of it")
            return draft_table(
                cells, *places, caption=caption, header_rows=header_rows, crop=crop, confidence=_TABLE_CONFIDENCE
            )
        if self._crop and not any(block.images for block in part.blocks):
            self._report(part.blocks[0], f"{caption.label or 'a figure'}: {self._engine} kept no picture of it")
        return draft_figure(part.place, caption=caption, text=" ".join(lines), crop=crop)

    def _missing_float(self, label: BlockCaption) -> Element:
        """Return the empty element of a caption without a float, placed at the caption."""
        caption, place = label.caption, label.block.place
        self._report(label.block, f"{caption.label}: {self._engine} found nothing beside this caption")
        if caption.kind == "table":
            return draft_table((), place, caption=caption)
        if caption.kind == "figure":
            return draft_figure(place, caption=caption)
        return draft_listing("", place, caption=caption)

    def _furniture(self) -> Iterator[Element]:
        """Yield page furniture, and the footnotes among the blocks that old versions of MinerU discard."""
        for block in self._blocks:
            if block.lines and block.kind in ("furniture", "discarded"):
                height = self._heights[block.page]
                low = block.box.y0 > 0.5 * height and block.box.y1 < 0.95 * height
                marked = _NOTE_MARK.match(block.text) and len(block.text.split()) > 3
                note = block.kind == "discarded" and low and marked
                yield self._passage(block, "footnote" if note else "furniture")

    def _passage(self, block: Block, role: PassageRole, *, level: int = 0) -> Passage:
        return draft_passage(self._joined(block), role, *block.places, level=level)

    def _joined(self, block: Block) -> str:
        return join_lines((line.text for line in block.lines), self._vocabulary)

    def _report(self, block: Block, reason: str) -> None:
        self.problems.append(PageProblem(page=block.page, reason=reason))


def _stacked(blocks: Sequence[Block]) -> tuple[Cell, ...]:
    """Return the cells of the parts of a table, one below the other."""
    cells: list[Cell] = []
    for block in blocks:
        first = max((cell.row + cell.row_span for cell in cells), default=0)
        cells.extend(replace(cell, row=cell.row + first) for cell in block.cells)
    return tuple(cells)


def _missing_numbers(blocks: Sequence[Block]) -> dict[Block, str]:
    """Return consecutive numbers for equations that lost theirs.

    Empty unless the highest number cited in the text equals the number of equations.
    """
    equations = [block for block in blocks if block.kind == "equation"]
    if not equations or any(block.number or _EQUATION_TAG.search(block.text) for block in equations):
        return {}
    cited = [int(number) for block in blocks if block.kind == "text" for number in _CITED_EQUATION.findall(block.text)]
    if max(cited, default=0) != len(equations):
        return {}
    return {block: str(number) for number, block in enumerate(equations, start=1)}


@dataclass(kw_only=True, slots=True)
class _RunningText:
    """A passage under construction: its lines, and the places of the blocks they come from."""

    at: float
    role: PassageRole
    reference: bool
    lines: list[TextLine] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)

    def add(self, lines: Sequence[TextLine], block: Block) -> None:
        """Add lines of a block."""
        box = bounding_box(line.box for line in lines)
        last = self.places[-1] if self.places else None
        if last and last.page == block.page and overlap_x(last.box, box) > 0:
            self.places[-1] = replace(last, box=last.box.union(box))
        else:
            self.places.append(replace(block.place, box=box))
        self.places.extend(block.more_places)
        self.lines.extend(lines)


class _TextJoiner:
    """Joins consecutive blocks into paragraphs, list items and references; `stop` ends the current passage."""

    def __init__(self) -> None:
        self.texts: list[_RunningText] = []
        self._current: _RunningText | None = None

    def stop(self) -> None:
        """End the current passage."""
        self._current = None

    def take(self, block: Block, *, at: float, role: PassageRole, reference: bool) -> None:
        """Append a block to the current passage if it continues it, otherwise start one or more passages."""
        parts = list(_reference_entries(block) if reference else _list_items(block))
        for index, (lines, marked) in enumerate(parts):
            own: PassageRole = "list" if marked and role == "paragraph" else role
            text = self._current
            if text is None or marked or index or not _continues(text, block, lines):
                text = _RunningText(at=at + index / (len(parts) + 1), role=own, reference=reference)
                self.texts.append(text)
            text.add(lines, block)
            self._current = text


def _continues(text: _RunningText, block: Block, lines: Sequence[TextLine]) -> bool:
    """Return whether a block continues a passage: the engine joined them, or it starts a column in mid-sentence."""
    if block.continues:
        return True
    last, first = text.lines[-1].text.rstrip(), lines[0].text
    moved = text.places[-1].page != block.page or block.box.y0 < text.places[-1].box.y0
    if text.reference:
        return moved and not entry_label(block.text)
    return moved and first[:1].islower() and not last.endswith(_SENTENCE_ENDS)


def _list_items(block: Block) -> Iterator[tuple[list[TextLine], bool]]:
    """Yield the lines of each list item in a block, and whether they start with a list marker."""
    listed = block.kind == "list" or any(line.text.startswith("• ") for line in block.lines)
    bulleted = any(line.starts for line in block.lines)

    def starts(line: TextLine) -> bool:
        own = line.starts if bulleted else bool(_ITEM_MARKER.match(line.text))
        return listed and (own or line.text.startswith("• "))

    for run in runs_of(block.lines, joins=lambda _, line: not starts(line)):
        yield run, starts(run[0])


def _reference_entries(block: Block) -> Iterator[tuple[list[TextLine], bool]]:
    """Yield the entries of a block, split at marks (`[12]`) or else at list items that contain a year.

    The second value is true if the block begins with a mark.
    """
    marked = any(entry_mark(line.text) for line in block.lines)
    entries = runs_of(block.lines, joins=lambda _, line: not (entry_mark(line.text) if marked else line.starts))
    if not marked:
        dated = runs_of(entries, joins=lambda _, entry: entry_year(" ".join(line.text for line in entry)) is None)
        entries = [list(chain.from_iterable(run)) for run in dated]
    yield from ((entry, bool(entry_mark(block.lines[0].text))) for entry in entries)
