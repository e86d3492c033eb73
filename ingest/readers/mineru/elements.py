"""Converts MinerU's blocks to elements in reading order and matches captions with floats."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ingest.document.assembly import Draft
from ingest.document.geometry import bounding_box
from ingest.document.headings import is_references_title, split_number
from ingest.document.line_text import Vocabulary, join_lines, vocabulary_of
from ingest.document.references import entry_label, entry_mark, entry_year
from ingest.readers.block_captions import BlockCaption, BlockFloat, find_captions, group_floats, match_captions
from ingest.readers.layout_blocks import Block, Front, TextLine, find_front, heading_level, is_abstract, is_heading
from ingest.readers.mineru.blocks import BlockDocument
from ingest.readers.mineru.folder import ImageError, joined_image
from ingest.readers.mineru.tables import read_html_table
from paperscope_core.types import (
    Box,
    Cell,
    Element,
    Equation,
    Figure,
    PageProblem,
    Passage,
    PassageRole,
    Place,
    Reference,
    Table,
    content_hash,
)

__all__ = ["Drafted", "FloatBuilder", "RunningText", "TextJoiner", "draft_blocks"]


# Confidence of tables that MinerU's model wrote as HTML.
_HTML_CONFIDENCE = 0.8


_SENTENCE_ENDS = (".", "!", "?", ":", "。", "”", '"', ")")
_ITEM_MARKER = re.compile(r"[•▪‣◦–*-] |\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)] ")
_EQUATION_TAG = re.compile(r"\\tag\s*\*?\s*\{\s*\(?\s*([^{}()]{1,12}?)\s*\)?\s*\}")
_CITED_EQUATION = re.compile(r"\bEq(?:s?\.|uations?)\s*\(?(\d{1,3})\)?")
_NOTE_MARK = re.compile(r"(?:\d{1,2}|[*†‡§¶]|\$\^)")


class FloatBuilder:
    """Builds the elements of tables, figures and listings, and collects their crops and problems."""

    def __init__(self, document: BlockDocument, *, paper: str, folder: Path) -> None:
        self._document = document
        self._paper = paper
        self._folder = folder
        self._problems: list[PageProblem] = []
        self.crops: dict[str, bytes] = {}

    @property
    def problems(self) -> tuple[PageProblem, ...]:
        """The problems found so far."""
        return tuple(self._problems)

    def element(self, part: BlockFloat, label: BlockCaption | None) -> Element:
        """Returns the element of a float, with its caption if it has one."""
        name, caption = (label.label, label.text) if label else ("", "")
        place = self._place(part.page, part.box)
        at = self._place(part.page, label.box) if label else None
        if part.kind == "code":
            text = "\n".join(line.text for block in part.blocks for line in block.lines)
            return Passage(id="", place=place, order=0, text=text, role="code", label=name, caption=caption)
        crop = self.crop(part.blocks, name=name or f"a {part.kind}")
        if part.kind == "table" or (label and label.kind == "table"):
            cells, header = self._cells(part)
            if not cells:
                self._problem(part.page, f"{name or 'a table'}: MinerU gives no cells for it")
            return Table(
                id="",
                place=place,
                order=0,
                cells=cells,
                label=name,
                caption=caption,
                caption_place=at,
                header_rows=header,
                crop=crop,
                confidence=_HTML_CONFIDENCE if cells else 0.0,
            )
        if not any(block.images for block in part.blocks):
            self._problem(part.page, f"{name or 'a figure'}: MinerU kept no picture of it")
        return Figure(id="", place=place, order=0, label=name, caption=caption, caption_place=at, crop=crop)

    def missing(self, label: BlockCaption) -> Element:
        """Returns the empty element of a caption without a float, placed at the caption."""
        page, name = label.block.page, label.label
        self._problem(page, f"{name}: MinerU found nothing beside this caption")
        place = self._place(page, label.box)
        if label.kind == "table":
            return Table(
                id="",
                place=place,
                order=0,
                cells=(),
                label=name,
                caption=label.text,
                caption_place=place,
                confidence=0.0,
            )
        if label.kind == "figure":
            return Figure(id="", place=place, order=0, label=name, caption=label.text, caption_place=place)
        return Passage(id="", place=place, order=0, text="", role="code", label=name, caption=label.text)

    def crop(self, blocks: Sequence[Block], *, name: str = "an equation") -> str | None:
        """Returns the hash of the blocks' crop, None without an image; an unreadable one is a problem."""
        if not any(block.images for block in blocks):
            return None
        try:
            picture = joined_image(self._folder, blocks)
        except ImageError as error:
            self._problem(blocks[0].page, f"{name}: {error}")
            return None
        crop = content_hash(picture)
        self.crops[crop] = picture
        return crop

    def _cells(self, part: BlockFloat) -> tuple[tuple[Cell, ...], int]:
        """Returns the cells of all parts, stacked vertically, and the number of header rows of the first part."""
        cells: list[Cell] = []
        header, row = 0, 0
        for block in part.blocks:
            found, header_rows = read_html_table(block.html, place=self._place(block.page, block.box), first_row=row)
            header = header if row else header_rows
            cells.extend(found)
            row = max((cell.row + cell.row_span for cell in cells), default=0)
        return tuple(cells), header

    def _problem(self, page: int, reason: str) -> None:
        self._problems.append(PageProblem(page=self._document.pages[page].number, reason=reason))

    def _place(self, page: int, box: Box) -> Place:
        return Place(paper=self._paper, page=self._document.pages[page].number, box=box)


