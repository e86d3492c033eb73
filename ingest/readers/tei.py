"""TEI XML (GROBID's and hand-made) to elements."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Protocol

from ingest.readers.citations import numbers_cited, person_name, tei_reference
from ingest.readers.embedded_images import EmbeddedImages
from ingest.readers.float_captions import split_caption
from ingest.readers.inline_text import inline_text, is_bold
from ingest.readers.latex import latex_text
from ingest.readers.markup_tree import Node, decode, parse_xml
from ingest.readers.reading import Reading, Source, SourceLines
from ingest.readers.table_grid import MarkupCell, table_cells
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Box, Element, Equation, Figure, Page, Passage, PassageRole, Place, Table

__all__ = [
    "LinePlaces",
    "NoCoordinatesError",
    "PagePlaces",
    "Places",
    "TeiWalker",
    "equation_of",
    "figure_of",
    "pages_of",
    "read_tei",
    "table_of",
]


def table_of(figure: Node, places: "Places") -> list[Element]:
    """The table with its caption, and the notes under it; without cells if the file holds none."""
    label, caption = _named(figure, "Table")
    table = figure if figure.tag == "table" else next(figure.iter("table"), None)
    place, *more = places.of(figure)
    cells, header_rows = table_cells(_rows(table, place) if table is not None else [], head=0)
    found: list[Element] = [
        Table(
            id="",
            place=place,
            order=0,
            cells=cells,
            label=label,
            caption=caption,
            caption_place=place if label or caption else None,
            header_rows=header_rows,
            confidence=1.0 if cells else 0.0,
            more_places=tuple(more),
        )
    ]
    found.extend(
        Passage(id="", place=place, order=0, text=text, role="footnote")
        for note in figure.findall("note")
        if (text := inline_text(note.children))
    )
    return found if cells or label or caption else []


def figure_of(figure: Node, places: "Places", *, pictures: EmbeddedImages) -> list[Element]:
    """The figure with its caption."""
    label, caption = _named(figure, "Figure")
    address = next((node.get("url") for node in figure.iter("graphic") if node.get("url")), "")
    crop = pictures.named(address)
    if not (label or caption or crop):
        return []
    place = places.of(figure)[0]
    return [Figure(id="", place=place, order=0, label=label, caption=caption, caption_place=place, crop=crop)]


def equation_of(formula: Node, places: "Places") -> list[Element]:
    """The formula with its number."""
    label = formula.find("label")
    number = label.plain_text().strip("() .") if label is not None else formula.get("n").strip("() .")
    text = inline_text(child for child in formula.children if child is not label)
    if formula.get("notation").lower() in ("tex", "latex"):
        text = latex_text(text.strip("$"))
    if not text:
        return []
    name = f"Equation {number}" if number else ""
    return [Equation(id="", place=places.of(formula)[0], order=0, text=text, label=name)]


def _named(figure: Node, word: str) -> tuple[str, str]:
    """Label and caption from `head`, `label` and `figDesc`, as GROBID or people write them."""
    head, label, description = (figure.find(tag) for tag in ("head", "label", "figdesc"))
    words = inline_text(description.children) if description is not None else ""
    title = inline_text(head.children) if head is not None else ""
    if found := split_caption(title):
        rest = found.rest.strip(" .")
        return found.label, f"{rest}. {words}" if rest and words else words or found.rest
    if found := split_caption(words):
        return found.label, found.rest
    number = label.plain_text().strip(" .") if label is not None else ""
    name = f"{word} {number}" if number[:1].isdigit() else number
    return name, ". ".join(filter(None, (title.rstrip("."), words)))


def _rows(table: Node, place: Place) -> list[list[MarkupCell]]:
    rows = []
    for row in table.iter("row"):
        is_header = row.get("role") == "label"
        rows.append(
            [
                MarkupCell(
                    text=inline_text(cell.children),
                    place=place,
                    row_span=_number(cell.get("rows")),
                    column_span=_number(cell.get("cols")),
                    is_header=is_header or cell.get("role") == "label",
                    bold=is_bold(cell.children),
                )
                for cell in row.findall("cell")
            ]
        )
    return rows


def _number(text: str) -> int:
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 8 else 1


_BLOCKS = frozenset("figure table list formula note listbibl".split())
_HEADS = {"acknowledgement": "Acknowledgements", "references": "References", "funding": "Funding"}


class Places(Protocol):
    """Makes places of nodes."""

    def of(self, *nodes: Node) -> tuple[Place, ...]:
        """At least one place."""
        ...


class TeiWalker:
    """Collects `elements` of one document; `numbers` are those under which the text cites its bibliography."""

    def __init__(self, places: Places, *, pictures: EmbeddedImages, numbers: Mapping[str, str]) -> None:
        self.elements: list[Element] = []
        self._places = places
        self._pictures = pictures
        self._numbers = numbers

    def passage(self, text: str, role: PassageRole, *nodes: Node, level: int = 0) -> None:
        """Add a passage, unless it is empty."""
        if text:
            place, *more = self._places.of(*nodes)
            self.elements.append(
                Passage(id="", place=place, order=0, text=text, role=role, level=level, more_places=tuple(more))
            )

    def walk(self, node: Node, *, level: int = 1) -> None:
        """Read `front`, `body`, `back` or a division."""
        for child in node.nodes:
            match child.tag:
                case "div" | "div1" | "div2" | "div3" | "div4" | "group":
                    self._division(child, level=level)
                case "head":
                    self._heading(child, level=level)
                case "p" | "ab" | "quote" | "s" | "q" | "l" | "lg" | "epigraph":
                    self._paragraph(child)
                case _:
                    self._block(child)

    def _division(self, node: Node, *, level: int) -> None:
        """A section; one without a head is named by its type, or goes on with the section before."""
        head = next((part for part in node.iter("head") if part.plain_text()), None)
        default = _HEADS.get(node.get("type"), "")
        if default and head is None and node.plain_text():
            self.passage(default, "heading", node, level=level)
        self.walk(node, level=level + (node.find("head") is not None))

    def _heading(self, head: Node, *, level: int) -> None:
        number = head.get("n").strip(" .")
        text = inline_text(head.children)
        words = text if not number or text.startswith(number) else f"{number} {text}"
        self.passage(words, "heading", head, level=max(level - 1, 1))

    def _paragraph(self, node: Node, *, mark: str = "") -> None:
        """The running text, then the floats and notes that stand in it."""
        text = inline_text(_without_blocks(node))
        self.passage(mark + text if text else "", "list" if mark else "paragraph", node)
        for block in node.outermost(lambda part: part.tag in _BLOCKS):
            self._block(block)

    def _block(self, node: Node) -> None:
        match node.tag:
            case "figure" if node.get("type") == "table" or next(node.iter("table"), None):
                self.elements.extend(table_of(node, self._places))
            case "figure":
                self.elements.extend(figure_of(node, self._places, pictures=self._pictures))
            case "table":
                self.elements.extend(table_of(node, self._places))
            case "formula":
                self.elements.extend(equation_of(node, self._places))
            case "list":
                self._list(node)
            case "note":
                number = node.get("n").strip()
                text = inline_text(_without_blocks(node))
                self.passage(f"{number} {text}".strip() if text else "", "footnote", node)
            case "listbibl":
                self._bibliography(node)
            case _ if node.plain_text():
                self._paragraph(node)

    def _list(self, node: Node) -> None:
        ordered = node.get("type") in ("ordered", "numbered") or node.get("rend") == "numbered"
        for number, item in enumerate(node.findall("item"), start=1):
            self._paragraph(item, mark=item.get("n") + " " if item.get("n") else f"{number}. " if ordered else "• ")

    def _bibliography(self, node: Node) -> None:
        if not any(isinstance(element, Passage) and element.role == "heading" for element in self.elements[-1:]):
            self.passage("References", "heading", node, level=1)
        for entry in node.findall("biblstruct", "bibl", "biblfull"):
            if entry.plain_text() and (found := tei_reference(entry, self._places.of(entry), numbers=self._numbers)):
                self.elements.append(found)


def _without_blocks(node: Node) -> list[Node | str]:
    return [child for child in node.children if isinstance(child, str) or child.tag not in _BLOCKS]


# What carries the coordinates of the element round it.
_CARRIERS = ("s", "head", "label", "figdesc", "table", "graphic", "formula", "title", "persname", "p")
_MOST_BOXES = 20_000


class NoCoordinatesError(Exception):
    """An element without coordinates: the file's places are lines."""


