"""Walks through a page from top to bottom: blocks become elements, what stands between them paragraphs."""

from collections.abc import Callable
from dataclasses import replace

from ingest.markup.flow import Flow
from ingest.markup.html.equations import equations_of
from ingest.markup.html.floats import figure_of, float_elements, is_float, listing_text
from ingest.markup.html.page import is_block, is_furniture, is_hidden
from ingest.markup.html.tables import is_layout, is_table, table_of
from ingest.markup.inline import SILENT, inline_text
from ingest.markup.lists import item_marks
from ingest.markup.nodes import Node
from ingest.markup.reading import Source
from ingest.pdf.references.entry import entry_label, entry_year
from paperscope.types import Element, Passage, Reference

__all__ = ["Walker"]

_NOTE_MARKS = (
    "ltx_note_mark ltx_tag doc-backlink footnote-back footnote-backref reversefootnote data-footnote-backref".split()
)


class Walker:
    """One walk; use it once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines = source.lines
        self._flow = Flow(source.lines, bold_headings=True)
        self._holders: set[int] = set()
        self._by_tag: dict[str, Callable[[Node], None]] = {
            "img": self._picture,
            "pre": self._code,
            "ul": self._list,
            "ol": self._list,
            "dt": self._term,
            **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), self._heading),
        }
        self._classes: tuple[tuple[Callable[[Node], None], str, tuple[str, ...], tuple[str, ...]], ...] = (
            (self._reference, "", ("ltx_bibitem", "csl-entry"), ("doc-biblioentry",)),
            (self._footnote, "", ("ltx_role_footnote", "footnote-item", "footnote-text"), ("doc-footnote",)),
            (self._notes, "", ("footnotes",), ("doc-endnotes",)),
            (self._equations, "", ("ltx_equation", "ltx_equationgroup"), ()),
            (self._authors, "", ("ltx_authors",), ()),
            (self._authors, "p", ("author",), ()),
            (self._heading, "", ("abstract-title",), ()),
            (self._code, "", ("ltx_listing", "ltx_verbatim", "highlight"), ()),
        )

    def walked(self, root: Node) -> list[Element]:
        """The elements below a node, in the order of the page."""
        self._find_holders(root)
        self._flow.through(root, self._visit)
        return self._flow.finished()

    def _find_holders(self, node: Node) -> bool:
        """Remember the elements that hold something which is no mere text."""
        inside = [self._find_holders(child) for child in node.nodes]
        if any(inside):
            self._holders.add(id(node))
        return any(inside) or is_block(node) or self._handler(node) is not None

    def _visit(self, node: Node) -> None:
        if is_hidden(node) or node.tag in SILENT:
            return
        handler = self._handler(node)
        if handler is not None:
            handler(node)
        elif is_block(node):
            self._inside(node)
        elif id(node) in self._holders:
            self._flow.through(node, self._visit)
        else:
            self._flow.run(node)

    def _inside(self, node: Node) -> None:
        self._flow.flush()
        self._flow.through(node, self._visit)
        self._flow.flush()

    def _handler(self, node: Node) -> Callable[[Node], None] | None:
        """What reads an element that is more than a run of text or a box of others."""
        found = self._by_tag.get(node.tag) or self._by_class(node)
        if found is not None:
            return found
        if is_float(node):
            return self._float
        if is_table(node) and not is_layout(node):
            return self._table
        formula = node.tag == "math" and node.get("display") == "block"
        return self._equations if formula else self._furniture if is_furniture(node) else None

    def _by_class(self, node: Node) -> Callable[[Node], None] | None:
        if not node.classes and "role" not in node.attributes:
            return None
        for handler, tag, classes, roles in self._classes:
            if tag in ("", node.tag) and (not node.classes.isdisjoint(classes) or node.get("role") in roles):
                return handler
        return self._equations if node.classes >= {"math", "display"} else None

    def _heading(self, node: Node) -> None:
        text = inline_text(child for child in node.children if isinstance(child, str) or not is_hidden(child))
        if "ltx_title_document" in node.classes:
            self._flow.passage(node, text, "title")
        else:
            level = int(node.tag[1]) if node.tag[0] == "h" and node.tag[1:].isdigit() else 1
            self._flow.passage(node, text, "heading", level=level)

    def _authors(self, node: Node) -> None:
        people = [inline_text(_without(one, "ltx_note")) for one in node.all() if "ltx_personname" in one.classes]
        self._flow.passage(node, "\n".join(filter(None, people)) or inline_text(node.children), "authors")

    def _code(self, node: Node) -> None:
        self._flow.passage(node, listing_text(node), "code")

    def _list(self, node: Node) -> None:
        self._flow.flush()
        items = node.many("li")
        marks = dict(zip(map(id, items), item_marks(node, items), strict=True))
        for item in node.nodes:
            if id(item) not in marks or self._by_class(item):
                self._visit(item)
            elif not is_hidden(item):
                self._flow.mark = marks[id(item)]
                self._inside(item)
                self._flow.mark = ""

    def _term(self, node: Node) -> None:
        self._flow.flush()
        if self._flow.mark:
            self._flow.passage(node, self._flow.mark.rstrip(": "), "list")
        self._flow.mark = f"• {inline_text(node.children)}: "

    def _picture(self, node: Node) -> None:
        self._flow.add(figure_of(node, source=self._source))

    def _float(self, node: Node) -> None:
        self._flow.flush()
        if found := float_elements(node, source=self._source):
            self._flow.add(*found)
        else:
            self._inside(node)

    def _table(self, node: Node) -> None:
        self._flow.flush()
        caption = node.one("caption")
        if caption is not None and caption.text().strip():
            self._flow.add(*float_elements(node, source=self._source))
        elif table := table_of(node, lines=self._lines):
            self._flow.add(table)

    def _equations(self, node: Node) -> None:
        self._flow.flush()
        self._flow.add(*equations_of(node, lines=self._lines))

    def _footnote(self, node: Node) -> None:
        """The note comes after the paragraph that it stands in; its mark stays in the paragraph."""
        mark = next((part for part in node.all("sup") if "ltx_note_mark" in part.classes), None)
        text = inline_text(_without(node, *_NOTE_MARKS))
        if mark is not None:
            text = f"{inline_text([mark])} {text}"
            self._flow.run(mark)
        self._flow.add(Passage(id="", place=self._lines.of(node), order=0, text=text, role="footnote"))

    def _notes(self, node: Node) -> None:
        """A list of notes at the end of the page."""
        self._flow.flush()
        for notes in node.where(lambda part: part.tag in ("ol", "ul")):
            items = notes.many("li")
            for item, mark in zip(items, item_marks(notes, items), strict=True):
                text = inline_text(_without(item, *_NOTE_MARKS)).rstrip(" ↩︎")
                self._flow.passage(item, mark + text if text else "", "footnote")

    def _reference(self, node: Node) -> None:
        self._flow.flush()
        tag = next((part for part in node.all() if "ltx_tag_bibitem" in part.classes), None)
        text = inline_text(_without(node, "ltx_tag_bibitem", "ltx_bib_cited"))
        printed = inline_text(tag.children).strip("[]() .") if tag is not None else ""
        label = f"[{printed}]" if printed.isdigit() else entry_label(text)
        if text:
            said = f"{label} {text}" if printed.isdigit() else text
            place = self._lines.of(node)
            self._flow.add(Reference(id="", place=place, order=0, text=said, label=label, year=entry_year(text)))

    def _furniture(self, node: Node) -> None:
        self._flow.passage(node, inline_text(node.children), "furniture")


def _without(node: Node, *names: str) -> list[Node | str]:
    """The children of a node, without what has one of these classes or roles, however deep it stands."""
    kept: list[Node | str] = []
    for child in node.children:
        if isinstance(child, str):
            kept.append(child)
        elif child.classes.isdisjoint(names) and child.get("role") not in names:
            kept.append(replace(child, children=tuple(_without(child, *names))))
    return kept