@dataclass(kw_only=True, slots=True)
class RunningText:
    """A passage under construction: its lines, and the page index and box of each block they come from."""

    at: float
    role: PassageRole
    reference: bool
    lines: list[TextLine] = field(default_factory=list)
    places: list[tuple[int, Box]] = field(default_factory=list)

    def add(self, page: int, lines: Sequence[TextLine]) -> None:
        """Adds lines of a page."""
        box = bounding_box(line.box for line in lines)
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
            text.add(block.page, lines)
            self._current = text


def _continues(text: RunningText, block: Block, lines: Sequence[TextLine]) -> bool:
    """Whether a block continues a passage: MinerU joined them, or it starts a column in mid-sentence."""
    if block.continues:
        return True
    last, first = text.lines[-1].text.rstrip(), lines[0].text
    moved = text.places[-1][0] != block.page or block.box.y0 < text.places[-1][1].y0
    if text.reference:
        return moved and not entry_label(block.text)
    return moved and first[:1].islower() and not last.endswith(_SENTENCE_ENDS)


def _list_items(block: Block) -> Iterator[tuple[list[TextLine], bool]]:
    """Yields the lines of each list item in a block, and whether they start with a list marker."""
    listed = block.kind == "list" or any(line.text.startswith("• ") for line in block.lines)
    bulleted = any(line.starts for line in block.lines)
    run: list[TextLine] = []
    marked = False
    for line in block.lines:
        starts = listed and (
            line.text.startswith("• ") or (line.starts if bulleted else bool(_ITEM_MARKER.match(line.text)))
        )
        if starts and run:
            yield run, marked
            run = []
        if starts or not run:
            marked = starts
        run.append(line)
    if run:
        yield run, marked


