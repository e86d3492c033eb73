"""Which caption belongs to which float: docling's own word where it gives one, else boxes."""

from collections.abc import Mapping
from dataclasses import dataclass

from ingest.docling.nodes import Node
from ingest.docling.places import Places
from ingest.docling.tree import Tree, is_float
from ingest.mineru.anchors import anchored, find_labels, floats_of
from ingest.mineru.blocks import Block, BlockKind, TextLine
from ingest.pdf.captions import caption_start
from paperscope.types import Place

__all__ = ["Caption", "captions_of"]

_KINDS: Mapping[str, BlockKind] = {"picture": "figure", "chart": "figure", "table": "table", "code": "code"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Caption:
    """A caption: "Table 5" and what follows; `kind` is that of the label, "" where it has none."""

    kind: str
    label: str
    text: str
    place: Place


def captions_of(tree: Tree, places: Places) -> Mapping[str, tuple[Caption, frozenset[str]]]:
    """By the reference of a float its caption, and the references of the nodes that the caption consists of."""
    found: dict[str, tuple[Caption, frozenset[str]]] = {}
    for node in filter(is_float, tree.nodes):
        parts = tree.named(node.captions)
        if any(part.text for part in parts):
            found[node.self_ref] = (_caption(parts, places), frozenset(part.self_ref for part in parts))
    found.update(_lost(tree, places, found))
    return found


def _lost(
    tree: Tree, places: Places, found: Mapping[str, tuple[Caption, frozenset[str]]]
) -> Mapping[str, tuple[Caption, frozenset[str]]]:
    """The captions that docling gave to nothing, with the floats beside them that have none."""
    nodes: dict[Block, Node] = {}
    for node in tree.nodes:
        kind = "note" if node.label == "caption" else _KINDS.get(node.label)
        if kind is not None and node.self_ref not in found and node.prov:
            place = places.of(node)[0]
            line = TextLine(text=node.text, box=place.box)
            nodes[Block(kind=kind, page=place.page, box=place.box, lines=(line,))] = node
    labels = find_labels(list(nodes))
    pairs, _ = anchored(labels, floats_of(list(nodes), labels))
    return {
        nodes[part.blocks[0]].self_ref: (
            _caption([nodes[label.block]], places),
            frozenset({nodes[label.block].self_ref}),
        )
        for label, part in pairs.items()
    }


def _caption(parts: list[Node], places: Places) -> Caption:
    text = " ".join(part.text for part in parts).strip()
    kind, label, rest = caption_start(text, marked=False) or ("", "", text)
    return Caption(kind=kind, label=label, text=rest, place=places.of(parts[0])[0])
