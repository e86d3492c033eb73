"""Docling's tree of nodes: in which order they are read, and which belong to a table, picture or listing."""

from collections.abc import Iterable, Iterator, Sequence

from ingest.docling.nodes import DoclingFile, Node, Ref

__all__ = ["Tree", "is_float"]

_FLOATS = ("table", "document_index", "picture", "chart", "code")


def is_float(node: Node) -> bool:
    """Whether a node may have a caption, and what stands below it is a part of it."""
    return node.label in _FLOATS


class Tree:
    """The nodes of a document. A reference that leads nowhere is passed over, a node is met once."""

    def __init__(self, document: DoclingFile) -> None:
        leaves = (
            *document.texts,
            *document.tables,
            *document.pictures,
            *document.key_value_items,
            *document.form_items,
            *document.field_regions,
            *document.field_items,
        )
        self._leaves = {node.self_ref for node in leaves}
        self._nodes = {node.self_ref: node for node in (*document.groups, *leaves)}
        self._captions = {ref.target for node in leaves for ref in node.captions}
        self.nodes: Sequence[Node] = tuple(self._read([document.body, *filter(None, [document.furniture])]))

    def named(self, refs: Iterable[Ref]) -> list[Node]:
        """The nodes that references name."""
        return [self._nodes[ref.target] for ref in refs if ref.target in self._nodes]

    def inside(self, node: Node) -> list[Node]:
        """What stands in a float but its captions and footnotes, in reading order."""
        apart = {ref.target for ref in (*node.captions, *node.footnotes)}
        return [part for part in self._below(node.children) if part.self_ref not in apart]

    def _read(self, roots: Sequence[Node]) -> Iterator[Node]:
        """Leaves in reading order: floats as a whole, followed by their footnotes; captions are left to them."""
        seen = set(self._captions)
        pending = [*reversed(roots)]
        while pending:
            node = pending.pop()
            if node.self_ref in seen:
                continue
            seen.add(node.self_ref)
            if node.self_ref in self._leaves:
                yield node
            pending.extend(reversed(self.named(node.footnotes if is_float(node) else node.children)))

    def _below(self, refs: Sequence[Ref]) -> Iterator[Node]:
        seen: set[str] = set()
        pending = [*reversed(self.named(refs))]
        while pending:
            node = pending.pop()
            if node.self_ref not in seen:
                seen.add(node.self_ref)
                yield node
                pending.extend(reversed(self.named(node.children)))
