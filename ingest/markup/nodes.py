"""A tree of markup as every reader of it sees it: local names, text in its place, and lines of the source."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Node"]


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

    def all(self, *tags: str) -> Iterator["Node"]:
        """The elements below this one in document order, with these tags or, without any, all."""
        stack = self.nodes[::-1]
        while stack:
            node = stack.pop()
            if not tags or node.tag in tags:
                yield node
            stack.extend(node.nodes[::-1])

    def where(self, holds: Callable[["Node"], bool]) -> Iterator["Node"]:
        """The outermost elements below this one for which `holds`, in document order."""
        stack = self.nodes[::-1]
        while stack:
            node = stack.pop()
            if holds(node):
                yield node
            else:
                stack.extend(node.nodes[::-1])

    def one(self, *path: str) -> "Node | None":
        """The first element that is reached by going down through children with these tags."""
        if not path:
            return self
        found = (node.one(*path[1:]) for node in self.nodes if node.tag == path[0])
        return next((node for node in found if node is not None), None)

    def many(self, *tags: str) -> list["Node"]:
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

    def plain(self) -> str:
        """`text()` with single spaces."""
        return " ".join(self.text().split())
