"""Reads PowerPoint presentations: a slide is a page and a section, with its texts, tables, pictures and notes."""

from collections.abc import Iterator, Sequence

from ingest.document.bylines import author_names
from ingest.document.drafts import Caption, draft_equation, draft_figure, draft_passage
from ingest.readers.element_collector import Reading, Source
from ingest.readers.formula_text import omml_formula
from ingest.readers.inline_text import collapse_spaces
from ingest.readers.markup_tree import Node
from ingest.readers.table_grid import MarkupCell, table_of_rows
from ingest.readers.zip_archive import ZipArchive
from paperscope_core.errors import PaperFileError
from paperscope_core.text.formulas import plain_formula, script_text
from paperscope_core.types import Box, Element, Page, PageProblem, PassageRole, Place

__all__ = ["read_pptx"]

_MAIN = "ppt/presentation.xml"
_PER_POINT = 12_700
_SIZE = (9_144_000, 6_858_000)
_TITLES = ("title", "ctrtitle")
_FURNITURE = ("dt", "ftr", "hdr", "sldnum")


def read_pptx(source: Source) -> Reading:
    """Read a presentation. Raise `PaperFileError` if it is damaged or too large."""
    archive = ZipArchive(source.data, name=source.name, kind="PPTX")
    presentation, targets = archive.tree(_MAIN), archive.targets(_MAIN)
    listed = (targets.get(node.get("id"), "") for node in presentation.iter("sldid"))
    parts = [part for part in dict.fromkeys(listed) if part in archive.names]
    if not parts:
        raise PaperFileError(f"{source.name!r} holds no slide that can be read. Save it again as PPTX.")
    size = next(presentation.iter("sldsz"), None)
    width, height = (
        (size.integer(name, default=one) if size else one) for name, one in zip(("cx", "cy"), _SIZE, strict=True)
    )
    whole = Box(0.0, 0.0, width / _PER_POINT, height / _PER_POINT)
    slides = [_Slide(archive, part, number=at, whole=whole, source=source) for at, part in enumerate(parts, start=1)]
    elements = [element for slide in slides for element in slide.elements()]
    properties = archive.properties()
    left_out = [PageProblem(page=one.number, reason="charts and diagrams are left out") for one in slides if one.others]
    return Reading(
        elements=elements,
        title=properties.get("title", ""),
        creators=author_names([properties.get("creator", "")], metadata=""),
        problems=(*archive.problems, *left_out),
        pages=[Page(number=slide.number, width=whole.x1, height=whole.y1) for slide in slides],
    )


