"""A question as an item of the retrieval suite."""

from dataclasses import dataclass

from evaluation.retrieval.corpora import hash_of
from evaluation.retrieval.opened import Opened, OpenedCorpora
from evaluation.retrieval.scoring import first_rank, tallies
from evaluation.retrieval.systems import RetrievalSystem
from evaluation.retrieval.values import Corpus, Question
from evaluation.values import Miss, Score
from paperscope_core.codec import to_json

__all__ = ["RetrievalItem"]


_NEAR = 5
_SHOWN = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalItem:
    """Asks a system, and scores the ranking of what it found. The corpus is opened when its first item is scored."""

    question: Question
    corpus: Corpus
    corpora: OpenedCorpora
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
        """Raises PaperscopeError where the corpus can't be read or the system fails."""
        opened = self.corpora.open(self.corpus)
        finds = self.system.find(opened, self.question)
        ranking = opened.ranking(finds)
        rank = first_rank(ranking, self.question.evidence)
        misses = () if rank is not None and rank <= _NEAR else (self._miss(ranking, opened),)
        return Score(
            tallies=tallies(ranking, self.question.evidence),
            misses=misses,
            details={
                "question": self.question.text,
                "rank": "none" if rank is None else str(rank),
                "first": _shown(finds[0].text) if finds else "",
            }
            | {f"not read: {name}": problem for name, problem in opened.shelf.problems.items()},
        )

    def _miss(self, ranking: list[str], opened: Opened) -> Miss:
        units = dict.fromkeys(unit for pieces in self.question.evidence for piece in pieces for unit in piece.units)
        return Miss(
            metric="hit@5",
            what=self.question.text,
            gold="; ".join(_named(unit, opened) for unit in units),
            got="; ".join(_named(unit, opened) for unit in ranking[:_NEAR]),
        )


def _named(unit: str, opened: Opened) -> str:
    """A unit with the beginning of its text, where it is an element."""
    text = next((find.text for find in opened.chunks.values() if unit in find.elements), "")
    return f"{unit} {_shown(text)!r}" if text else unit


def _shown(text: str) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= _SHOWN else f"{folded[: _SHOWN - 1]}…"
