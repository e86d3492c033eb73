"""Converts JATS XML, the format of PubMed Central and many publishers, to elements."""

from collections.abc import Callable, Iterable

from ingest.document.drafts import Caption, draft_equation, draft_figure, draft_passage, draft_table
from ingest.readers.character_sets import decode
from ingest.readers.element_collector import ElementCollector, Reading, Source
from ingest.readers.float_captions import label_of
from ingest.readers.html_floats import html_tables
from ingest.readers.inline_text import inline_latex, inline_text, list_markers, node_text
from ingest.readers.markup_tree import Node, parse_xml
from ingest.readers.xml_references import jats_name, jats_reference
from paperscope_core.errors import PaperFileError
from paperscope_core.publication import arxiv_in, doi_in, year_in
from paperscope_core.types import Element, Figure, PassageRole, Publication

__all__ = ["read_jats"]

_ABSTRACTS_APART = frozenset("graphical teaser toc web-summary video".split())
_BLOCKS = frozenset(
    "p disp-quote boxed-text fig-group table-wrap-group disp-formula-group statement app ack bio glossary app-group "
    "notes fn-group verse-group speech supplementary-material sec-meta ref-list body back floats-group list-item def "
    "caption media question answer explanation".split()
)
_IGNORED = frozenset("sec-meta permissions object-id alt-text long-desc attrib related-article processing-meta".split())
_SECTIONS = frozenset("sec app ack ref-list notes bio glossary boxed-text statement fn-group app-group".split())
_DEFAULT_TITLES = {"ref-list": "References", "ack": "Acknowledgements"}
# The style of numbers in HTML, "" for bullets; others count 1, 2, 3.
_LIST_STYLES = {
    **dict.fromkeys(("", "bullet", "simple"), ""),
    "alpha-lower": "a",
    "alpha-upper": "A",
    "roman-lower": "i",
    "roman-upper": "I",
}


def read_jats(source: Source) -> Reading:
    """Read an article. Raise `PaperFileError` if the file contains none."""
    text, problems = decode(source.data, name=source.name, declared=True)
    tree, lost = parse_xml(text, name=source.name)
    article = tree if tree.tag == "article" else tree.first_of("article")
    if article is None:
        raise PaperFileError(f"{source.name!r} holds no JATS article: its root element is {tree.tag!r}.")
    front = article.find("front") or article.find("front-stub")
    meta = (front.find("article-meta") or front) if front else None
    body: list[Element] = []
    for part in article.findall("body", "back", "floats-group"):
        body.extend(_JatsWalker(source).walk(part))
    if front is None or meta is None:
        return Reading(elements=body, problems=(*problems, *lost))
    return Reading(
        elements=[*_front_elements(meta, source), *body, *_furniture(front, meta, source)],
        title=node_text(meta.find("title-group", "article-title")),
        authors=_authors(meta),
        problems=(*problems, *lost),
        publication=_publication(front, meta),
    )


def _authors(meta: Node) -> tuple[str, ...]:
    people = meta.select("contrib-group", "contrib")
    names = (jats_name(person) for person in people if person.get("contrib-type") in ("", "author"))
    return tuple(filter(None, names))


def _front_elements(meta: Node, source: Source) -> list[Element]:
    """Title, authors with their affiliations, abstracts and keywords."""
    found: list[Element] = []
    if title := meta.find("title-group", "article-title"):
        found += _passage(node_text(title), "title", title, source=source)
    if authors := _authors(meta):
        found += _passage(", ".join(authors), "authors", *meta.findall("contrib-group"), source=source)
    for affiliation in meta.iter("aff"):
        label = affiliation.find("label")
        text = inline_text(child for child in affiliation.children if child is not label)
        found += _passage(f"{node_text(label)} {text}".strip(), "authors", affiliation, source=source)
    for abstract in meta.findall("abstract"):
        if abstract.get("abstract-type") not in _ABSTRACTS_APART:
            found += _abstract(abstract, source)
    for group in meta.findall("kwd-group"):
        words = ", ".join(map(node_text, group.iter("kwd")))
        found += _passage(f"Keywords: {words}" if words else "", "paragraph", group, source=source)
    return found


