"""The retrieval suite: is the gold evidence among the first texts found?"""

from collections import Counter
from contextlib import ExitStack
from functools import partial

from paperscope_core.errors import InputError
from paperscope_core.text.escaping import shortened
from paperscope_lab.evaluation.libraries import Libraries
from paperscope_lab.evaluation.peers.systems import SYSTEMS
from paperscope_lab.evaluation.report import set_of
from paperscope_lab.evaluation.retrieval.corpora import Corpus, Question
from paperscope_lab.evaluation.retrieval.scoring import HEADLINE, first_rank, score_ranking
from paperscope_lab.evaluation.retrieval.sets import load_corpora
from paperscope_lab.evaluation.retrieval.systems import (
    OWN_MODES,
    OpenCorpora,
    OpenCorpus,
    OwnSystem,
    PeerSystem,
    RetrievalSystem,
)
from paperscope_lab.evaluation.score import Miss, Score
from paperscope_lab.evaluation.suite import Item, Loaded, Request, Suite

__all__ = ["SUITE"]

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


def _score(question: Question, corpus: Corpus, *, corpora: OpenCorpora, system: RetrievalSystem) -> Score:
    """Ask a system, and score the ranking of its texts; the corpus is opened when its first question is scored.

    Raises PaperscopeError if the corpus can't be read or the system fails.
    """
    opened = corpora.open(corpus)
    found = system.find(opened, question)
    ranking = opened.ranking(found)
    rank = first_rank(ranking, question.evidence)
    details = {
        "question": question.text,
        "rank": "none" if rank is None else str(rank),
        "first": _truncate(found[0].text) if found else "",
    }
    details |= {f"not read: {name}": problem for name, problem in opened.built.problems.items()}
    hit = rank is not None and rank <= _HIT_RANK
    return Score(
        tallies=score_ranking(ranking, question.evidence),
        misses=() if hit else (_miss(question, ranking, opened),),
        details=details,
    )


def _miss(question: Question, ranking: list[str], opened: OpenCorpus) -> Miss:
    relevant = dict.fromkeys(unit for pieces in question.evidence for piece in pieces for unit in piece.units)
    return Miss(
        metric="hit@5",
        what=question.text,
        gold="; ".join(_describe_unit(unit, opened) for unit in relevant),
        got="; ".join(_describe_unit(unit, opened) for unit in ranking[:_HIT_RANK]),
    )


def _describe_unit(unit: str, opened: OpenCorpus) -> str:
    """Return a unit with the beginning of its text, if it is an element."""
    text = next((chunk.text for chunk in opened.chunks.values() if unit in chunk.elements), "")
    return f"{unit} {_truncate(text)!r}" if text else unit


def _truncate(text: str) -> str:
    return shortened(" ".join(text.split()), limit=_MAX_TEXT)


def _load(request: Request, stack: ExitStack) -> Loaded:
    """Return a peer that isn't installed has no items, which is reported."""
    corpora, bad = load_corpora(request.data, folder=request.work / "texts")
    libraries = stack.enter_context(Libraries(request.work / "libraries", request.settings))
    if not corpora:
        return Loaded(items=(), bad=bad)
    system: RetrievalSystem
    try:
        if request.mode in OWN_MODES:
            system = OwnSystem(libraries, request.mode, stack)
        else:
            system = PeerSystem(request.mode, libraries, request.work / "peers")
    except InputError as error:
        return Loaded(items=(), bad=[*bad, error])
    score = partial(_score, corpora=OpenCorpora(libraries), system=system)
    items = [
        Item(name=question.name, score=partial(score, question, corpus), gold=(corpus.fingerprint, question))
        for corpus in corpora
        for question in corpus.questions
    ]
    counts = Counter(set_of(item.name) for item in items)
    searched = {name: f"{count} questions for {_UNITS[name]}" for name, count in counts.items()}
    return Loaded(items=items, bad=bad, facts=system.facts | searched)


SUITE = Suite(
    name="retrieval",
    modes=(*OWN_MODES, *SYSTEMS),
    headline=HEADLINE,
    load=_load,
    missing="no gold here; name a folder with eval/paperqa_*.jsonl or eval/kg_nlptdms_*.jsonl in it",
)
