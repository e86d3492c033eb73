"""The registry of peers, and the small one: BM25."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from paperscope_lab.evaluation.peers.lightrag import lightrag_system
from paperscope_lab.evaluation.peers.paperqa import paperqa_system
from paperscope_lab.evaluation.peers.protocol import Found, Index, PeerCorpus, System, units_with_text

__all__ = ["SETUP", "SYSTEMS", "Peer"]


# Installs the packages of all peers.
SETUP = "scripts/setup peers"


def bm25_system(_weights: Path) -> System:
    """BM25 with the package's defaults: Lucene's variant, k1 = 1.5, b = 0.75. Ties keep the units' order."""
    bm25s: Any = import_module("bm25s")
    stemmer: Any = import_module("Stemmer").Stemmer("english")

    def words(texts: list[str]) -> list[list[str]]:
        tokens: list[list[str]] = bm25s.tokenize(
            texts, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
        )
        return tokens

    @contextmanager
    def index(corpus: PeerCorpus) -> Iterator[Index]:
        units = units_with_text(corpus)
        scorer = bm25s.BM25()
        scorer.index(words([unit.text for unit in units]), show_progress=False)

        def search(question: str, limit: int) -> list[Found]:
            asked = words([question])[0]
            if not asked:
                return []
            scores = scorer.get_scores(asked)
            best = (-scores).argsort(kind="stable")[:limit]
            return [units[place] for place in best if scores[place] > 0]

        yield Index(search=search, units=len(units))

    return index


class Peer(NamedTuple):
    """A retrieval system: `package` is the distribution whose version is reported, `imports` the modules it needs."""

    package: str
    imports: tuple[str, ...]
    system: Callable[[Path], System]


SYSTEMS = {
    "bm25": Peer("bm25s", ("bm25s", "Stemmer"), bm25_system),
    "lightrag-mix": Peer("lightrag-hku", ("lightrag", "sentence_transformers"), lightrag_system),
    "paperqa": Peer("paper-qa", ("paperqa", "paperqa_pymupdf", "sentence_transformers"), paperqa_system),
}