class _Slide:
    """A slide; `others` is the number of its objects that are not read, known after `elements`."""

    def __init__(self, archive: ZipArchive, part: str, *, number: int, whole: Box, source: Source) -> None:
        self.number = number
        self.others = 0
        self._archive = archive
        self._tree = archive.tree(part)
        self._targets = archive.targets(part)
        self._whole = whole
        self._source = source
        layout = self._part("/slideLayouts/")
        master = next((one for one in archive.targets(layout).values() if "/slideMasters/" in one), "")
        self._inherited = [archive.tree(one) for one in (layout, master) if one]

    def elements(self) -> Iterator[Element]:
        """Yield the title, then the other objects in order, then the notes."""
        shapes = list(_shapes(self._tree))
        titles = [shape for shape in shapes if _placeholder(shape)[0] in _TITLES and _texts(shape)]
        for shape in titles[:1]:
            role: PassageRole = "title" if self.number == 1 else "heading"
            text = " ".join(text for text, _ in _texts(shape))
            yield draft_passage(text, role, self._place(shape), level=int(role == "heading"))
        if not titles:
            yield draft_passage(f"Slide {self.number}", "heading", self._place(None), level=1)
        for shape in shapes:
            if shape not in titles[:1]:
                yield from self._object(shape)
        for shape in _shapes(self._archive.tree(self._part("/notesSlides/"))):
            text = " ".join(text for text, _ in _texts(shape))
            if text and _placeholder(shape)[0] == "body":
                yield draft_passage(f"Notes: {text}", "paragraph", self._place(None))

    def _part(self, folder: str) -> str:
        return next((part for part in self._targets.values() if folder in f"/{part}"), "")

    def _object(self, shape: Node) -> Iterator[Element]:
        place, (kind, _) = self._place(shape), _placeholder(shape)
        if shape.tag == "pic":
            blip, about = shape.first_of("blip"), shape.first_of("cnvpr")
            part = self._targets.get(blip.get("embed"), "") if blip else ""
            data = self._archive.image(part) if part else None
            if data is not None and (crop := self._source.images.add(data, name=part)):
                description = collapse_spaces(about.get("descr")) if about else ""
                yield draft_figure(place, caption=Caption(text=description), crop=crop)
        elif (table := shape.first_of("tbl")) is not None:
            head = int(any(node.get("firstRow") == "1" for node in table.findall("tblpr")))
            if (found := table_of_rows([_row(row, place) for row in table.findall("tr")], place, head=head)).cells:
                yield found
        elif shape.tag == "graphicframe":
            self.others += 1
        else:
            for text, paragraph in _texts(shape):
                formulas = list(paragraph.iter("omath"))
                if len(formulas) == 1 and text == collapse_spaces(plain_formula(omml_formula(formulas[0]))):
                    yield draft_equation(omml_formula(formulas[0]), place)
                    continue
                marker = _marker(paragraph, in_list=kind in ("body", ""))
                role: PassageRole = "furniture" if kind in _FURNITURE else "list" if marker else "paragraph"
                yield draft_passage(marker + text, role, place)

    def _place(self, shape: Node | None) -> Place:
        """Return the place of a shape: its own, else that of the placeholder of the layout that it fills."""
        box = self._whole
        kind = _placeholder(shape) if shape else ("none", "")
        alike = [one for tree in self._inherited for one in _shapes(tree) if kind in _kinds(one)] if shape else []
        for one in [shape, *alike] if shape else []:
            frame = one.first_of("xfrm")
            off, ext = (frame.find("off"), frame.find("ext")) if frame else (None, None)
            if off is not None and ext is not None and ext.integer("cx"):
                x, y = off.integer("x") / _PER_POINT, off.integer("y") / _PER_POINT
                box = Box(x, y, x + ext.integer("cx") / _PER_POINT, y + ext.integer("cy") / _PER_POINT)
                break
        return Place(paper=self._source.lines.paper, page=self.number, box=box)


def _shapes(tree: Node) -> Iterator[Node]:
    """Yield the objects of a slide, with those of groups."""
    for node in tree.outermost(lambda one: one.tag in ("sp", "pic", "graphicframe", "fallback")):
        if node.tag != "fallback":
            yield node


def _placeholder(shape: Node) -> tuple[str, str]:
    """Return the kind of the placeholder that a shape fills, and its index; "none" for no placeholder."""
    node = shape.first_of("ph")
    return (node.get("type").lower(), node.get("idx")) if node else ("none", "")


def _kinds(shape: Node) -> Sequence[tuple[str, str]]:
    kind, index = _placeholder(shape)
    return [(kind, index), (kind, ""), ("", index)] if kind != "none" else []


def _texts(shape: Node) -> list[tuple[str, Node]]:
    body = shape.find("txbody")
    found = [(collapse_spaces(_text(paragraph)), paragraph) for paragraph in body.findall("p")] if body else []
    return [(text, paragraph) for text, paragraph in found if text]


def _text(node: Node) -> str:
    if node.tag == "omath":
        return plain_formula(omml_formula(node))
    if node.tag in ("t", "br", "fallback"):
        return {"t": node.text(), "br": " "}.get(node.tag, "")
    text = "".join(_text(child) for child in node.nodes)
    properties = node.find("rpr") if node.tag == "r" else None
    raised = properties.get("baseline") if properties else ""
    if raised in ("", "0") or not text.strip():
        return text
    return script_text(text.strip(), raised=not raised.startswith("-"))


def _marker(paragraph: Node, *, in_list: bool) -> str:
    properties = paragraph.find("ppr")
    own = [node.tag for node in properties.nodes] if properties else []
    if "bunone" in own:
        return ""
    return "• " if in_list or "buchar" in own or "buautonum" in own else ""


def _row(row: Node, place: Place) -> list[MarkupCell]:
    return [
        MarkupCell(
            text=" ".join(text for text, _ in _texts(cell)),
            place=place,
            row_span=max(1, cell.integer("rowSpan", default=1)),
            column_span=max(1, cell.integer("gridSpan", default=1)),
        )
        for cell in row.findall("tc")
        if cell.get("hMerge") not in ("1", "true") and cell.get("vMerge") not in ("1", "true")
    ]