class LinePlaces:
    """Places as lines."""

    def __init__(self, lines: SourceLines) -> None:
        self._lines = lines

    def of(self, *nodes: Node) -> tuple[Place, ...]:
        """One place, from the first node to the last."""
        return (self._lines.of(*nodes),)


class PagePlaces:
    """Places as boxes on pages. Raises `NoCoordinatesError` for what has none."""

    def __init__(self, paper: str) -> None:
        self._paper = paper

    def of(self, *nodes: Node) -> tuple[Place, ...]:
        """One place for each page on which the nodes stand, in their order."""
        boxes = [box for node in nodes for box in _boxes(node)]
        if not boxes:
            raise NoCoordinatesError
        places = []
        for page, group in groupby(boxes, key=lambda item: item[0]):
            whole, *rest = [box for _, box in group]
            for box in rest:
                whole = whole.union(box)
            places.append(Place(paper=self._paper, page=page, box=whole.rounded()))
        return tuple(places)


def pages_of(root: Node) -> tuple[Page, ...]:
    """The pages that `facsimile` lists with their sizes, in their order."""
    pages = {}
    for surface in root.iter("surface"):
        number = surface.get("n")
        try:
            width, height = float(surface.get("lrx")), float(surface.get("lry"))
        except ValueError:
            continue
        if number.isascii() and number.isdigit() and 0 < width < 20_000 and 0 < height < 20_000:
            pages[int(number)] = Page(number=int(number), width=round(width, 1), height=round(height, 1))
    return tuple(pages[number] for number in sorted(pages))


