"""What the graph suite scores one by one: gold documents, real papers, and the library of them all."""

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.gold.graphs import GoldGraph
from evaluation.graph.documents import paper_of
from evaluation.graph.entities import score_entities
from evaluation.graph.floats import score_floats
from evaluation.graph.grounding import score_grounding
from evaluation.graph.matches import Matches
from evaluation.graph.quality import score_graph, score_library
from evaluation.graph.relations import score_relations, score_results
from evaluation.libraries import Libraries, Shelf
from evaluation.values import Score, Tally
from graph_store import Store
from ingest import chunk_paper
from paperscope_core.codec import to_json
from paperscope_core.errors import PaperFileError
from paperscope_core.protocols import EntityExtractor
from paperscope_core.types import IndexedPaper, content_hash

__all__ = ["DocumentItem", "LibraryItem", "PaperItem"]


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentItem:
    """A gold document, read by the extractor as a paper is."""

    gold: GoldGraph
    extractor: EntityExtractor
    max_words: int

    @property
    def name(self) -> str:
        """See `SuiteItem.name`."""
        return self.gold.name

    @property
    def fingerprint(self) -> str:
        """A hash of the gold."""
        return content_hash(to_json(self.gold).encode())

    def score(self) -> Score:
        """Raises ModelError where a model fails."""
        started = time.perf_counter()
        paper = paper_of(self.gold)
        chunks = chunk_paper(paper, max_words=self.max_words)
        extraction = asyncio.run(self.extractor.extract(paper, chunks))
        seconds = Score(tallies={"seconds.extraction": Tally(right=time.perf_counter() - started, total=1)})
        matches = Matches(gold=self.gold, extraction=extraction)
        score = score_entities(matches)
        if self.gold.relations is not None:
            score += score_relations(matches, self.gold.relations)
        if self.gold.results is not None:
            score += score_results(matches, self.gold.results)
        return score + seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperItem:
    """A real paper in a library of its own."""

    name: str
    file: Path
    libraries: Libraries

    @property
    def fingerprint(self) -> str:
        """A hash of the file."""
        return _hash([self.file])

    def score(self) -> Score:
        """Raises PaperFileError where the paper can't be added, and ModelError."""
        shelf = self.libraries.of_files([self.file])
        if shelf.problems:
            raise PaperFileError("; ".join(shelf.problems.values()))
        [indexed] = _indexed(self.libraries, shelf)
        return score_graph(indexed) + score_floats(indexed) + score_grounding(indexed.paper, indexed.extraction)


@dataclass(frozen=True, kw_only=True, slots=True)
class LibraryItem:
    """One library of all the papers. Those that can't be added are left out: their own items say why."""

    files: Sequence[Path]
    libraries: Libraries
    name: str = "library/all"

    @property
    def fingerprint(self) -> str:
        """A hash of the files."""
        return _hash(self.files)

    def score(self) -> Score:
        """Raises ModelError."""
        shelf = self.libraries.of_files(self.files)
        papers = _indexed(self.libraries, shelf)
        store = self.libraries.store(shelf)
        papers_of = Counter(node for indexed in papers for node in _nodes(store, indexed))
        merged = store.entities(sorted(papers_of))
        return score_library(merged, papers_of, papers)


def _indexed(libraries: Libraries, shelf: Shelf) -> list[IndexedPaper]:
    store = libraries.store(shelf)
    return [store.indexed(paper) for paper in dict.fromkeys(shelf.ids.values())]


def _nodes(store: Store, indexed: IndexedPaper) -> set[str]:
    """The ids in the library of a paper's entities."""
    own = [entity.id for entity in indexed.extraction.entities]
    return {node for nodes in store.nodes_of(own, papers=[indexed.paper.id]).values() for node in nodes}


def _hash(files: Sequence[Path]) -> str:
    contents = (file.read_bytes() if file.is_file() else b"" for file in files)
    return hashlib.sha256(b"".join(hashlib.sha256(data).digest() for data in contents)).hexdigest()
