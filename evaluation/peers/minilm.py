"""MiniLM alone: the cosine between the question's vector and each unit's."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from evaluation.peers.index import Index, System, findable
from evaluation.peers.job import Found, PeerCorpus

__all__ = ["load_encoder", "system"]


def load_encoder(weights: Path) -> Any:  # noqa: ANN401
    """The SentenceTransformer of a folder, on the CPU; it cuts a text beyond its window (256 word pieces)."""
    sentence_transformers: Any = import_module("sentence_transformers")
    return sentence_transformers.SentenceTransformer(str(weights), device="cpu", local_files_only=True)


def system(weights: Path) -> System:
    """Exact search over all units. Equal cosines keep the units' order."""
    encoder = load_encoder(weights)

    def vectors(texts: list[str]) -> Any:  # noqa: ANN401
        return encoder.encode(texts, normalize_embeddings=True, show_progress_bar=False)

    @contextmanager
    def index(corpus: PeerCorpus) -> Iterator[Index]:
        units = findable(corpus)
        rows = vectors([unit.text for unit in units])

        def search(question: str, limit: int) -> list[Found]:
            cosines = rows @ vectors([question])[0]
            return [units[place] for place in (-cosines).argsort(kind="stable")[:limit]]

        yield Index(search=search, units=len(units))

    return index
