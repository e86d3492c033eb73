"""The peers by name: what people know them by, the packages that they need, and how to get them running."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from evaluation.peers.index import System

__all__ = ["SETUP", "SYSTEMS", "Peer"]

# Installs whatever any of them needs.
SETUP = "scripts/setup peers"


class Peer(NamedTuple):
    """A retrieval system: `package` is the distribution whose version is told, `imports` are the modules it needs."""

    title: str
    package: str
    imports: tuple[str, ...]
    system: Callable[[Path], System]


def _made_by(module: str, **options: str | int) -> Callable[[Path], System]:
    def make(weights: Path) -> System:
        made: System = import_module(f"evaluation.peers.{module}").system(weights, **options)
        return made

    return make


_LIGHTRAG = ("lightrag", "sentence_transformers")
_PAPERQA = ("paperqa", "paperqa_pymupdf", "sentence_transformers")
SYSTEMS = {
    "bm25": Peer("BM25", "bm25s", ("bm25s", "Stemmer"), _made_by("bm25")),
    "minilm": Peer("MiniLM", "sentence-transformers", ("sentence_transformers",), _made_by("minilm")),
    "lightrag-naive": Peer("LightRAG, naive", "lightrag-hku", _LIGHTRAG, _made_by("lightrag", mode="naive")),
    "lightrag-mix": Peer("LightRAG, mix", "lightrag-hku", _LIGHTRAG, _made_by("lightrag", mode="mix")),
    "paperqa": Peer("PaperQA", "paper-qa", _PAPERQA, _made_by("paperqa")),
    # A chunk of the default length is five times what MiniLM reads of a text: the rest of it can't be found.
    "paperqa-short": Peer(
        "PaperQA, short chunks", "paper-qa", _PAPERQA, _made_by("paperqa", chunk_chars=1000, overlap=50)
    ),
}
