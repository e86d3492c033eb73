"""The values exchanged with a peer's process, and the interface of a peer.

Of other packages, only numpy, pydantic and markupsafe are imported, which the peers need, too.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from paperscope_core.types import Entity, Relation

__all__ = [
    "Found",
    "Index",
    "PeerAnswer",
    "PeerCorpus",
    "PeerDocument",
    "PeerIndexed",
    "PeerJob",
    "PeerLine",
    "PeerQuestion",
    "System",
    "Unit",
    "describe_error",
    "load_encoder",
    "units_with_text",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """A text that can be found; `pages` count from 1, and are empty if the document has no pages. Ids are unique."""

    id: str
    text: str
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PeerDocument:
    """A document; `file` is the absolute path of its PDF, "" if it has none.

    The sources of entities and relations are the ids of the units that contain them.
    """

    id: str
    title: str
    file: str
    units: tuple[Unit, ...]
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PeerQuestion:
    """A question; its id is unique within the corpus."""

    id: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PeerCorpus:
    """Documents and the questions asked of all of them; its name is unique within the job."""

    name: str
    documents: tuple[PeerDocument, ...]
    questions: tuple[PeerQuestion, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PeerJob:
    """The job of one system: find `limit` texts per question. `weights` is the embedder's folder."""

    system: str
    weights: str
    limit: int
    corpora: tuple[PeerCorpus, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A text that a system found; `unit` is "" if the system split the document itself. `pages` count from 1."""

    unit: str
    document: str
    pages: tuple[int, ...]
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PeerAnswer:
    """The texts found for a question, best first, and the seconds taken; `problem` says why there are none."""

    corpus: str
    question: str
    found: tuple[Found, ...] = ()
    seconds: float = 0.0
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PeerIndexed:
    """The outcome of indexing a corpus: `units` texts in `seconds`; `memory_mb` is the process's peak memory so far.

    `problems` are the documents that could not be added, and why.
    """

    corpus: str
    units: int = 0
    seconds: float = 0.0
    memory_mb: float = 0.0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PeerLine:
    """A line of output: exactly one field is set.

    The first line has the `package` ("bm25s 0.3.16"), or in `missing` what to install.
    """

    package: str = ""
    missing: str = ""
    indexed: PeerIndexed | None = None
    answer: PeerAnswer | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Index:
    """An indexed corpus: `search(question, limit)` returns the best texts first; `problems` as in `PeerIndexed`."""

    search: Callable[[str, int], Sequence[Found]]
    units: int
    problems: tuple[str, ...] = ()


# Indexes a corpus; resources are released when the context exits. May raise any error of the peer's packages.
System = Callable[[PeerCorpus], AbstractContextManager[Index]]


def units_with_text(corpus: PeerCorpus) -> list[Found]:
    """Return all units that have text, in order. Raises ValueError if there are none."""
    found = [
        Found(unit=unit.id, document=document.id, pages=unit.pages, text=unit.text)
        for document in corpus.documents
        for unit in document.units
        if unit.text.strip()
    ]
    if not found:
        raise ValueError(f"no text in the corpus {corpus.name!r}")
    return found


def describe_error(error: Exception) -> str:
    """Describe an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def load_encoder(weights: Path) -> Any:  # noqa: ANN401
    """Load a SentenceTransformer on the CPU; it truncates texts longer than its window (256 word pieces)."""
    sentence_transformers: Any = import_module("sentence_transformers")
    return sentence_transformers.SentenceTransformer(str(weights), device="cpu", local_files_only=True)
