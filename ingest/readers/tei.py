"""Converts TEI XML (GROBID's and hand-made) to elements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TypeAlias

from ingest.document.drafts import Caption, draft_equation, draft_figure, draft_passage
from ingest.document.geometry import bounding_box
from ingest.readers.character_sets import decode
from ingest.readers.element_collector import Reading, Source
from ingest.readers.embedded_images import EmbeddedImages
from ingest.readers.float_captions import split_caption
from ingest.readers.inline_text import inline_latex, inline_text, is_bold, node_text
from ingest.readers.markup_tree import Node, parse_xml
from ingest.readers.table_grid import MarkupCell, table_of_rows
from ingest.readers.xml_references import cited_numbers, tei_name, tei_reference
from paperscope_core.errors import PaperFileError
from paperscope_core.publication import arxiv_in, doi_in, year_in
from paperscope_core.text.latex import latex_text, split_tag
from paperscope_core.types import Box, Element, Page, Passage, PassageRole, Place, Publication

__all__ = ["read_tei"]

# Makes one or more places of nodes.
_PlacesOf: TypeAlias = Callable[..., tuple[Place, ...]]

_BLOCKS = frozenset("figure table list formula note listbibl".split())
_DEFAULT_TITLES = {"acknowledgement": "Acknowledgements", "references": "References", "funding": "Funding"}
# The elements that lend their coordinates to an element without any.
_WITH_COORDINATES = ("s", "head", "label", "figdesc", "table", "graphic", "formula", "title", "persname", "p")
# Limits damaged coordinates.
_MAX_BOXES = 20_000
_MAX_PAGE_SIZE = 20_000
_MAX_COORDINATE = 100_000


def read_tei(source: Source) -> Reading:
    """Read a document. Its places are boxes on pages if every element has coordinates, else lines.

    Raise `PaperFileError` if the file holds no document.
    """
    text, problems = decode(source.data, name=source.name, declared=True)
    tree, lost = parse_xml(text, name=source.name)
    root = tree if tree.tag in ("tei", "tei.2") else tree.first_of("tei")
    if root is None:
        raise PaperFileError(f"{source.name!r} holds no TEI: its root element is {tree.tag!r}.")
    elements, pages = _elements_and_pages(root, source)
    return Reading(
        elements=elements,
        title=node_text(root.find("teiheader", "filedesc", "titlestmt", "title")),
        authors=tuple(dict.fromkeys(filter(None, map(tei_name, _authors(root))))),
        problems=(*problems, *lost),
        pages=pages,
        publication=_publication(root),
    )


def _publication(root: Node) -> Publication:
    """Return what the description of the source states: the journal or the proceedings, the date, and the ids."""
    work = root.find("teiheader", "filedesc", "sourcedesc", "biblstruct")
    whole = work.find("monogr") if work else None
    if work is None or whole is None:
        return Publication()
    titles = [title for title in whole.findall("title") if title.get("level") in ("j", "m", "")]
    dates = [date.get("when") or date.plain_text() for date in whole.iter("date")]
    ids = {node.get("type").lower(): node.plain_text() for node in work.iter("idno")}
    return Publication(
        year=year_in(dates[0]) if dates else None,
        venue=node_text(titles[0]) if titles and work.find("analytic") else "",
        doi=doi_in(ids.get("doi", "")),
        arxiv=arxiv_in(f"arXiv:{ids.get('arxiv', '').removeprefix('arXiv:')}"),
    )


def _authors(root: Node) -> list[Node]:
    """Return the authors of the paper; editors and publishers of the file are others."""
    analytic = root.find("teiheader", "filedesc", "sourcedesc", "biblstruct", "analytic")
    found = analytic.findall("author") if analytic else []
    return [
        author for author in found or root.select("teiheader", "filedesc", "titlestmt", "author") if author.plain_text()
    ]


class _NoCoordinatesError(Exception):
    """An element without coordinates: the places of this file must be lines."""


def _elements_and_pages(root: Node, source: Source) -> tuple[list[Element], Sequence[Page]]:
    """Return the elements and the pages, () if the places are lines."""
    pages = _pages(root)
    numbers = cited_numbers(root)
    if pages:
        places_of = partial(_page_places, source.lines.paper)
        try:
            elements = _TeiWalker(places_of, images=source.images, numbers=numbers).walk(root)
        except _NoCoordinatesError:
            pass
        else:
            if {element.place.page for element in elements} <= {page.number for page in pages}:
                return elements, pages
    return _TeiWalker(lambda *nodes: (source.lines.of(*nodes),), images=source.images, numbers=numbers).walk(root), ()


def _page_places(paper: str, *nodes: Node) -> tuple[Place, ...]:
    """Return a place for each page in turn. Raise `_NoCoordinatesError` for nodes without coordinates."""
    boxes = [box for node in nodes for box in _boxes(node)]
    if not boxes:
        raise _NoCoordinatesError
    return tuple(
        Place(paper=paper, page=page, box=bounding_box(box for _, box in group).rounded())
        for page, group in groupby(boxes, key=lambda item: item[0])
    )


def _pages(root: Node) -> tuple[Page, ...]:
    """Return the pages that `facsimile` lists with their sizes, in order."""
    pages = {}
    for surface in root.iter("surface"):
        number = surface.integer("n")
        try:
            width, height = float(surface.get("lrx")), float(surface.get("lry"))
        except ValueError:
            continue
        if number and 0 < width < _MAX_PAGE_SIZE and 0 < height < _MAX_PAGE_SIZE:
            pages[number] = Page(number=number, width=round(width, 1), height=round(height, 1))
    return tuple(pages[number] for number in sorted(pages))


def _boxes(node: Node) -> list[tuple[int, Box]]:
    """Return page and box of each part of a node, from its own coordinates or its descendants'."""
    own = _parse_coordinates(node.get("coords"))
    if own:
        return own
    parts = node.outermost(lambda part: bool(part.get("coords")) and part.tag in _WITH_COORDINATES)
    return [box for part in parts for box in _parse_coordinates(part.get("coords"))]


