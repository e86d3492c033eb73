"""Converts HTML pages to elements: plain ones, arXiv's (LaTeXML), PubMed Central's, pandoc's."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ingest.document.drafts import draft_passage, draft_reference
from ingest.readers.character_sets import decode
from ingest.readers.element_collector import ElementCollector, Reading, Source
from ingest.readers.html_floats import (
    equations_of,
    figure_of,
    float_elements,
    html_tables,
    is_float,
    is_layout,
    is_table,
    listing_text,
)
from ingest.readers.inline_text import (
    INVISIBLE_TAGS,
    collapse_spaces,
    inline_text,
    list_markers,
    node_text,
)
from ingest.readers.markup_tree import Node, parse_html
from paperscope_core.publication import arxiv_in, doi_in, year_in
from paperscope_core.types import Element, Passage, Publication, WorkKind

__all__ = ["HtmlWalker", "read_html"]

_TITLES = ("citation_title", "dc.title", "dcterms.title", "og:title")
_AUTHORS = ("citation_author", "dc.creator", "author")
_DATES = (
    "citation_publication_date",
    "citation_date",
    "citation_year",
    "dc.date",
    "dcterms.issued",
    "prism.publicationdate",
)
_VENUES: Mapping[str, WorkKind] = {
    "citation_journal_title": "article-journal",
    "citation_conference_title": "paper-conference",
    "citation_inbook_title": "chapter",
    "prism.publicationname": "",
}
_DOIS = ("citation_doi", "prism.doi", "dc.identifier", "dc.identifier.doi")
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 "
    "h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table tbody tfoot thead tr td th "
    "ul caption dir img".split()
)
_INVISIBLE_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_HIDDEN_CLASSES = frozenset(
    "headerlink anchor-link permalink mw-editsection noprint visually-hidden sr-only screen-reader-text skip-link "
    "skiplink ltx_page_navbar ltx_TOC toc navbar breadcrumb breadcrumbs cookie-banner ltx_ERROR ltx_rdf "
    "ltx_note_type ltx_tag_note".split()
)
_HIDDEN_ROLES = frozenset("navigation search menu menubar toolbar dialog alert".split())
_FURNITURE_CLASSES = frozenset(
    "ltx_page_footer ltx_page_header ltx_page_logo ltx_pagination site-header site-footer sidebar".split()
)
_FURNITURE_ROLES = frozenset("banner contentinfo complementary".split())
_NOTE_MARKS = (
    "ltx_note_mark ltx_tag doc-backlink footnote-back footnote-backref reversefootnote data-footnote-backref".split()
)
# The least share of the page's text in its only `main` or `article` for this to be the paper.
_MAIN_SHARE = 0.5


def read_html(source: Source) -> Reading:
    """Read a page. Raise `PaperFileError` if the file is not text."""
    text, problems = decode(source.data, name=source.name, declared=True)
    tree, lost = parse_html(text, name=source.name)
    elements = HtmlWalker(source).walk(_main_part(tree))
    titles = _metadata(tree, _TITLES)
    title = next(iter(titles), "") or next((node.plain_text() for node in tree.iter("title") if node.plain_text()), "")
    return Reading(
        elements=_with_title(elements, frozenset(map(str.casefold, titles))),
        title=title,
        authors=tuple(dict.fromkeys(_first_name_first(author) for author in _metadata(tree, _AUTHORS))),
        problems=(*problems, *lost),
        publication=_publication(tree),
    )


def _publication(tree: Node) -> Publication:
    def first(*names: str) -> str:
        return next(iter(_metadata(tree, names)), "")

    named = next((name for name in _VENUES if first(name)), "")
    pages = (first("citation_firstpage"), first("citation_lastpage"))
    return Publication(
        year=year_in(first(*_DATES)),
        venue=first(named) if named else "",
        doi=doi_in(first(*_DOIS)),
        arxiv=arxiv_in(f"arXiv:{first('citation_arxiv_id')}"),
        kind=_VENUES.get(named, ""),
        volume=first("citation_volume"),
        issue=first("citation_issue"),
        pages="-".join(filter(None, pages)),
    )


def _main_part(root: Node) -> Node:
    """Return the only `main` or `article` if it contains most of the text, else the root."""
    body = next(root.iter("body"), root)
    length = len(body.text())
    for tag in ("main", "article"):
        found = list(body.outermost(lambda node, tag=tag: node.tag == tag))  # type: ignore[misc]
        if len(found) == 1 and len(found[0].text()) > _MAIN_SHARE * length:
            return found[0]
    return body


def _metadata(tree: Node, names: Iterable[str]) -> list[str]:
    """Return the contents of the `meta` elements with the first of these names that has any."""
    metas = [
        (node.get("name") or node.get("property"), collapse_spaces(node.get("content"))) for node in tree.iter("meta")
    ]
    for name in names:
        if found := [content for key, content in metas if key.lower() == name and content]:
            return found
    return []


def _first_name_first(author: str) -> str:
    """`Curie, Marie` as `Marie Curie`."""
    last, comma, first = author.partition(", ")
    return f"{first} {last}" if comma and "," not in first else author


def _with_title(elements: Sequence[Element], titles: Collection[str]) -> Sequence[Element]:
    """Mark the first heading that repeats the metadata's title, if no element is marked as the title."""
    passages = [(at, element) for at, element in enumerate(elements) if isinstance(element, Passage)]
    if not any(element.role == "title" for _, element in passages):
        for at, element in passages:
            if element.role == "heading" and element.text.casefold() in titles:
                return [*elements[:at], replace(element, role="title", level=0), *elements[at + 1 :]]
    return elements


