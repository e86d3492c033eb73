"""Types told by the words around a name: "X is a corpus of ...", "the X dataset", "datasets such as X and Y"."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from ingest.extraction.kinds import TermType, type_of_name
from ingest.extraction.mentions import Sentence, TermFinder

__all__ = ["types_in_context"]

_COPULA = re.compile(r"^(?: \([^()]*\))?,? (?:is|are|was|were) (?:an?|the|one of the) ((?:[^\W\d]\w* ?){1,4})")
_HEAD = re.compile(r"^ ([^\W\d_]+)\b")
_LIST = re.compile(
    r"""\b(datasets|corpora|benchmarks|treebanks|methods|models|algorithms|approaches|baselines|metrics|measures|tasks),?
        \ (?:such\ as|including|like|namely|e\.g\.,?)[ ]
        ((?: (?!\ (?:is|are|was|were|has|have|with|for|in|on|to|that|which|where|by)\b) [^;:])*)""",
    re.VERBOSE,
)


def types_in_context(sentences: Sequence[Sentence], finder: TermFinder) -> Mapping[int, TermType]:
    """For terms, by the finder's numbers, the type that most of their contexts tell: one in four of them at least."""
    votes: dict[int, Counter[TermType]] = defaultdict(Counter)
    occurrences: Counter[int] = Counter()
    for sentence in sentences:
        for term, rest in finder.rests(sentence.text):
            occurrences[term] += 1
            votes[term].update(_told(rest))
        for match in _LIST.finditer(sentence.text):
            told = type_of_name(match[1])
            for term in finder.find(match[2]):
                votes[term][told] += 1
    best = {term: min(counts, key=lambda kind: (-counts[kind], kind)) for term, counts in votes.items() if counts}
    return {term: kind for term, kind in best.items() if votes[term][kind] * 4 >= occurrences[term]}


def _told(rest: str) -> Sequence[TermType]:
    """What the words after a name tell: its class after "is a", or the head noun that follows at once."""
    copula = _COPULA.match(rest)
    words = copula[1].split() if copula else []
    head = _HEAD.match(rest)
    if head:
        words.append(head[1])
    told = [type_of_name(word) for word in words]
    return [kind for kind in told if kind != "concept"][:1]
