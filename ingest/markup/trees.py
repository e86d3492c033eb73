"""From text to a tree of nodes, by lxml: no DTD is loaded, no entity expanded, no file or address opened."""

import html
import re
from itertools import chain

from lxml import etree

from ingest.markup.nodes import Node
from paperscope.errors import PaperFileError
from paperscope.types import PageProblem

__all__ = ["html_tree", "xml_tree"]

# Markup that is nested deeper is read as mere text; libxml2 itself stops at 256 levels.
_DEEPEST = 90
_MOST_NODES = 1_500_000
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")


def html_tree(text: str, *, name: str) -> tuple[Node, tuple[PageProblem, ...]]:
    """The tree of an HTML page, and what of it could not be read. Raises `PaperFileError` where there is nothing."""
    _check_tags(text, name=name)
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(_without_declaration(text), parser)
    except etree.XMLSyntaxError as error:
        raise _unreadable(name, "HTML", str(error)) from error
    if root is None:
        raise _unreadable(name, "HTML", "there is no markup in it")
    return _converted(root, parser.error_log, name=name)


def xml_tree(text: str, *, name: str) -> tuple[Node, tuple[PageProblem, ...]]:
    """The tree of an XML document; one that isn't well-formed is read as far as it goes, and a problem says so.

    Raises `PaperFileError` where nothing of it can be read.
    """
    _check_tags(text, name=name)
    data = _without_declaration(text)
    parser = _xml_parser(recover=False)
    try:
        return _converted(etree.fromstring(data, parser), parser.error_log, name=name)
    except etree.XMLSyntaxError as error:
        reason = str(error)
    parser = _xml_parser(recover=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise _unreadable(name, "XML", str(error)) from error
    if root is None or not len(root):
        raise _unreadable(name, "XML", reason)
    tree, problems = _converted(root, parser.error_log, name=name)
    broken = PageProblem(page=1, reason=f"not well-formed XML ({reason}); it was read as far as it makes sense")
    return tree, (broken, *problems)


def _check_tags(text: str, *, name: str) -> None:
    """Refuse before the tree is built, which takes a hundred times the memory of its text, what has too many parts."""
    if max(text.count("<"), text.count("=")) > 2 * _MOST_NODES:
        raise _too_many(name)


def _too_many(name: str) -> PaperFileError:
    return PaperFileError(f"{name!r} holds over {_MOST_NODES} elements. Split it into several files.")


def _xml_parser(*, recover: bool) -> etree.XMLParser:
    return etree.XMLParser(
        encoding="utf-8",
        recover=recover,
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


def _without_declaration(text: str) -> bytes:
    """UTF-8, whatever the declaration says, with every line in its place."""
    text = _DECLARATION.sub(lambda match: "\n" * match[0].count("\n"), text.lstrip("\ufeff"), count=1)
    return text.encode("utf-8", errors="replace")


def _unreadable(name: str, kind: str, reason: str) -> PaperFileError:
    return PaperFileError(f"{name!r} holds no {kind} that can be read ({reason}). Fetch the file again.")


def _converted(root: etree._Element, log: etree._ListErrorLog, *, name: str) -> tuple[Node, tuple[PageProblem, ...]]:
    deep = [entry.message for entry in chain(log) if "depth" in entry.message.lower()]
    problems = tuple(PageProblem(page=1, reason=f"what stands below is lost: {message}") for message in deep[:1])
    return _Converter(name).node(root, depth=0), problems


class _Converter:
    """Turns lxml's elements into nodes; counts lines itself where libxml2's counter ends (at 65,535)."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._line = 1
        self._count = 0

    def node(self, element: etree._Element, *, depth: int) -> Node:
        self._count += 1
        if self._count > _MOST_NODES:
            raise _too_many(self._name)
        line: object = element.sourceline
        self._line = first = max(self._line, line if isinstance(line, int) else 1)
        children: list[Node | str] = []
        self._add(children, element.text)
        for child in element:
            if child.tag is etree.Entity:
                self._add(children, html.unescape(child.text or ""))
            elif isinstance(child.tag, str):
                if depth < _DEEPEST:
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
