"""Word's styles and list numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingest.markup.docx.numerals import numeral
from ingest.markup.nodes import Node

__all__ = ["Numbering", "Style", "Styles"]

_LONGEST_CHAIN = 20
_DEEPEST = 9


@dataclass(frozen=True, kw_only=True, slots=True)
class Style:
    """A paragraph style: its name in lower case, the level of its headings (0: none), its list and level there."""

    name: str = ""
    level: int = 0
    list_id: str = ""
    list_level: int = 0


class Styles:
    """The styles by their ids, what they inherit included."""

    def __init__(self, root: Node | None) -> None:
        self._nodes = {node.get("styleId"): node for node in root.many("style")} if root is not None else {}

    def of(self, style_id: str) -> Style:
        """The style with this id; an empty one if there is none."""
        node = self._nodes.get(style_id)
        if node is None:
            return Style(name=style_id.lower())
        chain = self._chain(style_id)
        name = _value(node, "name").lower()
        outline = next((value for part in chain if (value := _value(part, "ppr", "outlinelvl"))), "")
        numbered = next((part for part in chain if part.one("ppr", "numpr") is not None), None)
        names = [_value(part, "name").lower() for part in chain]
        heading = next((found for found in names if found.startswith("heading ")), "")
        level = integer(heading.removeprefix("heading ")) or (integer(outline) + 1 if outline else 0)
        return Style(
            name=name if name in _KNOWN else next((found for found in names if found in _KNOWN), name),
            level=level if level <= _DEEPEST else 0,
            list_id=_value(numbered, "ppr", "numpr", "numid") if numbered is not None else "",
            list_level=integer(_value(numbered, "ppr", "numpr", "ilvl")) if numbered is not None else 0,
        )

    def _chain(self, style_id: str) -> list[Node]:
        chain: list[Node] = []
        while style_id in self._nodes and len(chain) < _LONGEST_CHAIN:
            chain.append(self._nodes[style_id])
            style_id = _value(chain[-1], "basedon")
        return chain


_KNOWN = frozenset(("title", "caption", "author", "abstract", "source code", "image caption", "table caption"))


@dataclass(kw_only=True, slots=True)
class _List:
    """The counters of one list."""

    counts: list[int] = field(default_factory=lambda: [0] * (_DEEPEST + 1))


class Numbering:
    """Counts list items (and numbered headings) as Word does."""

    def __init__(self, root: Node | None) -> None:
        abstract = {node.get("abstractNumId"): node for node in root.many("abstractnum")} if root is not None else {}
        numbers = root.many("num") if root is not None else []
        self._levels: dict[str, Mapping[int, Node]] = {}
        self._shared: dict[str, str] = {}
        self._counters: dict[str, _List] = {}
        for number in numbers:
            shared = _value(number, "abstractnumid")
            node = abstract.get(shared)
            self._shared[number.get("numId")] = shared
            if node is not None:
                self._levels[number.get("numId")] = {integer(level.get("ilvl")): level for level in node.many("lvl")}

    def mark(self, list_id: str, level: int) -> str:
        """The mark of the next item with its space: `• `, `2. `, `1.2 `; "" for what is in no list."""
        if list_id in ("", "0"):
            return ""
        levels = self._levels.get(list_id, {})
        level = min(level, _DEEPEST)
        node = levels.get(level)
        kind = _value(node, "numfmt") if node is not None else "bullet"
        if kind == "none":
            return ""
        counts = self._counters.setdefault(self._shared.get(list_id, list_id), _List()).counts
        counts[level] = counts[level] + 1 if counts[level] else max(1, _start(node))
        counts[level + 1 :] = [0] * (_DEEPEST - level)
        if kind == "bullet" or node is None:
            return "• "
        text = _value(node, "lvltext")
        for place in range(level + 1):
            form = _value(levels[place], "numfmt") if place in levels else "decimal"
            text = text.replace(f"%{place + 1}", numeral(max(counts[place], 1), form))
        return f"{text.strip()} " if text.strip() else ""


def integer(text: str) -> int:
    """A number of Word's attributes, 0 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _start(node: Node | None) -> int:
    return integer(_value(node, "start")) if node is not None and node.one("start") is not None else 1


def _value(node: Node, *path: str) -> str:
    found = node.one(*path)
    return found.get("val") if found is not None else ""
