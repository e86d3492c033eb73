"""Walks through the body and the back of a JATS article."""

from collections.abc import Callable

from ingest.markup.flow import Flow
from ingest.markup.inline import inline_text
from ingest.markup.jats.citations import reference_of
from ingest.markup.jats.floats import equation_of, figure_of, tables_of
from ingest.markup.lists import item_marks
from ingest.markup.nodes import Node
from ingest.markup.reading import Source
from paperscope.types import Element, Passage

__all__ = ["BodyWalker"]

_BLOCKS = frozenset(
    "p disp-quote boxed-text fig-group table-wrap-group disp-formula-group statement app ack bio glossary app-group "
    "notes fn-group verse-group speech supplementary-material sec-meta ref-list body back floats-group list-item def "
    "caption media question answer explanation".split()
)
_UNREAD = frozenset("sec-meta permissions object-id alt-text long-desc attrib related-article processing-meta".split())
_TITLED = frozenset("sec app ack ref-list notes bio glossary boxed-text statement fn-group app-group".split())
_DEFAULTS = {"ref-list": "References", "ack": "Acknowledgements"}


class BodyWalker:
    """One walk; use it once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines = source.lines
        self._flow = Flow(source.lines)
        self._level = 0

    def walked(self, part: Node) -> list[Element]:
        """The elements of `body`, `back` or `floats-group` in their order."""
        self._flow.through(part, self._visit)
        return self._flow.finished()

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
            self._flow.run(node)

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
        self._flow.flush()
        self._flow.through(node, self._visit)
        self._flow.flush()

    def _section(self, node: Node) -> None:
        """The heading (a section's label is its number), then what stands under it."""
        self._flow.flush()
        parts = [part for part in (node.one("label"), node.one("title")) if part is not None]
        words = " ".join(filter(None, (inline_text(part.children) for part in parts))) or _DEFAULTS.get(node.tag, "")
        self._level += 1
        if words:
            self._flow.passage(parts[0] if parts else node, words, "heading", level=self._level)
        for child in node.nodes:
            if child.tag not in ("label", "title"):
                self._visit(child)
        self._flow.flush()
        self._level -= 1

    def _float(self, elements: list[Element]) -> None:
        self._flow.add(*elements)

    def _equation(self, node: Node) -> None:
        self._flow.flush()
        self._flow.add(*equation_of(node, lines=self._lines))

    def _list(self, node: Node) -> None:
        self._flow.flush()
        items = node.many("list-item")
        marks = item_marks(Node(tag=_list_tag(node), attributes=_list_type(node), children=(), first=0, last=0), items)
        for item, mark in zip(items, marks, strict=True):
            label = item.one("label")
            self._flow.mark = f"{inline_text(label.children)} " if label is not None else mark
            for child in item.nodes:
                if child.tag != "label":
                    self._visit(child)
            self._flow.flush()
            self._flow.mark = ""

    def _definition(self, node: Node) -> None:
        term = node.one("term")
        words = [inline_text(part.children) for part in node.many("def")]
        name = inline_text(term.children) if term is not None else ""
        self._flow.passage(node, f"• {name}: {' '.join(words)}", "list")

    def _note(self, node: Node) -> None:
        label = node.one("label")
        text = inline_text(child for child in node.children if child is not label)
        mark = inline_text(label.children) if label is not None else ""
        if text:
            said = f"{mark} {text}".strip()
            self._flow.add(Passage(id="", place=self._lines.of(node), order=0, text=said, role="footnote"))

    def _reference(self, node: Node) -> None:
        self._flow.flush()
        if reference := reference_of(node, lines=self._lines):
            self._flow.add(reference)

    def _code(self, node: Node) -> None:
        self._flow.passage(node, node.text().expandtabs(4).strip("\n").rstrip(), "code")


def _list_tag(node: Node) -> str:
    return "ul" if node.get("list-type") in ("", "bullet", "simple") else "ol"


def _list_type(node: Node) -> dict[str, str]:
    kinds = {"alpha-lower": "a", "alpha-upper": "A", "roman-lower": "i", "roman-upper": "I"}
    return {"type": kinds.get(node.get("list-type"), "1")}
