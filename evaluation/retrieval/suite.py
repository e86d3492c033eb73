"""The retrieval suite: is the gold evidence among the first texts found?"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from evaluation.libraries import Libraries
from evaluation.peers.systems import SYSTEMS
from evaluation.report import set_of
from evaluation.retrieval.corpora import Corpus, Question, hash_of
from evaluation.retrieval.scoring import HEADLINE, first_rank, score_ranking
from evaluation.retrieval.sets import load_corpora
from evaluation.retrieval.systems import OWN_MODES, OpenCorpora, OpenCorpus, OwnSystem, PeerSystem, RetrievalSystem
from evaluation.score import Miss, Score
from evaluation.suite import Loaded, Request, select_items
from paperscope_core.codec import to_json
from paperscope_core.errors import InputError

__all__ = ["RetrievalItem", "RetrievalSuite"]


_HIT_RANK = 5
_MAX_TEXT = 120


_UNITS = {
    "qasper": "paragraphs of the question's paper",
    "argscichat": "sentences of the dialogue's paper",
    "mmlongbench": "pages of the question's PDF",
    "ohrbench": "pages of all documents",
    "ohrbench-ocr": "pages of all documents, as recognition read them",
    "tdms": "papers",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalItem:
    """Asks a system, and scores the ranking of its texts. The corpus is opened when its first item is scored."""

    question: Question
    corpus: Corpus
    corpora: OpenCorpora
    system: RetrievalSystem

    @property
    def name(self) -> str:
        """See `SuiteItem.name`."""
        return self.question.name

    @property
    def fingerprint(self) -> str:
        """A hash of the question, its evidence and the corpus."""
        return hash_of(self.corpus.fingerprint, to_json(self.question))

    def score(self) -> Score:
        """Raises PaperscopeError if the corpus can't be read or the system fails."""
        opened = self.corpora.open(self.corpus)
        finds = self.system.find(opened, self.question)
        ranking = opened.ranking(finds)
        rank = first_rank(ranking, self.question.evidence)
        misses = () if rank is not None and rank <= _HIT_RANK else (self._miss(ranking, opened),)
        return Score(
            tallies=score_ranking(ranking, self.question.evidence),
            misses=misses,
            details={
                "question": self.question.text,
                "rank": "none" if rank is None else str(rank),
                "first": _truncate(finds[0].text) if finds else "",
            }
            | {f"not read: {name}": problem for name, problem in opened.built.problems.items()},
        )

    def _miss(self, ranking: list[str], opened: OpenCorpus) -> Miss:
        units = dict.fromkeys(unit for pieces in self.question.evidence for piece in pieces for unit in piece.units)
        return Miss(
            metric="hit@5",
            what=self.question.text,
            gold="; ".join(_describe_unit(unit, opened) for unit in units),
            got="; ".join(_describe_unit(unit, opened) for unit in ranking[:_HIT_RANK]),
        )


def _describe_unit(unit: str, opened: OpenCorpus) -> str:
    """A unit with the beginning of its text, if it is an element."""
    text = next((find.text for find in opened.chunks.values() if unit in find.elements), "")
    return f"{unit} {_truncate(text)!r}" if text else unit


def _truncate(text: str) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= _MAX_TEXT else f"{folded[: _MAX_TEXT - 1]}…"


class RetrievalSuite:
    """Implements `Suite`; its modes are Paperscope's own, and the peers by name."""

    name = "retrieval"
    modes: tuple[str, ...] = (*OWN_MODES, *SYSTEMS)
    headline = HEADLINE

    @contextmanager
    def open(self, request: Request) -> Iterator[Loaded]:
        """See `Suite.open`. A peer that isn't installed has no items, which is reported."""
        corpora, bad = load_corpora(request.data, folder=request.work / "texts")
        with Libraries(request.work / "libraries", request.settings) as libraries:
            try:
                system = _system(request, libraries)
            except InputError as error:
                yield Loaded(items=(), bad=[*bad, error])
                return
            with closing(system):
                opened = OpenCorpora(libraries)
                items = [
                    RetrievalItem(question=question, corpus=corpus, corpora=opened, system=system)
                    for corpus in corpora
                    for question in corpus.questions
                ]
                items = select_items(items, request)
                yield Loaded(items=items, bad=bad, facts=system.facts | _facts(corpora))


def _system(request: Request, libraries: Libraries) -> RetrievalSystem:
    if request.mode in OWN_MODES:
        return OwnSystem(libraries, request.mode)
    return PeerSystem(request.mode, libraries, request.work / "peers")


def _facts(corpora: Sequence[Corpus]) -> dict[str, str]:
    """The number of questions per set, and the units that are searched for."""
    counts: dict[str, int] = {}
    for corpus in corpora:
        name = set_of(corpus.name)
        counts[name] = counts.get(name, 0) + len(corpus.questions)
    return {name: f"{count} questions for {_UNITS[name]}" for name, count in counts.items()}
