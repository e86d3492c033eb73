"""BM25 alone, by the package bm25s with the tokenizer that its manual shows: English stop words, Snowball stems."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from evaluation.peers.index import Index, System, findable
from evaluation.peers.job import Found, PeerCorpus

__all__ = ["system"]


def system(_weights: Path) -> System:
    """BM25 as the package sets it: Lucene's variant, k1 = 1.5, b = 0.75. Equal scores keep the units' order."""
    bm25s: Any = import_module("bm25s")
    stemmer: Any = import_module("Stemmer").Stemmer("english")

    def words(texts: list[str]) -> list[list[str]]:
        tokens: list[list[str]] = bm25s.tokenize(
            texts, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
        )
        return tokens

    @contextmanager
    def index(corpus: PeerCorpus) -> Iterator[Index]:
        units = findable(corpus)
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
