"""A TEI document to elements: its header, its body with floats, its bibliography."""

from collections.abc import Sequence

from ingest.markup.decoding import decode
from ingest.markup.inline import inline_text
from ingest.markup.nodes import Node
from ingest.markup.reading import Reading, Source
from ingest.markup.tei.body import TeiWalker
from ingest.markup.tei.citations import numbers_cited, person_name
from ingest.markup.tei.places import LinePlaces, NoCoordinatesError, PagePlaces, pages_of
from ingest.markup.trees import xml_tree
from paperscope.errors import PaperFileError
from paperscope.types import Element, Page

__all__ = ["read_tei"]


def read_tei(source: Source) -> Reading:
    """Read a document. Its places are boxes on pages where every element has coordinates, else lines.

    Raises `PaperFileError` for a file that holds none.
    """
    text, problems = decode(source.data, name=source.name, declared=True)
    tree, lost = xml_tree(text, name=source.name)
    root = tree if tree.tag in ("tei", "tei.2") else next(tree.all("tei"), None)
    if root is None:
        raise PaperFileError(f"{source.name!r} holds no TEI: its root element is {tree.tag!r}.")
    title = root.one("teiheader", "filedesc", "titlestmt", "title")
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
        on_pages = TeiWalker(PagePlaces(source.lines.paper), pictures=source.pictures, numbers=numbers)
        try:
            elements = _elements(root, on_pages)
        except NoCoordinatesError:
            pass
        else:
            if {element.place.page for element in elements} <= {page.number for page in pages}:
                return elements, pages
    on_lines = TeiWalker(LinePlaces(source.lines), pictures=source.pictures, numbers=numbers)
    return _elements(root, on_lines), ()


def _elements(root: Node, walker: TeiWalker) -> list[Element]:
    header = root.one("teiheader")
    if header is not None:
        title = header.one("filedesc", "titlestmt", "title")
        if title is not None:
            walker.passage(inline_text(title.children), "title", title)
        authors = _authors(root)
        if authors:
            walker.passage("\n".join(filter(None, map(person_name, authors))), "authors", *authors)
        abstract = header.one("profiledesc", "abstract")
        if abstract is not None:
            paragraphs = list(abstract.all("p")) or [abstract]
            for paragraph in paragraphs:
                walker.passage(inline_text(paragraph.children), "abstract", paragraph)
    text = root.one("text")
    for part in text.many("front", "body", "back") if text is not None else ():
        walker.walk(part)
    return walker.elements


def _authors(root: Node) -> list[Node]:
    """The authors of the paper itself; editors and publishers of the file are others."""
    header = root.one("teiheader", "filedesc")
    if header is None:
        return []
    analytic = header.one("sourcedesc", "biblstruct", "analytic")
    statement = header.one("titlestmt")
    found = analytic.many("author") if analytic is not None else []
    return [author for author in found or (statement.many("author") if statement is not None else []) if author.plain()]
