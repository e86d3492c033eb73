"""From bytes to a tree of markup: character sets, and lxml without entities, DTDs or network."""

import codecs
import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from lxml import etree

from paperscope_core.errors import PaperFileError
from paperscope_core.types import PageProblem

__all__ = ["Node", "decode", "parse_html", "parse_xml"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Node:
    """An element. `children` are nodes and the text between them; `first` and `last` are lines from 1.

    Names of tags and attributes are without their namespaces; tags are in lower case.
    """

    tag: str
    attributes: Mapping[str, str]
    children: tuple["Node | str", ...]
    first: int
    last: int

    def get(self, name: str) -> str:
        """An attribute, "" where it is missing."""
        return self.attributes.get(name, "")

    @cached_property
    def classes(self) -> frozenset[str]:
        """The names in the attribute `class`."""
        return frozenset(self.get("class").split())

    @property
    def nodes(self) -> list["Node"]:
        """The children that are elements."""
        return [child for child in self.children if isinstance(child, Node)]

    def iter(self, *tags: str) -> Iterator["Node"]:
        """The elements below this one in document order, with these tags or, without any, all."""
        stack = self.nodes[::-1]
        while stack:
            node = stack.pop()
            if not tags or node.tag in tags:
                yield node
            stack.extend(node.nodes[::-1])

    def outermost(self, holds: Callable[["Node"], bool]) -> Iterator["Node"]:
        """The outermost elements below this one for which `holds`, in document order."""
        stack = self.nodes[::-1]
        while stack:
            node = stack.pop()
            if holds(node):
                yield node
            else:
                stack.extend(node.nodes[::-1])

    def find(self, *path: str) -> "Node | None":
        """The first element that is reached by going down through children with these tags."""
        if not path:
            return self
        found = (node.find(*path[1:]) for node in self.nodes if node.tag == path[0])
        return next((node for node in found if node is not None), None)

    def findall(self, *tags: str) -> list["Node"]:
        """The children with these tags."""
        return [node for node in self.nodes if node.tag in tags]

    def text(self) -> str:
        """All text below this element as it stands in the source."""
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


# Markup that is nested deeper is read as mere text; libxml2 itself stops at 256 levels.
_DEEPEST = 90
_MOST_NODES = 1_500_000
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")


def parse_html(text: str, *, name: str) -> tuple[Node, tuple[PageProblem, ...]]:
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


def parse_xml(text: str, *, name: str) -> tuple[Node, tuple[PageProblem, ...]]:
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


_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(
    rb"""<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)|<meta[^>]*?charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE
)
_HEAD = 4096
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd\ufffe\uffff]")
_MOST_CONTROLS = 0.005
_TEXT = re.compile(r"(?:utf|iso8859|cp\d|ascii|latin|gb|hz|big5|euc|shift_jis|koi8|mac|tis)[\w-]*", re.IGNORECASE)
# What a file may declare and browsers read as the larger set.
_LARGER = {"ascii": "cp1252", "iso8859-1": "cp1252"}


def decode(data: bytes, *, name: str, declared: bool = False) -> tuple[str, tuple[PageProblem, ...]]:
    """The text with newlines as `\\n`, and what was guessed. `declared`: heed a charset that HTML or XML declares.

    Raises `PaperFileError` for data that is no text.
    """
    text, problems = _decoded(data, declared=declared)
    if _is_garbage(text):
        raise PaperFileError(
            f"{name!r} is no text: it holds binary data. Paperscope reads PDF, Markdown, HTML, DOCX, plain text, "
            "JATS and TEI."
        )
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub(lambda match: "\ufffd" if match[0] == "\ufffd" else " ", text), problems


def _is_garbage(text: str) -> bool:
    return len(_CONTROLS.findall(text)) > _MOST_CONTROLS * len(text) + 1


def _decoded(data: bytes, *, declared: bool) -> tuple[str, tuple[PageProblem, ...]]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace"), ()
    if sixteen := _sixteen(data[:_HEAD]):
        return data.decode(sixteen, errors="replace"), ()
    told = _declared(data) if declared else ""
    for encoding in dict.fromkeys(filter(None, (told, "utf-8"))):
        try:
            return data.decode(encoding), _other(told, encoding)
        except UnicodeDecodeError:
            continue
    reason = "the file is neither UTF-8 nor says what it is; it was read as Windows-1252, so letters may be wrong"
    return data.decode("cp1252", errors="replace"), (PageProblem(page=1, reason=reason),)


def _sixteen(head: bytes) -> str:
    """UTF-16 without a mark: every second byte of Latin text is zero."""
    pairs = len(head) // 2
    if pairs < 4:
        return ""
    even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if odd > 0.6 * pairs and even < 0.1 * pairs:
        return "utf-16-le"
    return "utf-16-be" if even > 0.6 * pairs and odd < 0.1 * pairs else ""


def _declared(data: bytes) -> str:
    """The declared character set if it is a known one of text, else ""."""
    match = _DECLARED.search(data[:_HEAD])
    if not match:
        return ""
    try:
        name = codecs.lookup((match[1] or match[2]).decode("ascii")).name
    except (LookupError, UnicodeError, ValueError):
        return ""
    return _LARGER.get(name, name) if _TEXT.fullmatch(name) else ""


def _other(told: str, used: str) -> tuple[PageProblem, ...]:
    if not told or told == used:
        return ()
    return (PageProblem(page=1, reason=f"the file declares the character set {told!r} but is {used}"),)