def _boxes(node: Node) -> list[tuple[int, Box]]:
    """The boxes of a node, or those of its parts if it has none itself."""
    own = _parsed(node.get("coords"))
    if own:
        return own
    return [
        box
        for part in node.outermost(lambda part: bool(part.get("coords")) and part.tag in _CARRIERS)
        for box in _parsed(part.get("coords"))
    ]


def _parsed(coords: str) -> list[tuple[int, Box]]:
    """`1,53.8,200.0,240.1,9.6;2,…`: page, x, y, width, height."""
    boxes = []
    for part in coords.split(";", _MOST_BOXES):
        try:
            page, x, y, width, height = map(float, part.split(","))
            number = int(page)
        except (ValueError, OverflowError):
            continue
        if 0 < number < 100_000 and all(abs(value) < 100_000 for value in (x, y, width, height)):
            boxes.append((number, Box(x, y, x + width, y + height)))
    return boxes


def read_tei(source: Source) -> Reading:
    """Read a document. Its places are boxes on pages where every element has coordinates, else lines.

    Raises `PaperFileError` for a file that holds none.
    """
    text, problems = decode(source.data, name=source.name, declared=True)
    tree, lost = parse_xml(text, name=source.name)
    root = tree if tree.tag in ("tei", "tei.2") else next(tree.iter("tei"), None)
    if root is None:
        raise PaperFileError(f"{source.name!r} holds no TEI: its root element is {tree.tag!r}.")
    title = root.find("teiheader", "filedesc", "titlestmt", "title")
    elements, pages = _placed(root, source)
    return Reading(
        elements=elements,
        title=inline_text(title.children) if title is not None else "",
        authors=tuple(dict.fromkeys(filter(None, map(person_name, _authors(root))))),
        problems=(*problems, *lost),
        pages=pages,
    )


def _placed(root: Node, source: Source) -> tuple[list[Element], Sequence[Page]]:
    pages = pages_of(root)
    numbers = numbers_cited(root)
    if pages:
        on_pages = TeiWalker(PagePlaces(source.lines.paper), pictures=source.images, numbers=numbers)
        try:
            elements = _elements(root, on_pages)
        except NoCoordinatesError:
            pass
        else:
            if {element.place.page for element in elements} <= {page.number for page in pages}:
                return elements, pages
    on_lines = TeiWalker(LinePlaces(source.lines), pictures=source.images, numbers=numbers)
    return _elements(root, on_lines), ()


def _elements(root: Node, walker: TeiWalker) -> list[Element]:
    header = root.find("teiheader")
    if header is not None:
        title = header.find("filedesc", "titlestmt", "title")
        if title is not None:
            walker.passage(inline_text(title.children), "title", title)
        authors = _authors(root)
        if authors:
            walker.passage("\n".join(filter(None, map(person_name, authors))), "authors", *authors)
        abstract = header.find("profiledesc", "abstract")
        if abstract is not None:
            paragraphs = list(abstract.iter("p")) or [abstract]
            for paragraph in paragraphs:
                walker.passage(inline_text(paragraph.children), "abstract", paragraph)
    text = root.find("text")
    for part in text.findall("front", "body", "back") if text is not None else ():
        walker.walk(part)
    return walker.elements


def _authors(root: Node) -> list[Node]:
    """The authors of the paper itself; editors and publishers of the file are others."""
    header = root.find("teiheader", "filedesc")
    if header is None:
        return []
    analytic = header.find("sourcedesc", "biblstruct", "analytic")
    statement = header.find("titlestmt")
    found = analytic.findall("author") if analytic is not None else []
    return [
        author
        for author in found or (statement.findall("author") if statement is not None else [])
        if author.plain_text()
    ]
