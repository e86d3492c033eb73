"""Places of what markup holds: lines of the source."""

from dataclasses import dataclass

from ingest.markup.nodes import Node
from paperscope.types import Box, Place

__all__ = ["Lines"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Lines:
    """Makes the places of one paper's lines."""

    paper: str

    def at(self, first: int, last: int) -> Place:
        """Lines first to last, from 1."""
        return Place(paper=self.paper, page=1, box=Box(0.0, float(first), 0.0, float(max(first, last))))

    def of(self, *nodes: Node) -> Place:
        """The lines from the first of these nodes to the last."""
        return self.at(min(node.first for node in nodes), max(node.last for node in nodes))
