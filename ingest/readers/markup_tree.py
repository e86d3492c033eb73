"""Parses markup to a tree, with lxml's entities, DTDs and network access disabled."""

import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from lxml import etree

from paperscope_core.errors import PaperFileError
from paperscope_core.types import PageProblem

__all__ = ["Node", "element", "parse_html", "parse_xml"]

_INTEGER = re.compile(r"\s*(\d{1,8})", re.ASCII)
# Markup nested deeper is read as text only; libxml2 itself stops at 256 levels.
_MAX_DEPTH = 90
# A tree takes a hundred times the memory of its text.
_MAX_NODES = 1_500_000
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")


@dataclass(frozen=True, kw_only=True, eq=False)
class Node:
    """An element of a markup tree; its methods are called as in `xml.etree.ElementTree`.

    Tags and attributes have no namespaces; tags are in lower case.

    Attributes:
        children: Elements, and the text between them.
        first: The first line in the source, counted from 1.
        last: The last line.
    """

    tag: str
    attributes: Mapping[str, str]
    children: tuple["Node | str", ...]
    first: int
    last: int

    def get(self, name: str) -> str:
        """Return an attribute, "" if it is missing."""
        return self.attributes.get(name, "")

    def integer(self, name: str, *, default: int = 0) -> int:
        """Return the number that an attribute begins with, `default` if there is none."""
        match = _INTEGER.match(self.get(name))
        return int(match[1]) if match else default

    @cached_property
    def classes(self) -> frozenset[str]:
        """The names in the attribute `class`."""
        return frozenset(self.get("class").split())

    @property
    def nodes(self) -> list["Node"]:
        """The children that are elements."""
        return [child for child in self.children if isinstance(child, Node)]

    def iter(self, *tags: str) -> Iterator["Node"]:
        """Yield all elements below this one in document order; with `tags`, those with these tags."""
        stack = self.nodes[::-1]
        while stack:
            node = stack.pop()
            if not tags or node.tag in tags:
                yield node
            stack.extend(node.nodes[::-1])

    def outermost(self, predicate: Callable[["Node"], bool]) -> Iterator["Node"]:
        """Yield the elements below this one that match and are in no other match, in document order."""
        stack = self.nodes[::-1]
        while stack:
            node = stack.pop()
            if predicate(node):
                yield node
            else:
                stack.extend(node.nodes[::-1])

    def first_of(self, *tags: str) -> "Node | None":
        """Return the first element below this one that has one of these tags."""
        return next(self.iter(*tags), None)

    def select(self, *path: str) -> list["Node"]:
        """Return the elements on this path of child tags."""
        nodes = [self]
        for tag in path:
            nodes = [child for node in nodes for child in node.nodes if child.tag == tag]
        return nodes

    def find(self, *path: str) -> "Node | None":
        """Return the first element on this path of child tags."""
        return next(iter(self.select(*path)), None)

    def findall(self, *tags: str) -> list["Node"]:
        """Return the children with these tags."""
        return [node for node in self.nodes if node.tag in tags]

    def text(self) -> str:
        """Return all text below this element, unchanged."""
        parts: list[str] = []
        stack: list[Node | str] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                parts.append(item)
            else:
                stack.extend(item.children[::-1])
        return "".join(parts)

    def plain_text(self) -> str:
        """`text()` with single spaces."""
        return " ".join(self.text().split())


def element(tag: str, *children: Node | str, lines: tuple[int, int], **attributes: str) -> Node:
    """Return an element made from another format; the attribute `class` is written `class_`."""
    named = {name.rstrip("_"): value for name, value in attributes.items() if value}
    return Node(tag=tag, attributes=named, children=children, first=lines[0], last=lines[1])


