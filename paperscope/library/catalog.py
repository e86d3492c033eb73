"""`Catalog`: what can be looked up about the papers of a library."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from graph_store import NativeGraphIndex, Store
from graph_store.finding import find_entry
from ingest import page_painter
from paperscope.errors import UnknownPaperError
from paperscope.library.marking import boxes_on
from paperscope.library.neighbourhood import Neighbourhood, find_entity, most_connected, neighbourhood
from paperscope.library.originals import Originals
from paperscope.settings import Settings
from paperscope.types import Box, Element, Paper, PaperEntry, PaperImages, Place, Shortfall

__all__ = ["Catalog"]


class Catalog:
    """Looks papers up, and what was drawn from them; no model is asked. Safe to use from many threads."""

    def __init__(self, *, store: Store, index: NativeGraphIndex, settings: Settings) -> None:
        self._store = store
        self._painter = page_painter(settings.parser, settings.limits)
        self._index = index
        self._originals = Originals(store.folder / "originals")

    def papers(self) -> Sequence[Paper]:
        """All papers, in the order they were added."""
        return self._store.papers()

    def entries(self) -> Sequence[PaperEntry]:
        """All papers without their elements, in the order they were added; quick in a large library, too."""
        return self._store.entries()

    def paper(self, name: str) -> Paper:
        """A paper by id, the start of its id, file name or part of its title; raises UnknownPaperError."""
        return self._store.find_paper(name)

    def entry(self, paper: str) -> PaperEntry:
        """The paper with exactly this id, without its elements; raises UnknownPaperError."""
        for entry in self._store.entries():
            if entry.id == paper:
                return entry
        raise UnknownPaperError(f"no paper {paper!r} in the library; list the papers to see their ids")

    def counts(self, papers: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
        """How many elements of each kind the papers with these ids have, by id."""
        return self._store.counts(papers)

    def images(self, paper: str) -> PaperImages:
        """What a vision model saw in the pictures of the paper with this id; empty where none looked at them."""
        return self._store.images(paper)

    def shortfall(self, paper: str) -> Shortfall:
        """What the extracting model did not read of the paper with this id, and what of its replies was dropped."""
        return self._store.shortfall(paper)

    def element(self, element: str) -> Element:
        """An element by id; raises KeyError."""
        return self._store.element(element)

    def elements(self, name: str, *, kind: str = "") -> Sequence[Element]:
        """A paper's elements in reading order, all or those of a kind ("passage", "table", "figure", "equation",
        "reference"). Raises UnknownPaperError."""
        return [element for element in self.paper(name).elements if kind in ("", element.kind)]

    def crop(self, crop: str) -> bytes:
        """The PNG bytes, by content hash, of a crop that a paper names; raises KeyError."""
        return self._store.crop(crop)

    def source(self, name: str) -> Path:
        """The file that a paper was read from: the library's own copy of one that was handed over.

        Raises UnknownPaperError, and PaperFileError where the file is gone or has changed since.
        """
        return self._originals.of(find_entry(self._store.entries(), name))

    def page_picture(
        self,
        name: str,
        page: int,
        *,
        dpi: int = 110,
        marked: Sequence[Box | Place | str] = (),
        password: str | None = None,
    ) -> bytes:
        """A page of a paper as PNG, drawn in a child process with limits of time and memory.

        `marked` are boxes in points, places (those on this page are drawn) and ids of the paper's elements. A page of
        more than 20 million pixels gets a lower resolution.

        Raises UnknownPaperError; PaperFileError where the file is gone, has changed, has no pages or can't be drawn;
        InputError for a page, an element or a resolution that there is not.
        """
        paper = self.paper(name)
        boxes = boxes_on(paper, page, marked)
        return self._painter.draw(self.source(paper.id), paper, page, dpi=dpi, boxes=boxes, password=password)

    def most_connected(self, paper: str, *, limit: int) -> dict[str, int]:
        """The names of a paper's entities with the highest degrees in the graph, highest first; works aside."""
        return most_connected(self._store, paper, limit=limit)

    def neighbourhood(
        self, entity: str, *, papers: Sequence[str] = (), steps: int = 1, limit: int = 40
    ) -> Neighbourhood:
        """What stands round an entity (its name or an alias) in the graph, at most `limit` relations.

        `papers` says where the entity must be named. Raises UnknownEntityError, and UnknownPaperError.
        """
        center = find_entity(self._store, self._index, entity, papers=self._ids(papers))
        return neighbourhood(self._store, center, steps=steps, limit=limit)

    def _ids(self, papers: Sequence[str]) -> tuple[str, ...]:
        entries = self._store.entries()
        return tuple(find_entry(entries, paper).id for paper in papers)