class HtmlWalker:
    """Walks a page in document order: blocks become elements, inline content between them paragraphs; single-use."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines = source.lines
        self._elements = ElementCollector(source.lines, bold_headings=True)
        self._with_blocks: set[int] = set()
        self._by_tag: dict[str, Callable[[Node], None]] = {
            "img": self._image,
            "pre": self._code,
            "ul": self._list,
            "ol": self._list,
            "dt": self._term,
            **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), self._heading),
        }
        self._by_class: tuple[tuple[Callable[[Node], None], str, tuple[str, ...], tuple[str, ...]], ...] = (
            (self._reference, "", ("ltx_bibitem", "csl-entry"), ("doc-biblioentry",)),
            (self._footnote, "", ("ltx_role_footnote", "footnote-item", "footnote-text"), ("doc-footnote",)),
            (self._endnotes, "", ("footnotes",), ("doc-endnotes",)),
            (self._equations, "", ("ltx_equation", "ltx_equationgroup"), ()),
            (self._authors, "", ("ltx_authors",), ()),
            (self._authors, "p", ("author",), ()),
            (self._heading, "", ("abstract-title",), ()),
            (self._code, "", ("ltx_listing", "ltx_verbatim", "highlight"), ()),
        )

    def walk(self, root: Node) -> list[Element]:
        """Return the elements below a node."""
        self._find_blocks(root)
        self._elements.visit_children(root, self._visit)
        return self._elements.finish()

    def _find_blocks(self, node: Node) -> bool:
        """Record the elements that contain blocks; return whether this one is or contains a block."""
        inside = [self._find_blocks(child) for child in node.nodes]
        if any(inside):
            self._with_blocks.add(id(node))
        return any(inside) or _is_block(node) or self._handler(node) is not None

    def _visit(self, node: Node) -> None:
        if _is_hidden(node) or node.tag in INVISIBLE_TAGS:
            return
        handler = self._handler(node)
        if handler is not None:
            handler(node)
        elif _is_block(node):
            self._elements.visit_block(node, self._visit)
        elif id(node) in self._with_blocks:
            self._elements.visit_children(node, self._visit)
        else:
            self._elements.add_inline(node)

    def _handler(self, node: Node) -> Callable[[Node], None] | None:
        """Return the method that reads an element which is more than inline content or a container."""
        handler = self._by_tag.get(node.tag) or self._class_handler(node)
        if handler is not None:
            return handler
        if is_float(node):
            return self._float
        if is_table(node) and not is_layout(node):
            return self._table
        if node.tag == "math" and node.get("display") == "block":
            return self._equations
        return self._furniture if _is_furniture(node) else None

    def _class_handler(self, node: Node) -> Callable[[Node], None] | None:
        if not node.classes and "role" not in node.attributes:
            return None
        for handler, tag, classes, roles in self._by_class:
            if tag in ("", node.tag) and (not node.classes.isdisjoint(classes) or node.get("role") in roles):
                return handler
        return self._equations if node.classes >= {"math", "display"} else None

    def _heading(self, node: Node) -> None:
        text = inline_text(child for child in node.children if isinstance(child, str) or not _is_hidden(child))
        if "ltx_title_document" in node.classes:
            self._elements.add_passage(node, text, "title")
        else:
            level = int(node.tag[1]) if node.tag[0] == "h" and node.tag[1:].isdigit() else 1
            self._elements.add_passage(node, text, "heading", level=level)

    def _authors(self, node: Node) -> None:
        people = [inline_text(_without(one, "ltx_note")) for one in node.iter() if "ltx_personname" in one.classes]
        self._elements.add_passage(node, "\n".join(filter(None, people)) or node_text(node), "authors")

    def _code(self, node: Node) -> None:
        self._elements.add_passage(node, listing_text(node), "code")

    def _list(self, node: Node) -> None:
        self._elements.end_paragraph()
        markers = {id(item): marker for item, marker in _items(node)}
        for item in node.nodes:
            if id(item) not in markers or self._class_handler(item):
                self._visit(item)
            elif not _is_hidden(item):
                self._elements.marker = markers[id(item)]
                self._elements.visit_block(item, self._visit)
                self._elements.marker = ""

    def _term(self, node: Node) -> None:
        self._elements.end_paragraph()
        if self._elements.marker:
            # The previous term has no definition.
            self._elements.add_passage(node, self._elements.marker.rstrip(": "), "list")
        self._elements.marker = f"• {node_text(node)}: "

    def _image(self, node: Node) -> None:
        self._elements.add(figure_of(node, source=self._source))

    def _float(self, node: Node) -> None:
        if found := float_elements(node, source=self._source):
            self._elements.add_blocks(found)
        else:
            self._elements.visit_block(node, self._visit)

    def _table(self, node: Node) -> None:
        caption = node.find("caption")
        if caption is not None and caption.text().strip():
            self._elements.add_blocks(float_elements(node, source=self._source))
        else:
            self._elements.add_blocks(html_tables([node], place_of=self._lines.of))
        for image in node.iter("img"):
            self._image(image)

    def _equations(self, node: Node) -> None:
        self._elements.add_blocks(equations_of(node, lines=self._lines))

    def _footnote(self, node: Node) -> None:
        """Add a note after the paragraph that holds it; its mark stays in the paragraph."""
        mark = next((part for part in node.iter("sup") if "ltx_note_mark" in part.classes), None)
        text = inline_text(_without(node, *_NOTE_MARKS))
        if mark is not None:
            text = f"{inline_text([mark])} {text}"
            self._elements.add_inline(mark)
        self._elements.add(draft_passage(text, "footnote", self._lines.of(node)))

    def _endnotes(self, node: Node) -> None:
        self._elements.end_paragraph()
        for notes in node.outermost(lambda part: part.tag in ("ol", "ul")):
            for item, marker in _items(notes):
                text = inline_text(_without(item, *_NOTE_MARKS)).rstrip(" ↩︎")
                self._elements.add_passage(item, marker + text if text else "", "footnote")

    def _reference(self, node: Node) -> None:
        self._elements.end_paragraph()
        text = inline_text(_without(node, "ltx_tag_bibitem", "ltx_bib_cited"))
        if not text:
            return
        tag = next((part for part in node.iter() if "ltx_tag_bibitem" in part.classes), None)
        number = node_text(tag).strip("[]() .")
        text = f"[{number}] {text}" if number.isdigit() else text
        self._elements.add(draft_reference(text, self._lines.of(node)))

    def _furniture(self, node: Node) -> None:
        self._elements.add_passage(node, node_text(node), "furniture")


def _items(node: Node) -> Iterator[tuple[Node, str]]:
    """Yield the items of a list, and their markers."""
    items = node.findall("li")
    style = (node.get("type") or "1") if node.tag == "ol" else ""
    return zip(items, list_markers(items, style=style, start=node.integer("start", default=1)), strict=True)


def _is_hidden(node: Node) -> bool:
    """Return whether an element is invisible, or only serves navigation."""
    return (
        node.tag == "nav"
        or "hidden" in node.attributes
        or node.get("aria-hidden").lower() == "true"
        or node.get("role") in _HIDDEN_ROLES
        or not node.classes.isdisjoint(_HIDDEN_CLASSES)
        or bool(node.get("style") and _INVISIBLE_STYLE.search(node.get("style")))
    )


def _is_furniture(node: Node) -> bool:
    """Return whether an element is a header without a main heading, a footer or a sidebar of the page."""
    if node.get("role").startswith("doc-"):
        return False
    if node.tag == "header":
        return node.first_of("h1", "h2", "h3") is None
    return (
        node.tag in ("footer", "aside")
        or node.get("role") in _FURNITURE_ROLES
        or not node.classes.isdisjoint(_FURNITURE_CLASSES)
    )


def _is_block(node: Node) -> bool:
    return node.tag in _BLOCKS or (node.tag == "math" and node.get("display") == "block")


def _without(node: Node, *names: str) -> list[Node | str]:
    """Return the children of a node without descendants that have one of these classes or roles."""
    kept: list[Node | str] = []
    for child in node.children:
        if isinstance(child, str):
            kept.append(child)
        elif child.classes.isdisjoint(names) and child.get("role") not in names:
            kept.append(replace(child, children=tuple(_without(child, *names))))
    return kept
