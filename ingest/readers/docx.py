"""Word documents (DOCX) to elements."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from ingest.readers.docx_archive import DocxArchive
from ingest.readers.docx_paragraphs import Numbering, Paragraph, Picture, Style, Styles, integer, read_paragraph
from ingest.readers.float_captions import split_caption
from ingest.readers.inline_text import collapse_spaces
from ingest.readers.markup_tree import Node
from ingest.readers.reading import Reading, Source, SourceLines, section_number
from ingest.readers.table_grid import MarkupCell, table_cells
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Element, Equation, Figure, Passage, PassageRole, Place, Table

__all__ = ["CellText", "DocxWalker", "docx_table", "read_docx"]


_WIDEST = 1000

CellText = Callable[[Node], tuple[str, bool]]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Slot:
    """A cell in its columns; `goes_on` if it belongs to the cell above."""

    column: int
    span: int
    text: str
    bold: bool
    goes_on: bool


def docx_table(table: Node, *, lines: SourceLines, first: int, said: CellText) -> Table | None:
    """The table whose first row is line `first`; `said` is a cell's text and whether it is bold. None if empty."""
    nodes = list(table.outermost(lambda part: part.tag == "tr"))
    slots = [_slots(row, said=said) for row in nodes]
    rows: list[list[MarkupCell]] = []
    for number, row in enumerate(slots):
        place = lines.at(first + number, first + number)
        rows.append(
            [
                MarkupCell(
                    text=slot.text,
                    place=place,
                    row_span=1 + _below(slots, number, slot.column),
                    column_span=slot.span,
                    bold=slot.bold,
                )
                for slot in row
                if not slot.goes_on
            ]
        )
    head = 0
    while head < len(nodes) and nodes[head].find("trpr", "tblheader") is not None:
        head += 1
    cells, header_rows = table_cells(rows, head=head)
    if not cells:
        return None
    place = lines.at(first, first + max(len(nodes) - 1, 0))
    return Table(id="", place=place, order=0, cells=cells, header_rows=header_rows)


def _slots(row: Node, *, said: CellText) -> list[_Slot]:
    before = row.find("trpr", "gridbefore")
    column = min(integer(before.get("val")), _WIDEST) if before is not None else 0
    slots = [_Slot(column=0, span=column, text="", bold=False, goes_on=False)] if column else []
    for cell in row.outermost(lambda part: part.tag == "tc"):
        wide = cell.find("tcpr", "gridspan")
        merge = cell.find("tcpr", "vmerge")
        span = max(1, min(integer(wide.get("val")), _WIDEST)) if wide is not None else 1
        goes_on = merge is not None and merge.get("val") != "restart"
        text, bold = ("", False) if goes_on else said(cell)
        slots.append(_Slot(column=column, span=span, text=text, bold=bold, goes_on=goes_on))
        column += span
    return slots


def _below(slots: list[list[_Slot]], number: int, column: int) -> int:
    """How many rows below a cell go on with it."""
    count = 0
    for row in slots[number + 1 :]:
        if not any(slot.goes_on and slot.column == column for slot in row):
            break
        count += 1
    return count


_WRAPPERS = frozenset("sdt sdtcontent ins moveto smarttag customxml".split())
_CODE = re.compile(r"code|listing|verbatim|preformatted|macro text")
_NUMBER = re.compile(r"\(?\s*([A-Z]?\.?\d{1,3}(?:\.\d{1,3})?[a-z]?)\s*\)?")
_ROLES: dict[str, PassageRole] = {"title": "title", "author": "authors", "authors": "authors", "abstract": "abstract"}
_BOLD_LEVEL = 7
_LONGEST_HEADING = 100


