"""Converts OpenDocument texts to HTML for its reader. A place is a line: each paragraph and table row counts as one."""

from collections.abc import Iterator

from ingest.document.bylines import author_names
from ingest.readers.element_collector import Reading, Source
from ingest.readers.html import HtmlWalker
from ingest.readers.markup_tree import Node, element
from ingest.readers.zip_archive import ZipArchive
from paperscope_core.errors import PaperFileError
from paperscope_core.publication import doi_in
from paperscope_core.types import Publication

__all__ = ["read_odt"]

_CONTENT = "content.xml"
_SKIPPED = frozenset(
    "tracked-changes annotation annotation-end table-of-content table-of-content-source soft-page-break "
    "sequence-decls variable-decls forms note-citation title desc covered-table-cell".split()
)
_CONTAINERS = {"list-item": "li", "list-header": "li", "table-header-rows": "thead", "table": "table"}
_SPACES = frozenset(("s", "tab"))
# Limits cyclic style inheritance, and the cells that one entry repeats.
_MAX_STYLE_DEPTH = 20
_MAX_REPEATED = 1000


def read_odt(source: Source) -> Reading:
    """Read a document. Raise `PaperFileError` if it is damaged, encrypted or too large."""
    archive = ZipArchive(source.data, name=source.name, kind="ODT")
    content = archive.tree(_CONTENT)
    body = content.find("body", "text")
    if body is None:
        raise PaperFileError(
            f"{source.name!r} holds no OpenDocument text that can be read. Save it again, without a password."
        )
    source.images.look_in(archive.images_in(""))
    styles = _Styles(content, archive.tree("styles.xml"))
    page = _Converter(archive, styles=styles).page(body)
    metadata = archive.tree("meta.xml").find("meta")
    texts = {node.tag: node.plain_text() for node in metadata.nodes} if metadata else {}
    return Reading(
        elements=HtmlWalker(source).walk(page),
        title=texts.get("title", ""),
        creators=author_names([texts.get("initial-creator") or texts.get("creator", "")], metadata=""),
        problems=archive.problems,
        publication=Publication(doi=next(filter(None, map(doi_in, texts.values())), "")),
    )


class _Styles:
    """The styles of a document by name, automatic ones and their parents."""

    def __init__(self, *roots: Node) -> None:
        self._styles: dict[tuple[str, str], Node] = {}
        self._numbered: set[str] = set()
        for root in roots:
            for node in root.iter("style", "list-style"):
                self._styles.setdefault((node.get("family"), node.get("name")), node)
                if node.tag == "list-style" and node.find("list-level-style-number") is not None:
                    self._numbered.add(node.get("name"))

    def names(self, family: str, name: str) -> list[str]:
        """Return the names of a style and of those that it is based on."""
        names: list[str] = []
        while name and name not in names and len(names) < _MAX_STYLE_DEPTH:
            names.append(name)
            style = self._styles.get((family, name))
            name = style.get("parent-style-name") if style else ""
        return names

    def is_numbered(self, list_style: str) -> bool:
        """Return whether a list has numbers."""
        return list_style in self._numbered

    def tag(self, name: str) -> str:
        """Return the tag of a run of text: `b`, `sup`, `sub` or `span`."""
        for style in self.names("text", name):
            node = self._styles.get(("text", style))
            properties = node.find("text-properties") if node else None
            if properties is not None:
                position = properties.get("text-position")
                if position.startswith(("super", "sub")):
                    return position[:3]
                share = position.partition("%")[0].lstrip("-")
                if position and share.isdecimal() and int(share):
                    return "sub" if position.startswith("-") else "sup"
                if properties.get("font-weight") == "bold":
                    return "b"
        return "b" if name == "Strong_20_Emphasis" else "span"