def _abstract(abstract: Node, source: Source) -> list[Element]:
    """Return the paragraphs of an abstract; the titles of a structured one are prefixed to them."""
    found: list[Element] = []
    prefix = ""
    for node in abstract.iter("title", "p"):
        text = node_text(node)
        if node.tag == "title":
            prefix = "" if text.lower().strip(" .:") in ("abstract", "summary") else f"{text.rstrip('.:')}: "
        elif text:
            found += _passage(prefix + text, "abstract", node, source=source)
            prefix = ""
    return found or _passage(node_text(abstract), "abstract", abstract, source=source)


def _furniture(front: Node, meta: Node, source: Source) -> list[Element]:
    """Return journal, year and DOI, as in the header of a printed page."""
    nodes = [node for node in _publication_nodes(front, meta) if node is not None]
    text = ", ".join(filter(None, (node.plain_text() for node in nodes)))
    return _passage(text, "furniture", *nodes[:1], source=source)


def _publication_nodes(front: Node, meta: Node) -> tuple[Node | None, ...]:
    """Return journal, year and DOI; None for one that is missing."""
    year = next((node for date in meta.iter("pub-date") for node in date.findall("year")), None)
    return front.first_of("journal-title"), year, _article_id(meta, "doi")


def _article_id(meta: Node, kind: str) -> Node | None:
    return next((node for node in meta.findall("article-id") if node.get("pub-id-type") == kind), None)


def _publication(front: Node, meta: Node) -> Publication:
    journal, year, doi, arxiv = map(node_text, (*_publication_nodes(front, meta), _article_id(meta, "arxiv")))
    volume, issue, first, last, number = (
        node_text(meta.find(tag)) for tag in ("volume", "issue", "fpage", "lpage", "elocation-id")
    )
    return Publication(
        year=year_in(year),
        venue=journal,
        doi=doi_in(doi),
        arxiv=arxiv_in(f"arXiv:{arxiv}"),
        kind="article-journal" if journal else "",
        volume=volume,
        issue=issue,
        pages="-".join(filter(None, (first, last))) or number,
    )


def _passage(text: str, role: PassageRole, *nodes: Node, source: Source) -> list[Element]:
    return [draft_passage(text, role, source.lines.of(*nodes))] if text else []


