"""Tables, figures and listings of MinerU's blocks, with their pictures."""

from collections.abc import Sequence
from pathlib import Path

from ingest.mineru.anchors import Float, Label
from ingest.mineru.blocks import Block, Imported
from ingest.mineru.folder import PictureError
from ingest.mineru.grids import read_html_table
from ingest.mineru.pictures import picture_of
from paperscope.types import Box, Cell, Element, Figure, PageProblem, Passage, Place, Table, content_hash

__all__ = ["FloatMaker"]

_READ_HTML = 0.8


class FloatMaker:
    """Makes the elements; gathers crops and problems on the way."""

    def __init__(self, document: Imported, *, paper: str, folder: Path) -> None:
        self._document = document
        self._paper = paper
        self._folder = folder
        self._problems: list[PageProblem] = []
        self.crops: dict[str, bytes] = {}

    @property
    def problems(self) -> tuple[PageProblem, ...]:
        """What could not be read so far."""
        return tuple(self._problems)

    def element(self, part: Float, label: Label | None) -> Element:
        """The element of a float with its caption, if it has one."""
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
                confidence=_READ_HTML if cells else 0.0,
            )
        if not any(block.images for block in part.blocks):
            self._problem(part.page, f"{name or 'a figure'}: MinerU kept no picture of it")
        return Figure(id="", place=place, order=0, label=name, caption=caption, caption_place=at, crop=crop)

    def missing(self, label: Label) -> Element:
        """The element of a caption beside which nothing stands: empty, at the caption."""
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
        """The content hash of the blocks' picture, None without one; a picture that can't be had is a problem."""
        if not any(block.images for block in blocks):
            return None
        try:
            picture = picture_of(self._folder, blocks)
        except PictureError as error:
            self._problem(blocks[0].page, f"{name}: {error}")
            return None
        crop = content_hash(picture)
        self.crops[crop] = picture
        return crop

    def _cells(self, part: Float) -> tuple[tuple[Cell, ...], int]:
        """The cells of all parts, one below the other; the header is the first part's."""
        cells: list[Cell] = []
        header, row = 0, 0
        for block in part.blocks:
            grid = read_html_table(block.html, place=self._place(block.page, block.box), first_row=row)
            header = header if row else grid.header_rows
            cells.extend(grid.cells)
            row = max((cell.row + cell.row_span for cell in cells), default=0)
        return tuple(cells), header

    def _problem(self, page: int, reason: str) -> None:
        self._problems.append(PageProblem(page=self._document.pages[page].number, reason=reason))

    def _place(self, page: int, box: Box) -> Place:
        return Place(paper=self._paper, page=self._document.pages[page].number, box=box)
