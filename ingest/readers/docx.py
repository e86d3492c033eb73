"""Converts Word documents (DOCX) to elements. A place is a line: each paragraph and each table row counts as one."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from ingest.document.bylines import author_names
from ingest.document.drafts import Caption, draft_equation, draft_figure, draft_passage
from ingest.readers.docx_paragraphs import (
    DocxImage,
    Numbering,
    Paragraph,
    Style,
    Styles,
    attribute,
    integer_attribute,
    read_paragraph,
)
from ingest.readers.element_collector import Reading, Source, SourceLines, bold_heading_level
from ingest.readers.float_captions import split_caption
from ingest.readers.markup_tree import Node
from ingest.readers.table_grid import MarkupCell, count_leading, table_of_rows
from ingest.readers.zip_archive import ZipArchive
from paperscope_core.errors import PaperFileError
from paperscope_core.publication import doi_in
from paperscope_core.text.formulas import Matrix
from paperscope_core.types import (
    Element,
    Equation,
    Figure,
    Passage,
    PassageRole,
    Place,
    Publication,
    Table,
)

__all__ = ["read_docx"]

_MAIN = "word/document.xml"
_FURNITURE_PARTS = re.compile(r"word/(?:header|footer)\d*\.xml")
_MAX_FURNITURE_PARTS = 12
_WRAPPERS = frozenset("sdt sdtcontent ins moveto smarttag customxml".split())
_CODE_STYLE = re.compile(r"code|listing|verbatim|preformatted|macro text")
_EQUATION_NUMBER = re.compile(r"\(?\s*([A-Z]?\.?\d{1,3}(?:\.\d{1,3})?[a-z]?)\s*\)?")
_ROLES: dict[str, PassageRole] = {"title": "title", "author": "authors", "authors": "authors", "abstract": "abstract"}
# Limits damaged spans.
_MAX_COLUMNS = 1000
# The outline level of body text.
_BODY_LEVEL = 9


def read_docx(source: Source) -> Reading:
    """Read a document. Raise `PaperFileError` if it is damaged or too large."""
    archive = ZipArchive(source.data, name=source.name, kind="DOCX")
    body = archive.tree(_MAIN).find("body")
    if body is None:
        raise PaperFileError(f"{source.name!r} holds no Word document that can be read. Save it again as DOCX.")
    targets = archive.targets(_MAIN)
    walker = _DocxWalker(archive, targets=targets, source=source)
    parts = [part for part in dict.fromkeys(targets.values()) if _FURNITURE_PARTS.fullmatch(part)]
    elements = [*walker.body(body), *walker.furniture(map(archive.tree, parts[:_MAX_FURNITURE_PARTS]))]
    properties = archive.properties()
    own = archive.tree("docProps/custom.xml").findall("property")
    texts = [node.plain_text() for node in own if "doi" in node.get("name").lower()]
    texts += (properties.get(name, "") for name in ("identifier", "subject", "keywords", "description"))
    return Reading(
        elements=elements,
        title=properties.get("title", ""),
        creators=author_names([properties.get("creator", "")], metadata=""),
        problems=archive.problems,
        publication=Publication(doi=next(filter(None, map(doi_in, texts)), "")),
    )


class _DocxWalker:
    """Walks a document in order; a single-use object."""

    def __init__(self, archive: ZipArchive, *, targets: dict[str, str], source: Source) -> None:
        self._line = 0
        self._archive = archive
        self._targets = targets
        self._source = source
        self._styles = Styles(archive.tree("word/styles.xml"))
        self._numbering = Numbering(archive.tree("word/numbering.xml"))
        self._elements: list[Element] = []
        self._note_numbers: dict[tuple[str, str], int] = {}
        self._notes = {kind: _notes(archive.tree(f"word/{kind}s.xml"), kind) for kind in ("footnote", "endnote")}
        self._pending_caption: Passage | None = None

    def body(self, body: Node) -> list[Element]:
        """Return the elements of a body."""
        self._blocks(body)
        return self._elements

    def furniture(self, parts: Iterable[Node]) -> list[Element]:
        """Return headers and footers, each text once, placed on the document's last line."""
        paragraphs = (paragraph for part in parts for paragraph in part.iter("p"))
        texts = dict.fromkeys(text for paragraph in paragraphs if (text := self._read(paragraph).text))
        return [draft_passage(text, "furniture", self._here) for text in texts]

    def _read(self, node: Node) -> Paragraph:
        return read_paragraph(node, note_number=self._note_number)

    def _note_number(self, kind: str, note: str) -> int:
        """Return the number of a note, in the order of the marks."""
        count = sum(known == kind for known, _ in self._note_numbers)
        return self._note_numbers.setdefault((kind, note), count + 1)

    @property
    def _here(self) -> Place:
        return self._source.lines.at(self._line, self._line)

    def _blocks(self, node: Node) -> None:
        for child in node.nodes:
            if child.tag == "p":
                self._paragraph(child)
            elif child.tag == "tbl":
                self._table(child)
            elif child.tag in _WRAPPERS:
                self._blocks(child)

    def _paragraph(self, node: Node) -> None:
        self._line += 1
        paragraph = self._read(node)
        style = self._style(node)
        for image in paragraph.images:
            self._image(image)
        numbered = not paragraph.rest or _EQUATION_NUMBER.fullmatch(paragraph.rest)
        if paragraph.formulas and (paragraph.displayed or numbered):
            if not numbered:
                self._text(replace(paragraph, text=paragraph.rest), style)
            self._equations(paragraph)
        elif paragraph.text:
            self._text(paragraph, style)
        for kind, note_id in paragraph.notes:
            if note := self._notes[kind].get(note_id):
                text = " ".join(filter(None, (self._read(part).text for part in note.iter("p"))))
                self._passage(f"{self._note_number(kind, note_id)} {text}", "footnote")
        for box in paragraph.boxes:
            self._blocks(box)

    def _style(self, node: Node) -> Style:
        """Return the paragraph's style, with the properties that the paragraph sets directly."""
        style = self._styles.of(attribute(node, "ppr", "pstyle"))
        outline = integer_attribute(node, "ppr", "outlinelvl", default=_BODY_LEVEL)
        return replace(
            style,
            level=style.level or (outline + 1 if outline < _BODY_LEVEL else 0),
            list_id=attribute(node, "ppr", "numpr", "numid") or style.list_id,
            list_level=integer_attribute(node, "ppr", "numpr", "ilvl", default=style.list_level),
        )

    def _text(self, paragraph: Paragraph, style: Style) -> None:
        marker = self._numbering.marker(style.list_id, style.list_level)
        text = paragraph.text
        if style.name in _ROLES:
            self._passage(text, _ROLES[style.name])
        elif style.level:
            self._passage(marker.replace("• ", "") + text, "heading", level=style.level)
        elif "caption" in style.name and split_caption(text) is None:
            self._unlabelled_caption(text, of_table="table" in style.name)
        elif _CODE_STYLE.search(style.name):
            self._code(paragraph.raw)
        elif marker or (style.name.startswith("list ") and style.name != "list paragraph"):
            self._passage((marker or "• ") + text, "list")
        elif paragraph.bold and (level := bold_heading_level(text)):
            self._passage(text, "heading", level=level)
        else:
            self._passage(text, "paragraph")

    def _passage(self, text: str, role: PassageRole, *, level: int = 0) -> None:
        if text.strip():
            self._add(draft_passage(text, role, self._here, level=level))

    def _code(self, text: str) -> None:
        """Add a line of code; consecutive lines are one listing."""
        last = self._elements[-1] if self._elements else None
        if isinstance(last, Passage) and last.role == "code" and last.place.box.y1 == self._line - 1:
            place = self._source.lines.at(int(last.place.box.y0), self._line)
            self._elements[-1] = replace(last, text=f"{last.text}\n{text}", place=place)
        else:
            self._passage(text, "code")

    def _unlabelled_caption(self, text: str, *, of_table: bool) -> None:
        """Add a caption without a label: it belongs to the figure or table above it, or to a table below it."""
        last = self._elements[-1] if self._elements else None
        if not of_table and (isinstance(last, Figure) or (isinstance(last, Table) and not last.caption)):
            self._elements[-1] = replace(last, caption=text, caption_place=self._here)
        else:
            self._pending_caption = draft_passage(text, "paragraph", self._here)

    def _add(self, element: Element) -> None:
        caption, self._pending_caption = self._pending_caption, None
        if caption is not None and isinstance(element, Table):
            element = replace(element, caption=caption.text, caption_place=caption.place)
        elif caption is not None:
            self._elements.append(caption)
        self._elements.append(element)

    def _equations(self, paragraph: Paragraph) -> None:
        """Add the formulas of a paragraph; its number belongs to the last one."""
        match = _EQUATION_NUMBER.fullmatch(paragraph.rest)
        for count, formula in enumerate(paragraph.formulas, start=1):
            number = match[1] if match and count == len(paragraph.formulas) else ""
            self._add(draft_equation(formula, self._here, number=number))

    def _image(self, image: DocxImage) -> None:
        part = self._targets.get(image.relation, "")
        data = self._archive.image(part) if part else None
        crop = self._source.images.add(data, name=part) if data is not None else None
        if crop:
            self._add(draft_figure(self._here, caption=Caption(text=image.description), crop=crop))

    def _table(self, node: Node) -> None:
        nodes = _rows(node)
        first = self._line + 1
        self._line += max(len(nodes), 1)
        if len(nodes) == 1 and (equation := self._numbered_equation(node)):
            self._add(equation)
            return
        table = _docx_table(nodes, lines=self._source.lines, first=first, read_cell=self._cell)
        if table.cells:
            self._add(table)
        for paragraph in map(self._read, node.iter("p")):
            for image in paragraph.images:
                self._image(image)

    def _cell(self, cell: Node) -> tuple[str, bool]:
        paragraphs = [paragraph for node in cell.iter("p") if (paragraph := self._read(node)).text]
        text = " ".join(paragraph.text for paragraph in paragraphs)
        return text, bool(paragraphs) and all(paragraph.bold for paragraph in paragraphs)

    def _numbered_equation(self, table: Node) -> Equation | None:
        """Return the equation of a table of one row that only places a number next to a formula."""
        paragraphs = [self._read(node) for node in table.iter("p")]
        formulas = [formula for paragraph in paragraphs for formula in paragraph.formulas]
        rest = [paragraph.rest for paragraph in paragraphs if paragraph.rest]
        match = _EQUATION_NUMBER.fullmatch(rest[0]) if len(rest) == 1 else None
        if not formulas or (rest and not match):
            return None
        formula = formulas[0] if len(formulas) == 1 else Matrix(tuple((one,) for one in formulas), lines=True)
        return draft_equation(formula, self._here, number=match[1] if match else "")