class _JatsWalker:
    """Walks the body or the back of an article; a single-use object."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines = source.lines
        self._elements = ElementCollector(source.lines)
        self._level = 0
        self._handlers: dict[str, Callable[[Node], None]] = {
            "fig": lambda node: self._elements.add(self._figure(node)),
            "graphic": lambda node: self._elements.add(self._figure(node)),
            "table-wrap": lambda node: self._elements.add(*self._tables(node)),
            "table": lambda node: self._elements.add(*self._tables(node)),
            "disp-formula": self._equation,
            "list": self._list,
            "def-item": self._definition,
            "fn": self._footnote,
            "ref": self._reference,
            "code": self._code,
            "preformat": self._code,
        }

    def walk(self, part: Node) -> list[Element]:
        """Return the elements of `body`, `back` or `floats-group`."""
        self._elements.visit_children(part, self._visit)
        return self._elements.finish()

    def _visit(self, node: Node) -> None:
        if node.tag in _IGNORED:
            return
        handler = self._handlers.get(node.tag)
        if handler is not None:
            handler(node)
        elif node.tag in _SECTIONS:
            self._section(node)
        elif node.tag in _BLOCKS:
            self._elements.visit_block(node, self._visit)
        else:
            self._elements.add_inline(node)

    def _section(self, node: Node) -> None:
        """Add the heading, with the section's number, and the content."""
        parts = [part for part in (node.find("label"), node.find("title")) if part is not None]
        title = " ".join(filter(None, map(node_text, parts))) or _DEFAULT_TITLES.get(node.tag, "")
        self._level += 1
        self._elements.add_passage(parts[0] if parts else node, title, "heading", level=self._level)
        for child in node.nodes:
            if child.tag not in ("label", "title"):
                self._visit(child)
        self._elements.end_paragraph()
        self._level -= 1

    def _equation(self, node: Node) -> None:
        label = node.find("label")
        number = label.plain_text().strip("() .") if label is not None else ""
        parts = [child for child in node.children if child is not label]
        self._elements.end_paragraph()
        if text := inline_text(parts):
            number = number.removeprefix("Equation ").removeprefix("Eq. ")
            self._elements.add(draft_equation(text, self._lines.of(node), latex=inline_latex(parts), number=number))

    def _list(self, node: Node) -> None:
        self._elements.end_paragraph()
        items = node.findall("list-item")
        style = _LIST_STYLES.get(node.get("list-type"), "1")
        for item, marker in zip(items, list_markers(items, style=style), strict=True):
            label = item.find("label")
            self._elements.marker = f"{node_text(label)} " if label is not None else marker
            for child in item.nodes:
                if child.tag != "label":
                    self._visit(child)
            self._elements.end_paragraph()
            self._elements.marker = ""

    def _definition(self, node: Node) -> None:
        definitions = " ".join(map(node_text, node.findall("def")))
        self._elements.add_passage(node, f"• {node_text(node.find('term'))}: {definitions}", "list")

    def _footnote(self, node: Node) -> None:
        label = node.find("label")
        text = inline_text(child for child in node.children if child is not label)
        if text:
            text = f"{node_text(label)} {text}".strip()
            self._elements.add(draft_passage(text, "footnote", self._lines.of(node)))

    def _reference(self, node: Node) -> None:
        reference = jats_reference(node, place=self._lines.of(node))
        self._elements.add_blocks([reference] if reference else [])

    def _code(self, node: Node) -> None:
        self._elements.add_passage(node, node.text().expandtabs(4).strip("\n").rstrip(), "code")

    def _figure(self, node: Node) -> Figure:
        """Return a figure with its label and caption; a bare `graphic` has none."""
        graphics = [node] if node.tag == "graphic" else node.iter("graphic", "inline-graphic")
        return draft_figure(self._lines.of(node), caption=self._caption(node), crop=self._crop(graphics))

    def _tables(self, node: Node) -> list[Element]:
        """Return the tables of a `table-wrap`, the first one with the caption, and their notes.

        If the table is only an image, it has no cells.
        """
        caption = self._caption(node)
        tables = [node] if node.tag == "table" else node.outermost(lambda part: part.tag == "table")
        found: list[Element] = [*html_tables(tables, place_of=self._lines.of, caption=caption)]
        if not found:
            crop = self._crop(node.iter("graphic"))
            found.append(draft_table((), self._lines.of(node), caption=caption, crop=crop))
        for foot in node.findall("table-wrap-foot"):
            for note in foot.outermost(lambda part: part.tag in ("fn", "p")):
                found += _passage(node_text(note), "footnote", note, source=self._source)
        return found

    def _caption(self, node: Node) -> Caption:
        """Return label and caption; the caption's title precedes its paragraphs."""
        label, caption = node.find("label"), node.find("caption")
        name = label_of(node_text(label))
        if caption is None:
            return Caption(label=name, place=self._lines.of(label) if label is not None else None)
        parts = [text for part in caption.nodes if (text := node_text(part))]
        text = " ".join(part if part.endswith((".", ":", "?")) or part is parts[-1] else f"{part}." for part in parts)
        return Caption(label=name, text=text or node_text(caption), place=self._lines.of(label or caption, caption))

    def _crop(self, graphics: Iterable[Node]) -> str | None:
        return self._source.images.joined(node.get("href") for node in graphics)
