"""JATS XML, as PubMed Central and publishers keep it, to elements."""

from collections.abc import Callable

from ingest.readers.citations import full_name, jats_reference
from ingest.readers.float_captions import label_of
from ingest.readers.html_tables import html_table
from ingest.readers.inline_text import inline_text, list_markers
from ingest.readers.markup_tree import Node, decode, parse_xml
from ingest.readers.reading import ElementCollector, Reading, Source, SourceLines
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Element, Equation, Figure, Passage, PassageRole, Place, Table

__all__ = ["JatsBodyWalker", "equation_of", "figure_of", "read_jats", "tables_of"]


def figure_of(fig: Node, *, source: Source) -> list[Element]:
    """A figure with its label and caption; a bare `graphic` is one without."""
    label, caption, place = _named(fig, lines=source.lines)
    graphics = [fig] if fig.tag == "graphic" else list(fig.iter("graphic", "inline-graphic"))
    return [
        Figure(
            id="",
            place=source.lines.of(fig),
            order=0,
            label=label,
            caption=caption,
            caption_place=place,
            crop=_crop(graphics, source=source),
        )
    ]


def tables_of(wrap: Node, *, source: Source) -> list[Element]:
    """The tables of a `table-wrap` (the caption is the first one's), and its notes behind them. One that is only a
    picture has no cells."""
    label, caption, place = _named(wrap, lines=source.lines)
    tables = [wrap] if wrap.tag == "table" else list(wrap.outermost(lambda node: node.tag == "table"))
    found: list[Element] = []
    for node in tables:
        named = (label, caption, place) if not found else ("", "", None)
        table = html_table(node, lines=source.lines, label=named[0], caption=named[1], caption_place=named[2])
        if table:
            found.append(table)
    if not found:
        crop = _crop(list(wrap.iter("graphic")), source=source)
        found.append(
            Table(
                id="",
                place=source.lines.of(wrap),
                order=0,
                cells=(),
                label=label,
                caption=caption,
                caption_place=place,
                crop=crop,
                confidence=0.0,
            )
        )
    return [*found, *_notes(wrap, lines=source.lines)]


def equation_of(formula: Node, *, lines: SourceLines) -> list[Equation]:
    """The equation with its number."""
    label = formula.find("label")
    number = label.plain_text().strip("() .") if label is not None else ""
    text = inline_text(child for child in formula.children if child is not label)
    if not text:
        return []
    name = f"Equation {number.removeprefix('Equation ').removeprefix('Eq. ')}" if number else ""
    return [Equation(id="", place=lines.of(formula), order=0, text=text, label=name)]


def _named(node: Node, *, lines: SourceLines) -> tuple[str, str, Place | None]:
    """Label, caption and the caption's place. The caption's title comes before its paragraphs."""
    label, caption = node.find("label"), node.find("caption")
    name = label_of(inline_text(label.children)) if label is not None else ""
    if caption is None:
        return name, "", lines.of(label) if label is not None else None
    parts = [text for part in caption.nodes if (text := inline_text(part.children))]
    words = " ".join(text if text.endswith((".", ":", "?")) or text is parts[-1] else f"{text}." for text in parts)
    return name, words or inline_text(caption.children), lines.of(label or caption, caption)


def _notes(wrap: Node, *, lines: SourceLines) -> list[Element]:
    nodes = [
        node
        for foot in wrap.findall("table-wrap-foot")
        for node in foot.outermost(lambda part: part.tag in ("fn", "p"))
    ]
    return [
        Passage(id="", place=lines.of(node), order=0, text=text, role="footnote")
        for node in nodes
        if (text := inline_text(node.children))
    ]


def _crop(graphics: list[Node], *, source: Source) -> str | None:
    crops = [crop for node in graphics if (crop := source.images.named(node.get("href")))]
    return source.images.joined(crops)


_BLOCKS = frozenset(
    "p disp-quote boxed-text fig-group table-wrap-group disp-formula-group statement app ack bio glossary app-group "
    "notes fn-group verse-group speech supplementary-material sec-meta ref-list body back floats-group list-item def "
    "caption media question answer explanation".split()
)
_UNREAD = frozenset("sec-meta permissions object-id alt-text long-desc attrib related-article processing-meta".split())
_TITLED = frozenset("sec app ack ref-list notes bio glossary boxed-text statement fn-group app-group".split())
_DEFAULTS = {"ref-list": "References", "ack": "Acknowledgements"}


