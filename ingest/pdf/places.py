"""From boxes on pages as they are read to places in a paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from ingest.pdf.page.layout import PageLayout
from ingest.pdf.page.lines import bounds
from ingest.pdf.page.turning import as_seen
from ingest.pdf.text.paragraphs import FlowLine
from paperscope.types import Box, Place

__all__ = ["Places"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """Makes places on the pages of a paper."""

    paper: str
    layouts: Sequence[PageLayout]

    def at(self, page: int, box: Box) -> Place:
        """The place of a box on a page (its index from 0)."""
        content = self.layouts[page].content
        return Place(paper=self.paper, page=content.number, box=as_seen(box, content).rounded())

    def along(self, lines: Sequence[FlowLine]) -> tuple[Place, ...]:
        """One place for each column through which the lines run."""
        return tuple(
            self.at(page, bounds(line.line.box for line in part))
            for (page, _), part in groupby(lines, key=lambda line: (line.page, line.column))
        )
