"""Peers as systems: a peer is asked all questions about a corpus at once, and what it found is kept."""

from pathlib import Path

from evaluation.libraries import Libraries
from evaluation.peers.documents import peer_document
from evaluation.peers.job import Found, PeerAnswer, PeerCorpus, PeerJob, PeerQuestion, write_value
from evaluation.peers.running import PEERS_PYTHON, PeerResults, run_peer
from evaluation.provenance import code_fingerprint
from evaluation.retrieval.corpora import hash_of
from evaluation.retrieval.opened import Opened
from evaluation.retrieval.systems import LIMIT
from evaluation.retrieval.values import Find, Question
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError, ModelError, SettingsError
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.models import find_weights

__all__ = ["PeerSystem"]


class PeerSystem:
    """A peer by name, with our embedder. It gets our chunks, except where it reads a PDF by itself.

    `folder` keeps what was found. Raises SettingsError unless the embedder is a folder of weights, and InputError where
    the peer isn't installed.
    """

    def __init__(self, name: str, libraries: Libraries, folder: Path, *, python: Path | None = None) -> None:
        embed = libraries.settings.embed
        weights = find_weights(embed.model) if embed.provider == "local" else None
        if weights is None or not weights.local:
            raise SettingsError(f"mode {name!r} needs an embedder in a folder; leave embed.model empty, or name one")
        self._name = name
        self._weights = weights.location
        self._folder = folder
        self._python = python or PEERS_PYTHON
        self._results: dict[str, PeerResults] = {}
        tried = run_peer(PeerJob(system=name, weights=self._weights, limit=LIMIT, corpora=()), python=self._python)
        if tried.note:
            raise InputError(f"mode {name!r}: {tried.note}")
        self._package = tried.package

    @property
    def facts(self) -> dict[str, str]:
        """See `RetrievalSystem.facts`."""
        return {"peer": self._package}

    def find(self, opened: Opened, question: Question) -> list[Find]:
        """See `RetrievalSystem.find`. Raises ModelError where the peer failed."""
        name = opened.corpus.name
        if name not in self._results:
            self._results[name] = self._asked(opened)
        results = self._results[name]
        answer = next((answer for answer in results.answers if answer.question == question.name), None)
        if answer is None or answer.problem or _read_nothing(results):
            raise ModelError(f"{self._package} did not answer: {_reason(results, answer)}")
        return [_find(found, opened) for found in answer.found]

    def close(self) -> None:
        """See `RetrievalSystem.close`."""

    def _asked(self, opened: Opened) -> PeerResults:
        """What the peer found for all questions of the corpus; kept where it came to its end."""
        job = PeerJob(system=self._name, weights=self._weights, limit=LIMIT, corpora=(_corpus(opened),))
        key = hash_of(code_fingerprint("evaluation/peers"), self._package, write_value(job))
        file = self._folder / f"{key}.json"
        if kept := _kept(file):
            return kept
        results = run_peer(job, python=self._python)
        if not results.note:
            with output_errors(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(file, to_json(results).encode())
        return results


def _read_nothing(results: PeerResults) -> bool:
    return any(indexed.problems and not indexed.units for indexed in results.indexed)


def _reason(results: PeerResults, answer: PeerAnswer | None) -> str:
    """Why there is no answer to use."""
    if answer and answer.problem:
        return answer.problem
    problems = (problem for indexed in results.indexed for problem in indexed.problems)
    return results.note or next(problems, "it stopped before")


def _corpus(opened: Opened) -> PeerCorpus:
    file = opened.corpus.file
    return PeerCorpus(
        name=opened.corpus.name,
        documents=tuple(peer_document(opened.store.indexed(paper.id), file=file) for paper in opened.store.papers()),
        questions=tuple(PeerQuestion(id=question.name, text=question.text) for question in opened.corpus.questions),
    )


def _kept(file: Path) -> PeerResults | None:
    try:
        return from_json(PeerResults, file.read_bytes())
    except (OSError, ValueError):
        return None


def _find(found: Found, opened: Opened) -> Find:
    """One of our chunks, or a text that the peer cut by itself."""
    if found.unit:
        return opened.chunks[found.unit]
    return Find(paper=found.document, elements=(), pages=found.pages, text=found.text)
