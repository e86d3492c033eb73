"""A corpus' library, open: its chunks as what is found."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluation.libraries import Libraries, Shelf
from evaluation.retrieval.values import Corpus, Find, UnitsOf
from graph_store import Store
from paperscope_core.types import Chunk, Element, Paper, Passage, Place, Reference, Table

__all__ = ["Opened", "OpenedCorpora"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """The library's chunks by id, and their ids by place and text: a context says no more of its sources."""

    corpus: Corpus
    shelf: Shelf
    store: Store
    units_of: UnitsOf
    chunks: Mapping[str, Find]
    ids: Mapping[tuple[Place, str], str]

    def ranking(self, finds: list[Find]) -> list[str]:
        """The units that the finds show, each once, in the order of their first find."""
        return list(dict.fromkeys(unit for find in finds for unit in self.units_of(find)))


class OpenedCorpora:
    """Opens each corpus once; their libraries stay open as long as `libraries`."""

    def __init__(self, libraries: Libraries) -> None:
        self.libraries = libraries
        self._opened: dict[str, Opened] = {}

    def open(self, corpus: Corpus) -> Opened:
        """The corpus' library, made if it isn't yet. Raises PaperscopeError."""
        if corpus.name not in self._opened:
            shelf = corpus.shelf(self.libraries)
            store = self.libraries.store(shelf)
            chunks: dict[str, Find] = {}
            ids: dict[tuple[Place, str], str] = {}
            for paper in store.papers():
                for chunk, find in _finds(paper, store.indexed(paper.id).chunks):
                    chunks[chunk.id] = find
                    ids.setdefault((chunk.place, chunk.text), chunk.id)
            self._opened[corpus.name] = Opened(
                corpus=corpus, shelf=shelf, store=store, units_of=corpus.units_in(shelf), chunks=chunks, ids=ids
            )
        return self._opened[corpus.name]


def _finds(paper: Paper, chunks: tuple[Chunk, ...]) -> Iterator[tuple[Chunk, Find]]:
    elements = {element.id: element for element in paper.elements}
    for chunk in chunks:
        places = (place for key in chunk.elements for place in _places(elements[key]))
        pages = dict.fromkeys((chunk.place.page, *(place.page for place in places)))
        yield chunk, Find(paper=paper.id, elements=chunk.elements, pages=tuple(pages), text=chunk.text)


def _places(element: Element) -> tuple[Place, ...]:
    if isinstance(element, Passage | Reference | Table):
        return (element.place, *element.more_places)
    return (element.place,)
