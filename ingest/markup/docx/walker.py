"""Walks through a Word document: a paragraph and a table's row count as a line each."""

import re
from dataclasses import replace

from ingest.markup.captions import split_caption
from ingest.markup.docx.archive import Archive
from ingest.markup.docx.runs import Content, Picture, content_of
from ingest.markup.docx.styles import Numbering, Style, Styles, integer
from ingest.markup.docx.tables import table_of
from ingest.markup.levels import section_number
from ingest.markup.nodes import Node
from ingest.markup.reading import Source
from paperscope.types import Element, Equation, Figure, Passage, PassageRole, Place, Table

__all__ = ["DocxWalker"]

_WRAPPERS = frozenset("sdt sdtcontent ins moveto smarttag customxml".split())
_CODE = re.compile(r"code|listing|verbatim|preformatted|macro text")
_NUMBER = re.compile(r"\(?\s*([A-Z]?\.?\d{1,3}(?:\.\d{1,3})?[a-z]?)\s*\)?")
_ROLES: dict[str, PassageRole] = {"title": "title", "author": "authors", "authors": "authors", "abstract": "abstract"}
_BOLD_LEVEL = 7
_LONGEST_HEADING = 100


class DocxWalker:
    """One walk; use it once. `line` is the last line that was read."""

    def __init__(self, archive: Archive, *, targets: dict[str, str], source: Source) -> None:
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

    def _content(self, paragraph: Node) -> Content:
        return content_of(paragraph, number_of=self._number_of)

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
        return " ".join(filter(None, map(self.text_of, note.all("p"))))

    def _style(self, node: Node) -> Style:
        """The style that a paragraph names, with what it sets itself."""
        properties = node.one("ppr")
        named = properties.one("pstyle") if properties is not None else None
        style = self._styles.of(named.get("val")) if named is not None else Style()
        numbers = properties.one("numpr") if properties is not None else None
        outline = properties.one("outlinelvl") if properties is not None else None
        if numbers is not None:
            list_id, level = numbers.one("numid"), numbers.one("ilvl")
            style = replace(
                style,
                list_id=list_id.get("val") if list_id is not None else style.list_id,
                list_level=integer(level.get("val")) if level is not None else style.list_level,
            )
        if outline is not None and not style.level and integer(outline.get("val")) < 9:
            style = replace(style, level=integer(outline.get("val")) + 1)
        return style

    def _text(self, content: Content, style: Style) -> None:
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

    def _equations(self, content: Content) -> None:
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
        crop = self._source.pictures.add(data, name=part)
        if crop:
            self._add(Figure(id="", place=self._here, order=0, caption=picture.description, crop=crop))

    def _table(self, node: Node) -> None:
        if equation := self._numbered_equation(node):
            self.line += 1
            self._add(replace(equation, place=self._here))
            return
        rows = sum(1 for _ in node.where(lambda part: part.tag == "tr"))
        table = table_of(node, lines=self._source.lines, first=self.line + 1, said=self._cell)
        self.line += max(rows, 1)
        if table:
            self._add(table)

    def _cell(self, cell: Node) -> tuple[str, bool]:
        contents = [content for node in cell.all("p") if (content := self._content(node)).text]
        return " ".join(content.text for content in contents), bool(contents) and all(part.bold for part in contents)

    def _numbered_equation(self, table: Node) -> Equation | None:
        """A table of one row that only sets a number beside a formula."""
        rows = list(table.where(lambda part: part.tag == "tr"))
        if len(rows) != 1 or next(table.all("omath"), None) is None:
            return None
        contents = [self._content(node) for node in table.all("p")]
        formulas = [formula for content in contents for formula in content.formulas]
        rest = [text for content in contents if (text := _rest(content))]
        match = _NUMBER.fullmatch(rest[0]) if len(rest) == 1 else None
        if not formulas or (rest and not match):
            return None
        label = f"Equation {match[1]}" if match else ""
        return Equation(id="", place=self._here, order=0, text=" ; ".join(formulas), label=label)


def _rest(content: Content) -> str:
    """A paragraph's text without its formulas."""
    text = content.text
    if not content.displayed:
        for formula in content.formulas:
            text = text.replace(formula, " ", 1)
    return text.strip()


def _notes(root: Node | None, kind: str) -> dict[str, Node]:
    """The notes by their ids, without the lines that part them from the text."""
    found = root.many(kind) if root is not None else []
    return {note.get("id"): note for note in found if note.get("type") in ("", "normal")}