class DocxWalker:
    """One walk; use it once. `line` is the last line that was read."""

    def __init__(self, archive: DocxArchive, *, targets: dict[str, str], source: Source) -> None:
        self.line = 0
        self._archive = archive
        self._targets = targets
        self._source = source
        self._styles = Styles(archive.tree("word/styles.xml"))
        self._numbering = Numbering(archive.tree("word/numbering.xml"))
        self._out: list[Element] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._notes = {kind: _notes(archive.tree(f"word/{kind}s.xml"), kind) for kind in ("footnote", "endnote")}
        self._caption: Passage | None = None

    def walked(self, body: Node) -> list[Element]:
        """The elements of a body in their order."""
        self._blocks(body)
        return self._out

    def text_of(self, paragraph: Node) -> str:
        """A paragraph's text in a line."""
        return self._content(paragraph).text

    def _content(self, paragraph: Node) -> Paragraph:
        return read_paragraph(paragraph, number_of=self._number_of)

    def _number_of(self, kind: str, note: str) -> int:
        """Notes are numbered in the order in which they are named."""
        same = sum(known == kind for known, _ in self._numbers)
        return self._numbers.setdefault((kind, note), same + 1)

    def _blocks(self, node: Node) -> None:
        for child in node.nodes:
            if child.tag == "p":
                self._paragraph(child)
            elif child.tag == "tbl":
                self._table(child)
            elif child.tag in _WRAPPERS:
                self._blocks(child)

    def _paragraph(self, node: Node) -> None:
        self.line += 1
        content = self._content(node)
        style = self._style(node)
        for picture in content.pictures:
            self._picture(picture)
        if content.formulas and (content.displayed or _NUMBER.fullmatch(_rest(content)) or not _rest(content)):
            self._equations(content)
        elif content.text:
            self._text(content, style)
        for note in content.notes:
            if text := self._notes[note[0]].get(note[1]):
                self._passage(f"{self._number_of(*note)} {self._note_text(text)}", "footnote")
        for box in content.boxes:
            self._blocks(box)

    def _note_text(self, note: Node) -> str:
        return " ".join(filter(None, map(self.text_of, note.iter("p"))))

    def _style(self, node: Node) -> Style:
        """The style that a paragraph names, with what it sets itself."""
        properties = node.find("ppr")
        named = properties.find("pstyle") if properties is not None else None
        style = self._styles.of(named.get("val")) if named is not None else Style()
        numbers = properties.find("numpr") if properties is not None else None
        outline = properties.find("outlinelvl") if properties is not None else None
        if numbers is not None:
            list_id, level = numbers.find("numid"), numbers.find("ilvl")
            style = replace(
                style,
                list_id=list_id.get("val") if list_id is not None else style.list_id,
                list_level=integer(level.get("val")) if level is not None else style.list_level,
            )
        if outline is not None and not style.level and integer(outline.get("val")) < 9:
            style = replace(style, level=integer(outline.get("val")) + 1)
        return style

    def _text(self, content: Paragraph, style: Style) -> None:
        mark = self._numbering.mark(style.list_id, style.list_level)
        text = content.text
        if style.name in _ROLES:
            self._passage(text, _ROLES[style.name])
        elif style.level:
            self._passage(mark.replace("• ", "") + text, "heading", level=style.level)
        elif "caption" in style.name and split_caption(text) is None:
            self._bare_caption(text, above="table" in style.name)
        elif _CODE.search(style.name):
            self._code(content.raw)
        elif mark or (style.name.startswith("list ") and style.name != "list paragraph"):
            self._passage((mark or "• ") + text, "list")
        elif content.bold and section_number(text) and len(text) < _LONGEST_HEADING:
            self._passage(text, "heading", level=_BOLD_LEVEL)
        else:
            self._passage(text, "paragraph")

    def _passage(self, text: str, role: PassageRole, *, level: int = 0) -> None:
        if text.strip():
            self._add(Passage(id="", place=self._here, order=0, text=text, role=role, level=level))

    @property
    def _here(self) -> Place:
        return self._source.lines.at(self.line, self.line)

    def _code(self, text: str) -> None:
        """Lines of code that follow each other are one listing."""
        last = self._out[-1] if self._out else None
        if isinstance(last, Passage) and last.role == "code" and last.place.box.y1 == self.line - 1:
            place = self._source.lines.at(int(last.place.box.y0), self.line)
            self._out[-1] = replace(last, text=f"{last.text}\n{text}", place=place)
        else:
            self._passage(text, "code")

    def _bare_caption(self, text: str, *, above: bool) -> None:
        """A caption without a label belongs to the figure above it or to the table below it."""
        last = self._out[-1] if self._out else None
        if (isinstance(last, Figure) and not above) or (isinstance(last, Table) and not last.caption and not above):
            self._out[-1] = replace(last, caption=text, caption_place=self._here)
        else:
            self._caption = Passage(id="", place=self._here, order=0, text=text)

    def _add(self, element: Element) -> None:
        if self._caption is not None:
            caption, self._caption = self._caption, None
            if isinstance(element, Table):
                element = replace(element, caption=caption.text, caption_place=caption.place)
            else:
                self._out.append(caption)
        self._out.append(element)

    def _equations(self, content: Paragraph) -> None:
        match = _NUMBER.fullmatch(_rest(content))
        for number, formula in enumerate(content.formulas, start=1):
            last = number == len(content.formulas)
            label = f"Equation {match[1]}" if match and last else ""
            self._add(Equation(id="", place=self._here, order=0, text=formula, label=label))

    def _picture(self, picture: Picture) -> None:
        part = self._targets.get(picture.relation, "")
        data = self._archive.picture(part) if part else None
        if data is None:
            return
        crop = self._source.images.add(data, name=part)
        if crop:
            self._add(Figure(id="", place=self._here, order=0, caption=picture.description, crop=crop))

    def _table(self, node: Node) -> None:
        if equation := self._numbered_equation(node):
            self.line += 1
            self._add(replace(equation, place=self._here))
            return
        rows = sum(1 for _ in node.outermost(lambda part: part.tag == "tr"))
        table = docx_table(node, lines=self._source.lines, first=self.line + 1, said=self._cell)
        self.line += max(rows, 1)
        if table:
            self._add(table)

    def _cell(self, cell: Node) -> tuple[str, bool]:
        contents = [content for node in cell.iter("p") if (content := self._content(node)).text]
        return " ".join(content.text for content in contents), bool(contents) and all(part.bold for part in contents)

    def _numbered_equation(self, table: Node) -> Equation | None:
        """A table of one row that only sets a number beside a formula."""
        rows = list(table.outermost(lambda part: part.tag == "tr"))
        if len(rows) != 1 or next(table.iter("omath"), None) is None:
            return None
        contents = [self._content(node) for node in table.iter("p")]
        formulas = [formula for content in contents for formula in content.formulas]
        rest = [text for content in contents if (text := _rest(content))]
        match = _NUMBER.fullmatch(rest[0]) if len(rest) == 1 else None
        if not formulas or (rest and not match):
            return None
        label = f"Equation {match[1]}" if match else ""
        return Equation(id="", place=self._here, order=0, text=" ; ".join(formulas), label=label)