def _reference_entries(block: Block) -> Iterator[tuple[list[TextLine], bool]]:
    """Yields the entries of a block, split at marks (`[12]`) or else at list items that contain a year."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Drafted:
    """The elements of a document, its title, the lines of its authors, and the problems found."""

    drafts: tuple[Draft, ...]
    title: str
    authors: tuple[str, ...]
    problems: tuple[PageProblem, ...]


def draft_blocks(document: BlockDocument, *, paper: str, floats: FloatBuilder) -> Drafted:
    """Returns all elements of a document; `floats` builds tables, figures and listings."""
    return _DocumentDrafter(document, paper=paper, floats=floats).draft()


class _DocumentDrafter:
    """Drafts the elements of one document."""

    def __init__(self, document: BlockDocument, *, paper: str, floats: FloatBuilder) -> None:
        self._blocks = document.blocks
        self._document = document
        self._paper = paper
        self._float_builder = floats
        self._front: Front = find_front(document.blocks)
        lines = (line.text for block in document.blocks for line in block.lines)
        self._vocabulary: Vocabulary = vocabulary_of(lines)

        self._equation_numbers = _missing_numbers(document.blocks)

    def draft(self) -> Drafted:
        """See `draft_blocks`."""
        labels = find_captions([block for block in self._blocks if block is not self._front.title])
        parts = group_floats(self._blocks, labels)
        pairs, floats = match_captions(labels, parts)
        named = {part: label for label, part in pairs.items()}
        drafts = [*self._front_matter(), *self._text_drafts(labels, floats)]
        drafts.extend(self._float_drafts(floats, named))
        drafts.extend(self._missing_drafts(labels, pairs))
        drafts.sort(key=lambda draft: draft.at)
        title = self._front.title
        return Drafted(
            drafts=(*drafts, *self._furniture_drafts()),
            title=self._joined(title) if title else "",
            authors=tuple(line.text for block in self._front.authors for line in block.lines),
            problems=(*self._float_builder.problems, *self._numbering_problems()),
        )

    def _numbering_problems(self) -> Iterator[PageProblem]:
        if self._equation_numbers:
            reason = "MinerU left out the numbers of equations; they were counted, as the text cites the last one"
            yield PageProblem(page=self._document.pages[0].number, reason=reason)

    def _front_matter(self) -> Iterator[Draft]:
        title, authors = self._front.title, self._front.authors
        if title:
            yield Draft(at=-2, element=self._passage(self._joined(title), "title", title))
        if authors:
            text = "\n".join(line.text for block in authors for line in block.lines)
            more = tuple(self._place(block.page, block.box) for block in authors[1:])
            yield Draft(at=-1, element=self._passage(text, "authors", authors[0], more=more))

    def _text_drafts(self, labels: Sequence[BlockCaption], floats: Sequence[BlockFloat]) -> Iterator[Draft]:
        """Yields headings, equations, footnotes and running text."""
        taken = {label.block for label in labels} | {block for part in floats for block in part.blocks}
        taken |= {*self._front.authors, *([self._front.title] if self._front.title else ())}
        flow = TextJoiner()
        role: PassageRole = "paragraph"
        references, last = False, 0
        least = min(
            (block.level for block in self._blocks if block.level and is_heading(block) and block not in taken),
            default=1,
        )
        for at, block in enumerate(self._blocks):
            if block in taken or not block.lines:
                continue
            if is_heading(block):
                flow.stop()
                text = self._joined(block)
                level = heading_level(text, given=block.level, least=least, last=last)
                last = level if split_number(text)[0] else last
                references, role = (
                    is_references_title(text),
                    "abstract" if is_abstract(text) and len(text) < 12 else "paragraph",
                )
                yield Draft(at=at, element=self._passage(text, "heading", block, level=level))
            elif block.kind == "equation":
                flow.stop()
                yield Draft(at=at, element=self._equation(block))
            elif block.kind == "footnote" or (block.kind == "note" and not block.continues):
                yield Draft(at=at, element=self._passage(self._joined(block), "footnote", block))
            elif block.kind in ("text", "heading", "title", "list", "reference", "note"):
                own: PassageRole = "abstract" if role == "paragraph" and is_abstract(block.text) and not last else role
                flow.take(block, at=at, role=own, reference=references or block.kind == "reference")
        yield from (self._text_draft(text) for text in flow.texts)

    def _text_draft(self, text: RunningText) -> Draft:
        joined = join_lines((line.text for line in text.lines), self._vocabulary)
        place, *more = (self._place(page, box) for page, box in text.places)
        if text.reference:
            label, year = entry_label(joined), entry_year(joined)
            element: Element = Reference(
                id="", place=place, order=0, text=joined, label=label, year=year, more_places=tuple(more)
            )
        else:
            element = Passage(id="", place=place, order=0, text=joined, role=text.role, more_places=tuple(more))
        return Draft(at=text.at, element=element)

    def _equation(self, block: Block) -> Equation:
        text = " ".join(line.text for line in block.lines).strip().strip("$").strip()
        tag = _EQUATION_TAG.search(text)
        number = tag[1] if tag else self._equation_numbers.get(block, "")
        return Equation(
            id="",
            place=self._place(block.page, block.box),
            order=0,
            text=_EQUATION_TAG.sub("", text).strip(),
            label=f"Equation {number}" if number else "",
            crop=self._float_builder.crop([block]),
        )

    def _float_drafts(self, floats: Sequence[BlockFloat], named: Mapping[BlockFloat, BlockCaption]) -> Iterator[Draft]:
        at = {block: index for index, block in enumerate(self._blocks)}
        for part in floats:
            yield Draft(
                at=min(at[block] for block in part.blocks), element=self._float_builder.element(part, named.get(part))
            )

    def _missing_drafts(
        self, labels: Sequence[BlockCaption], pairs: Mapping[BlockCaption, BlockFloat]
    ) -> Iterator[Draft]:
        """Yields an empty element for each caption without a float."""
        at = {block: index for index, block in enumerate(self._blocks)}
        for label in labels:
            if label not in pairs:
                yield Draft(at=at[label.block], element=self._float_builder.missing(label))

    def _furniture_drafts(self) -> Iterator[Draft]:
        """Yields page furniture, and the footnotes among the blocks that older versions discard."""
        for block in self._blocks:
            if block.lines and block.kind in ("furniture", "discarded"):
                height = self._document.pages[block.page].height
                words = len(block.text.split())
                low = block.box.y0 > 0.5 * height and block.box.y1 < 0.95 * height
                note = block.kind == "discarded" and low and words > 3 and _NOTE_MARK.match(block.text)
                yield Draft(
                    at=0, element=self._passage(self._joined(block), "footnote" if note else "furniture", block)
                )

    def _passage(
        self, text: str, role: PassageRole, block: Block, *, level: int = 0, more: tuple[Place, ...] = ()
    ) -> Passage:
        place = self._place(block.page, block.box)
        return Passage(id="", place=place, order=0, text=text, role=role, level=level, more_places=more)

    def _joined(self, block: Block) -> str:
        return join_lines((line.text for line in block.lines), self._vocabulary)

    def _place(self, page: int, box: Box) -> Place:
        return Place(paper=self._paper, page=self._document.pages[page].number, box=box)


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