def parse_html(text: str, *, name: str) -> tuple[Node, tuple[PageProblem, ...]]:
    """Return the tree of an HTML page, and what can't be read. Raise `PaperFileError` if there is no markup."""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=False, remove_comments=True, remove_pis=True)
    root = _parse(text, parser, name=name, kind="HTML")
    if root is None:
        raise _unreadable(name, "HTML", "there is no markup in it")
    return _converted(root, parser.error_log, name=name)


def parse_xml(text: str, *, name: str) -> tuple[Node, tuple[PageProblem, ...]]:
    """Return the tree of an XML document; one that isn't well-formed is read as far as possible, with a problem.

    Raise `PaperFileError` if nothing can be read.
    """
    parser = etree.XMLParser(
        encoding="utf-8",
        recover=True,
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    root = _parse(text, parser, name=name, kind="XML")
    errors = [entry for entry in parser.error_log if entry.level >= etree.ErrorLevels.ERROR]
    reason = f"{errors[0].message}, line {errors[0].line}, column {errors[0].column}" if errors else "it is empty"
    if root is None or (errors and not len(root)):
        raise _unreadable(name, "XML", reason)
    tree, problems = _converted(root, parser.error_log, name=name)
    if not errors:
        return tree, problems
    broken = PageProblem(page=1, reason=f"not well-formed XML ({reason}); it was read as far as it makes sense")
    return tree, (broken, *problems)


def _parse(text: str, parser: etree.HTMLParser | etree.XMLParser, *, name: str, kind: str) -> etree._Element | None:
    """Parse UTF-8, ignoring the declared character set and keeping line numbers."""
    if max(text.count("<"), text.count("=")) > 2 * _MAX_NODES:
        raise _too_many_nodes(name)
    text = _DECLARATION.sub(lambda match: "\n" * match[0].count("\n"), text.lstrip("\ufeff"), count=1)
    try:
        return etree.fromstring(text.encode("utf-8", errors="replace"), parser)
    except etree.XMLSyntaxError as error:
        raise _unreadable(name, kind, str(error)) from error


def _too_many_nodes(name: str) -> PaperFileError:
    return PaperFileError(f"{name!r} holds over {_MAX_NODES} elements. Split it into several files.")


def _unreadable(name: str, kind: str, reason: str) -> PaperFileError:
    return PaperFileError(f"{name!r} holds no {kind} that can be read ({reason}). Fetch the file again.")


def _converted(root: etree._Element, log: etree._ListErrorLog, *, name: str) -> tuple[Node, tuple[PageProblem, ...]]:
    lost = [entry.message for entry in chain(log) if "depth" in entry.message.lower()]
    problems = tuple(PageProblem(page=1, reason=f"deeper markup is lost: {message}") for message in lost[:1])
    return _Converter(name).node(root, depth=0), problems


class _Converter:
    """Converts lxml's elements to nodes, and counts lines beyond 65,535, the limit of libxml2's counter."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._line = 1
        self._count = 0

    def node(self, element: etree._Element, *, depth: int) -> Node:
        self._count += 1
        if self._count > _MAX_NODES:
            raise _too_many_nodes(self._name)
        line: object = element.sourceline
        self._line = first = max(self._line, line if isinstance(line, int) else 1)
        children: list[Node | str] = []
        self._add(children, element.text)
        for child in element:
            if child.tag is etree.Entity:
                self._add(children, html.unescape(child.text or ""))
            elif isinstance(child.tag, str):
                if depth < _MAX_DEPTH:
                    children.append(self.node(child, depth=depth + 1))
                else:
                    self._add(children, "".join(map(str, child.itertext())))
            self._add(children, child.tail)
        return Node(
            tag=_local(str(element.tag)).lower(),
            attributes={_local(str(key)): str(value) for key, value in element.attrib.items()},
            children=tuple(children),
            first=first,
            last=self._line,
        )

    def _add(self, children: list[Node | str], text: str | None) -> None:
        if text:
            children.append(text)
            self._line += text.count("\n")


def _local(name: str) -> str:
    return name.rpartition("}")[2].rpartition(":")[2]