def _parse_coordinates(coordinates: str) -> list[tuple[int, Box]]:
    """Read `1,53.8,200.0,240.1,9.6;2,…`: page, x, y, width, height."""
    boxes = []
    for part in coordinates.split(";", _MAX_BOXES):
        try:
            page, x, y, width, height = map(float, part.split(","))
            number = int(page)
        except (ValueError, OverflowError):
            continue
        if 0 < number < _MAX_COORDINATE and all(abs(value) < _MAX_COORDINATE for value in (x, y, width, height)):
            boxes.append((number, Box(x, y, x + width, y + height)))
    return boxes


class _TeiWalker:
    """Walks a document in order; a single-use object.

    `numbers` are the numbers by which the text cites its bibliography.
    """

    def __init__(self, places_of: _PlacesOf, *, images: EmbeddedImages, numbers: Mapping[str, str]) -> None:
        self._elements: list[Element] = []
        self._places_of = places_of
        self._images = images
        self._numbers = numbers

    def walk(self, root: Node) -> list[Element]:
        """Return the elements of a document: title, authors, abstract, text."""
        if title := root.find("teiheader", "filedesc", "titlestmt", "title"):
            self._passage(node_text(title), "title", title)
        if authors := _authors(root):
            self._passage("\n".join(filter(None, map(tei_name, authors))), "authors", *authors)
            # Affiliations have no coordinates of their own.
            listed = ((_listed(one), author) for author in authors for one in author.iter("affiliation"))
            for affiliation, author in {one: author for one, author in listed if one}.items():
                self._passage(affiliation, "authors", author)
        if abstract := root.find("teiheader", "profiledesc", "abstract"):
            for paragraph in list(abstract.iter("p")) or [abstract]:
                self._passage(node_text(paragraph), "abstract", paragraph)
        text = root.find("text")
        for part in text.findall("front", "body", "back") if text else ():
            self._content(part, level=1)
        return self._elements

    def _passage(self, text: str, role: PassageRole, *nodes: Node, level: int = 0) -> None:
        if text:
            self._elements.append(draft_passage(text, role, *self._places_of(*nodes), level=level))

    def _content(self, node: Node, *, level: int) -> None:
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
        """Add a section; one without a head is named by its type, or continues the previous section."""
        title = _DEFAULT_TITLES.get(node.get("type"), "")
        if title and node.plain_text() and not any(head.plain_text() for head in node.iter("head")):
            self._passage(title, "heading", node, level=level)
        self._content(node, level=level + (node.find("head") is not None))

    def _heading(self, head: Node, *, level: int) -> None:
        number = head.get("n").strip(" .")
        text = node_text(head)
        text = text if not number or text.startswith(number) else f"{number} {text}"
        self._passage(text, "heading", head, level=max(level - 1, 1))

    def _paragraph(self, node: Node, *, marker: str = "") -> None:
        """Add the running text, then the floats and notes inside it."""
        text = inline_text(_without_blocks(node))
        self._passage(marker + text if text else "", "list" if marker else "paragraph", node)
        for block in node.outermost(lambda part: part.tag in _BLOCKS):
            self._block(block)

    def _block(self, node: Node) -> None:
        match node.tag:
            case "figure" if node.get("type") != "table" and node.first_of("table") is None:
                self._figure(node)
            case "figure" | "table":
                self._table(node)
            case "formula":
                self._equation(node)
            case "list":
                self._list(node)
            case "note":
                text = inline_text(_without_blocks(node))
                self._passage(f"{node.get('n').strip()} {text}".strip() if text else "", "footnote", node)
            case "listbibl":
                self._bibliography(node)
            case _ if node.plain_text():
                self._paragraph(node)

    def _list(self, node: Node) -> None:
        ordered = node.get("type") in ("ordered", "numbered") or node.get("rend") == "numbered"
        for number, item in enumerate(node.findall("item"), start=1):
            printed = item.get("n") or (f"{number}." if ordered else "•")
            self._paragraph(item, marker=f"{printed} ")

    def _bibliography(self, node: Node) -> None:
        if not any(isinstance(element, Passage) and element.role == "heading" for element in self._elements[-1:]):
            self._passage("References", "heading", node, level=1)
        for entry in node.findall("biblstruct", "bibl", "biblfull"):
            if entry.plain_text() and (found := tei_reference(entry, self._places_of(entry), numbers=self._numbers)):
                self._elements.append(found)

    def _table(self, node: Node) -> None:
        """Add the table with its caption and notes, without cells if the file holds none."""
        table = node if node.tag == "table" else node.first_of("table")
        places = self._places_of(node)
        caption = _caption(node, "Table")
        if caption.label or caption.text:
            caption = replace(caption, place=places[0])
        found = table_of_rows(_rows(table, places[0]) if table else [], *places, caption=caption)
        if not (found.cells or found.label or found.caption):
            return
        self._elements.append(found)
        for note in node.findall("note"):
            if text := node_text(note):
                self._elements.append(draft_passage(text, "footnote", places[0]))

    def _figure(self, node: Node) -> None:
        crop = self._images.named(next((part.get("url") for part in node.iter("graphic") if part.get("url")), ""))
        caption = _caption(node, "Figure")
        if caption.label or caption.text or crop:
            place = self._places_of(node)[0]
            self._elements.append(draft_figure(place, caption=replace(caption, place=place), crop=crop))

    def _equation(self, node: Node) -> None:
        label = node.find("label")
        number = (label.plain_text() if label is not None else node.get("n")).strip("() .")
        parts = [child for child in node.children if child is not label]
        text, latex = inline_text(parts), inline_latex(parts)
        if node.get("notation").lower() in ("tex", "latex"):
            latex = split_tag(text.strip("$"))[0].strip()
            text = latex_text(latex)
        if text:
            self._elements.append(draft_equation(text, self._places_of(node)[0], latex=latex, number=number))