def _rest(content: Paragraph) -> str:
    """A paragraph's text without its formulas."""
    text = content.text
    if not content.displayed:
        for formula in content.formulas:
            text = text.replace(formula, " ", 1)
    return text.strip()


def _notes(root: Node | None, kind: str) -> dict[str, Node]:
    """The notes by their ids, without the lines that part them from the text."""
    found = root.findall(kind) if root is not None else []
    return {note.get("id"): note for note in found if note.get("type") in ("", "normal")}


_MAIN = "word/document.xml"
_FRAMES = re.compile(r"word/(?:header|footer)\d*\.xml")
_MOST_FRAMES = 12


def read_docx(source: Source) -> Reading:
    """Read a document. Raises `PaperFileError` for one that is damaged or too large."""
    archive = DocxArchive(source.data, name=source.name)
    root = archive.tree(_MAIN)
    body = root.find("body") if root is not None else None
    if body is None:
        raise PaperFileError(f"{source.name!r} holds no Word document that can be read. Save it again as DOCX.")
    targets = archive.targets(_MAIN)
    walker = DocxWalker(archive, targets=targets, source=source)
    elements = walker.walked(body)
    frames = [part for part in dict.fromkeys(targets.values()) if _FRAMES.fullmatch(part)][:_MOST_FRAMES]
    elements += _furniture([tree for part in frames if (tree := archive.tree(part)) is not None], walker, source)
    core = archive.tree("docProps/core.xml")
    return Reading(elements=elements, title=_said(core, "title"), authors=(), problems=archive.problems)


def _furniture(frames: list[Node], walker: DocxWalker, source: Source) -> list[Element]:
    """Headers and footers, each text once; they stand on the document's last line."""
    texts = dict.fromkeys(
        text for frame in frames for paragraph in frame.iter("p") if (text := walker.text_of(paragraph))
    )
    place = source.lines.at(walker.line, walker.line)
    return [Passage(id="", place=place, order=0, text=text, role="furniture") for text in texts]


def _said(core: Node | None, tag: str) -> str:
    node = core.find(tag) if core is not None else None
    return collapse_spaces(node.text()) if node is not None else ""
