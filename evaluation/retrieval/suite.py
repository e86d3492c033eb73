"""The retrieval suite: whether the evidence that gold names is among the first that is found.

set             unit           asked of             evidence
qasper          paragraph      the question's paper paragraphs, captions of figures and tables; best annotator
argscichat      sentence       the dialogue's paper sentences with the facts that the reply rests on
mmlongbench     page           the question's PDF   pages
ohrbench        page           all pages            a page, as it is
ohrbench-ocr    page           all pages            a page, as recognition read it
tdms            paper          all papers           all papers that report a result: task, dataset, metric

A ranking holds distinct units in the order in which a system first found a text of theirs. Questions without evidence
are left out.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from evaluation.choosing import chosen
from evaluation.libraries import Libraries
from evaluation.peers.systems import SYSTEMS
from evaluation.report import set_of
from evaluation.retrieval.items import RetrievalItem
from evaluation.retrieval.opened import OpenedCorpora
from evaluation.retrieval.peers import PeerSystem
from evaluation.retrieval.scoring import HEADLINE
from evaluation.retrieval.sets import load_corpora
from evaluation.retrieval.systems import OWN_MODES, OwnSystem, RetrievalSystem
from evaluation.retrieval.values import Corpus
from evaluation.suite import Loaded, Request
from paperscope_core.errors import InputError

__all__ = ["RetrievalSuite"]


_UNITS = {
    "qasper": "paragraphs of the question's paper",
    "argscichat": "sentences of the dialogue's paper",
    "mmlongbench": "pages of the question's PDF",
    "ohrbench": "pages of all documents",
    "ohrbench-ocr": "pages of all documents, as recognition read them",
    "tdms": "papers",
}


class RetrievalSuite:
    """Obeys `Suite`; its modes are ours, and the peers by name."""

    name = "retrieval"
    modes: tuple[str, ...] = (*OWN_MODES, *SYSTEMS)
    headline = HEADLINE

    @contextmanager
    def open(self, request: Request) -> Iterator[Loaded]:
        """See `Suite.open`. Of a peer that isn't installed there are no items, and that is said."""
        corpora, bad = load_corpora(request.data, folder=request.work / "texts")
        with Libraries(request.work / "libraries", request.settings) as libraries:
            try:
                system = _system(request, libraries)
            except InputError as error:
                yield Loaded(items=(), bad=[*bad, error])
                return
            with closing(system):
                opened = OpenedCorpora(libraries)
                items = [
                    RetrievalItem(question=question, corpus=corpus, corpora=opened, system=system)
                    for corpus in corpora
                    for question in corpus.questions
                ]
                items = chosen(items, request)
                yield Loaded(items=items, bad=bad, facts=system.facts | _facts(corpora))


def _system(request: Request, libraries: Libraries) -> RetrievalSystem:
    if request.mode in OWN_MODES:
        return OwnSystem(libraries, request.mode)
    return PeerSystem(request.mode, libraries, request.work / "peers")


def _facts(corpora: Sequence[Corpus]) -> dict[str, str]:
    """What each set asks for."""
    counts: dict[str, int] = {}
    for corpus in corpora:
        name = set_of(corpus.name)
        counts[name] = counts.get(name, 0) + len(corpus.questions)
    return {name: f"{count} questions for {_UNITS[name]}" for name, count in counts.items()}