def _listed(affiliation: Node) -> str:
    """Return an affiliation as printed, else its parts: institutions and address."""
    raw = next((note for note in affiliation.iter("note") if note.get("type") == "raw_affiliation"), None)
    parts = list(affiliation.outermost(lambda node: not node.nodes))
    return node_text(raw) or ", ".join(filter(None, map(node_text, parts))) or node_text(affiliation)


def _without_blocks(node: Node) -> list[Node | str]:
    return [child for child in node.children if isinstance(child, str) or child.tag not in _BLOCKS]


def _caption(figure: Node, kind: str) -> Caption:
    """Return label and caption from `head`, `label` and `figDesc`, as GROBID or people write them."""
    title, description = node_text(figure.find("head")), node_text(figure.find("figdesc"))
    if found := split_caption(title):
        rest = found.text.strip(" .")
        return replace(found, text=f"{rest}. {description}" if rest and description else description or found.text)
    if found := split_caption(description):
        return found
    number = node_text(figure.find("label")).strip(" .")
    name = f"{kind} {number}" if number[:1].isdigit() else number
    return Caption(label=name, text=". ".join(filter(None, (title.rstrip("."), description))))


def _rows(table: Node, place: Place) -> list[list[MarkupCell]]:
    return [
        [
            MarkupCell(
                text=node_text(cell),
                place=place,
                row_span=max(1, cell.integer("rows")),
                column_span=max(1, cell.integer("cols")),
                is_header="label" in (row.get("role"), cell.get("role")),
                bold=is_bold(cell.children),
            )
            for cell in row.findall("cell")
        ]
        for row in table.iter("row")
    ]