def _notes(root: Node, kind: str) -> dict[str, Node]:
    """Return the notes by their ids, without separators."""
    return {note.get("id"): note for note in root.findall(kind) if note.get("type") in ("", "normal")}


def _docx_table(
    nodes: list[Node], *, lines: SourceLines, first: int, read_cell: Callable[[Node], tuple[str, bool]]
) -> Table:
    """Return the table of these rows, the first of which is line `first`.

    `read_cell` returns a cell's text and whether it is bold. Cells are merged down by `vMerge`, right by `gridSpan`.
    """
    rows: list[list[MarkupCell]] = []
    # The row of the cell that each column's cell in the last row is part of, and the cell's index in it.
    above: dict[int, tuple[int, int]] = {}
    for number, node in enumerate(nodes):
        place = lines.at(first + number, first + number)
        column = min(integer_attribute(node, "trpr", "gridbefore"), _MAX_COLUMNS)
        row = [MarkupCell(text="", place=place, column_span=column)] if column else []
        rows.append(row)
        below: dict[int, tuple[int, int]] = {}
        for cell in node.outermost(lambda part: part.tag == "tc"):
            span = max(1, min(integer_attribute(cell, "tcpr", "gridspan"), _MAX_COLUMNS))
            if cell.find("tcpr", "vmerge") is None or attribute(cell, "tcpr", "vmerge") == "restart":
                text, bold = read_cell(cell)
                below[column] = (number, len(row))
                row.append(MarkupCell(text=text, place=place, column_span=span, bold=bold))
            elif column in above:
                below[column] = above[column]
                start, index = above[column]
                rows[start][index] = replace(rows[start][index], row_span=number - start + 1)
            column += span
        above = below
    head = count_leading(nodes, lambda row: row.find("trpr", "tblheader") is not None)
    return table_of_rows(rows, lines.at(first, first + max(len(nodes) - 1, 0)), head=head)


def _rows(table: Node) -> list[Node]:
    return list(table.outermost(lambda part: part.tag == "tr"))