class JatsBodyWalker:
    """One walk; use it once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines = source.lines
        self._elements = ElementCollector(source.lines)
        self._level = 0

    def walked(self, part: Node) -> list[Element]:
        """The elements of `body`, `back` or `floats-group` in their order."""
        self._elements.visit_children(part, self._visit)
        return self._elements.finish()

    def _visit(self, node: Node) -> None:
        if node.tag in _UNREAD:
            return
        handler = self._handlers().get(node.tag)
        if handler is not None:
            handler(node)
        elif node.tag in _TITLED:
            self._section(node)
        elif node.tag in _BLOCKS:
            self._inside(node)
        else:
            self._elements.add_inline(node)

    def _handlers(self) -> dict[str, Callable[[Node], None]]:
        return {
            "fig": lambda node: self._float(figure_of(node, source=self._source)),
            "table-wrap": lambda node: self._float(tables_of(node, source=self._source)),
            "table": lambda node: self._float(tables_of(node, source=self._source)),
            "graphic": lambda node: self._float(figure_of(node, source=self._source)),
            "disp-formula": self._equation,
            "list": self._list,
            "def-item": self._definition,
            "fn": self._note,
            "ref": self._reference,
            "code": self._code,
            "preformat": self._code,
        }

    def _inside(self, node: Node) -> None:
        self._elements.end_paragraph()
        self._elements.visit_children(node, self._visit)
        self._elements.end_paragraph()

    def _section(self, node: Node) -> None:
        """The heading (a section's label is its number), then what stands under it."""
        self._elements.end_paragraph()
        parts = [part for part in (node.find("label"), node.find("title")) if part is not None]
        words = " ".join(filter(None, (inline_text(part.children) for part in parts))) or _DEFAULTS.get(node.tag, "")
        self._level += 1
        if words:
            self._elements.add_passage(parts[0] if parts else node, words, "heading", level=self._level)
        for child in node.nodes:
            if child.tag not in ("label", "title"):
                self._visit(child)
        self._elements.end_paragraph()
        self._level -= 1

    def _float(self, elements: list[Element]) -> None:
        self._elements.add(*elements)

    def _equation(self, node: Node) -> None:
        self._elements.end_paragraph()
        self._elements.add(*equation_of(node, lines=self._lines))

    def _list(self, node: Node) -> None:
        self._elements.end_paragraph()
        items = node.findall("list-item")
        marks = list_markers(
            Node(tag=_list_tag(node), attributes=_list_type(node), children=(), first=0, last=0), items
        )
        for item, mark in zip(items, marks, strict=True):
            label = item.find("label")
            self._elements.marker = f"{inline_text(label.children)} " if label is not None else mark
            for child in item.nodes:
                if child.tag != "label":
                    self._visit(child)
            self._elements.end_paragraph()
            self._elements.marker = ""

    def _definition(self, node: Node) -> None:
        term = node.find("term")
        words = [inline_text(part.children) for part in node.findall("def")]
        name = inline_text(term.children) if term is not None else ""
        self._elements.add_passage(node, f"• {name}: {' '.join(words)}", "list")

    def _note(self, node: Node) -> None:
        label = node.find("label")
        text = inline_text(child for child in node.children if child is not label)
        mark = inline_text(label.children) if label is not None else ""
        if text:
            said = f"{mark} {text}".strip()
            self._elements.add(Passage(id="", place=self._lines.of(node), order=0, text=said, role="footnote"))

    def _reference(self, node: Node) -> None:
        self._elements.end_paragraph()
        if reference := jats_reference(node, lines=self._lines):
            self._elements.add(reference)

    def _code(self, node: Node) -> None:
        self._elements.add_passage(node, node.text().expandtabs(4).strip("\n").rstrip(), "code")


def _list_tag(node: Node) -> str:
    return "ul" if node.get("list-type") in ("", "bullet", "simple") else "ol"


def _list_type(node: Node) -> dict[str, str]:
    kinds = {"alpha-lower": "a", "alpha-upper": "A", "roman-lower": "i", "roman-upper": "I"}
    return {"type": kinds.get(node.get("list-type"), "1")}


_ASIDE = frozenset("graphical teaser toc web-summary video".split())


def read_jats(source: Source) -> Reading:
    """Read an article. Raises `PaperFileError` for a file that holds none."""
    text, problems = decode(source.data, name=source.name, declared=True)
    tree, lost = parse_xml(text, name=source.name)
    article = tree if tree.tag == "article" else next(tree.iter("article"), None)
    if article is None:
        raise PaperFileError(f"{source.name!r} holds no JATS article: its root element is {tree.tag!r}.")
    front = article.find("front") or article.find("front-stub")
    meta = (front.find("article-meta") or front) if front else None
    elements: list[Element] = []
    title = ""
    authors: tuple[str, ...] = ()
    if meta is not None:
        head = _Head(meta, source)
        title, authors = head.title, head.authors
        elements.extend(head.elements())
    for part in article.findall("body", "back", "floats-group"):
        elements.extend(JatsBodyWalker(source).walked(part))
    if front is not None and meta is not None:
        elements.extend(_furniture(front, meta, source))
    return Reading(elements=elements, title=title, authors=authors, problems=(*problems, *lost))


class _Head:
    """What `article-meta` says."""

    def __init__(self, meta: Node, source: Source) -> None:
        self._meta = meta
        self._source = source
        title = meta.find("title-group", "article-title")
        self._title = title
        self.title = inline_text(title.children) if title is not None else ""
        people = [
            person
            for group in meta.findall("contrib-group")
            for person in group.findall("contrib")
            if person.get("contrib-type") in ("", "author")
        ]
        self._people = people
        self.authors = tuple(name for name in map(full_name, people) if name)

    def elements(self) -> list[Element]:
        """Title, authors with their affiliations, abstracts and keywords."""
        found: list[Element] = []
        if self._title is not None:
            found += self._passage(self._title, self.title, "title")
        if self.authors:
            places = [inline_text(node.children) for node in self._meta.iter("aff")]
            nodes = self._meta.findall("contrib-group", "aff")
            text = "\n".join([", ".join(self.authors), *filter(None, places)])
            found.append(Passage(id="", place=self._source.lines.of(*nodes), order=0, text=text, role="authors"))
        for abstract in self._meta.findall("abstract"):
            if abstract.get("abstract-type") not in _ASIDE:
                found += self._abstract(abstract)
        for group in self._meta.findall("kwd-group"):
            words = ", ".join(inline_text(word.children) for word in group.iter("kwd"))
            found += self._passage(group, f"Keywords: {words}" if words else "", "paragraph")
        return found

    def _abstract(self, abstract: Node) -> list[Element]:
        """Its paragraphs; the titles of a structured abstract run into them."""
        found: list[Element] = []
        lead = ""
        for node in abstract.iter("title", "p"):
            text = inline_text(node.children)
            if node.tag == "title":
                lead = "" if text.lower().strip(" .:") in ("abstract", "summary") else f"{text.rstrip('.:')}: "
            elif text:
                found += self._passage(node, lead + text, "abstract")
                lead = ""
        if not found:
            found += self._passage(abstract, inline_text(abstract.children), "abstract")
        return found

    def _passage(self, node: Node, text: str, role: PassageRole) -> list[Element]:
        return [Passage(id="", place=self._source.lines.of(node), order=0, text=text, role=role)] if text else []


def _furniture(front: Node, meta: Node, source: Source) -> list[Element]:
    """Journal, year and identifier, as a page's head prints them."""
    journal = next((node for node in front.iter("journal-title")), None)
    year = next((node for node in meta.iter("pub-date") for node in node.findall("year")), None)
    doi = next((node for node in meta.findall("article-id") if node.get("pub-id-type") == "doi"), None)
    nodes = [node for node in (journal, year, doi) if node is not None]
    text = ", ".join(filter(None, (node.plain_text() for node in nodes)))
    if not text:
        return []
    return [Passage(id="", place=source.lines.of(nodes[0]), order=0, text=text, role="furniture")]