class _Converter:
    """Converts the elements of a document; a single-use object."""

    def __init__(self, archive: ZipArchive, *, styles: _Styles) -> None:
        self._archive = archive
        self._styles = styles
        self._line = 0

    def page(self, body: Node) -> Node:
        """Return the page of a document's body."""
        return element("body", *self._children(body), lines=(1, max(1, self._line)))

    def _made(self, tag: str, *children: Node | str, first: int = 0, **attributes: str) -> Node:
        return element(tag, *children, lines=(first or max(1, self._line), max(1, self._line)), **attributes)

    def _children(self, node: Node) -> list[Node | str]:
        found: list[Node | str] = []
        for child in node.children:
            found.extend([child] if isinstance(child, str) else self._converted(child))
        return found

    def _converted(self, node: Node) -> Iterator[Node | str]:
        if node.tag in _SKIPPED:
            return
        if node.tag in _SPACES:
            yield " "
        elif node.tag in _CONTAINERS:
            yield self._container(_CONTAINERS[node.tag], node)
        elif node.tag == "frame":
            yield from self._frame(node)
        elif made := self._element(node):
            yield made
        else:
            yield from self._children(node)

    def _element(self, node: Node) -> Node | None:
        made: Node | None = None
        match node.tag:
            case "h" | "p":
                made = self._paragraph(node)
            case "span":
                made = self._made(self._styles.tag(node.get("style-name")), *self._children(node))
            case "line-break":
                made = self._made("br")
            case "note":
                made = self._note(node)
            case "list":
                made = self._container("ol" if self._styles.is_numbered(node.get("style-name")) else "ul", node)
            case "table-row":
                self._line += 1
                made = self._row(node)
        return made

    def _container(self, tag: str, node: Node) -> Node:
        first = self._line + 1
        return self._made(tag, *self._children(node), first=first)

    def _paragraph(self, node: Node) -> Node:
        self._line += 1
        line = self._line
        names = {name.replace("_20_", " ").lower() for name in self._styles.names("paragraph", node.get("style-name"))}
        children = self._children(node)
        if node.tag == "h":
            return self._made(f"h{min(max(node.integer('outline-level', default=1), 1), 6)}", *children, first=line)
        if "title" in names:
            return self._made("h1", *children, first=line, class_="ltx_title_document")
        if not names.isdisjoint(("author", "authors")):
            return self._made("p", *children, first=line, class_="author")
        if "preformatted text" in names:
            return self._made("pre", *children, first=line)
        formulas = [child for child in children if isinstance(child, Node) and child.tag == "math"]
        rest = "".join(child if isinstance(child, str) else child.text() for child in children if child not in formulas)
        if len(formulas) == 1 and not rest.strip("() .,;\t0123456789"):
            number = self._made("span", rest.strip(" .,;\t"), class_="ltx_tag_equation")
            return self._made("div", formulas[0], number, first=line, class_="ltx_equation")
        blocks = any(isinstance(child, Node) and child.tag in ("p", "table") for child in children)
        return self._made("div" if blocks else "p", *children, first=line)

    def _note(self, node: Node) -> Node:
        line, body = self._line, node.find("note-body")
        citation = node.find("note-citation")
        text = self._children(body) if body is not None else []
        self._line = line
        mark = self._made("sup", citation.plain_text() if citation is not None else "", class_="ltx_note_mark")
        return self._made("span", mark, *text, class_="ltx_role_footnote")

    def _row(self, row: Node) -> Node:
        line = self._line
        cells: list[Node | str] = []
        for cell in row.findall("table-cell"):
            made = self._made(
                "td",
                *self._children(cell),
                colspan=cell.get("number-columns-spanned"),
                rowspan=cell.get("number-rows-spanned"),
            )
            cells += [made] * min(max(cell.integer("number-columns-repeated", default=1), 1), _MAX_REPEATED)
        self._line = line
        return self._made("tr", *cells)

    def _frame(self, frame: Node) -> Iterator[Node | str]:
        """Yield what a frame shows: a formula, the text of a box, or a picture."""
        for part in frame.findall("object"):
            inner = self._archive.tree(f"{part.get('href').removeprefix('./')}/{_CONTENT}")
            if inner.tag == "math":
                yield inner
                return
        if (box := frame.find("text-box")) is not None:
            yield from self._children(box)
        elif (image := frame.find("image")) is not None and image.get("href"):
            named = frame.find("title") or frame.find("desc")
            alt = named.plain_text() if named is not None else ""
            yield self._made("img", src=image.get("href"), alt=alt)
