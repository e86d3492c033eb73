"""Types told by the words around a name: "X is a corpus of ...", "the X dataset", "a method called X", "trained on X",
"X outperforms ...", "datasets such as X and Y"."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from ingest.extraction.kinds import TermType, type_of_name
from ingest.extraction.mentions import Sentence, TermFinder

__all__ = ["types_in_context"]

_REACH = 60
_COPULA = re.compile(r"^(?: \([^()]*\))?,? (?:is|are|was|were) (?:an?|the|one of the) ((?:[^\W\d]\w* ?){1,4})")
_HEAD = re.compile(r"^ ([^\W\d_]+)\b")
_CALLED = re.compile(r"([^\W\d_]+)(?:,| of)? (?:called|named|dubbed|termed|known as|namely) (?:the )?$", re.IGNORECASE)
_BEFORE: tuple[tuple[TermType, re.Pattern[str]], ...] = (
    ("task", re.compile(r"\b(?:tasks?|problems?) of (?:the )?$", re.IGNORECASE)),
    (
        "dataset",
        re.compile(
            r"\b(?:trained?|fine ?tuned?|evaluated?|tested|validated|experiments?|experimented|results?|performance)"
            r"(?: \w+)? on (?:the |both )?$",
            re.IGNORECASE,
        ),
    ),
    ("metric", re.compile(r"\b(?:in terms of|measured by|measured in) (?:the )?$", re.IGNORECASE)),
    (
        "method",
        re.compile(
            r"\b(?:outperform(?:s|ed|ing)?|surpass(?:es)?|(?:we|to) (?:propose|introduce|present|develop|apply|employ)"
            r"(?: an?| the| our)?(?: new| novel)?|based on|baselines?(?: of| like)?|(?:better|worse|faster) than)"
            r" (?:the )?$",
            re.IGNORECASE,
        ),
    ),
)
_AFTER: tuple[tuple[TermType, re.Pattern[str]], ...] = (
    (
        "method",
        re.compile(
            r" (?:(?:significantly|consistently|also|still) )?(?:outperforms?|surpass(?:es)?|achieves?|obtains?"
            r"|performs?|learns?|consists? of|converges?|is trained|was trained|are trained|takes)\b"
        ),
    ),
    ("metric", re.compile(r" of \d+(?:\.\d+)? ?%")),
)
_LIST = re.compile(
    r"""\b(datasets|corpora|benchmarks|treebanks|methods|models|algorithms|approaches|baselines|metrics|measures|tasks),?
        \ (?:such\ as|including|like|namely|e\.g\.,?)[ ]
        ((?: (?!\ (?:is|are|was|were|has|have|with|for|in|on|to|that|which|where|by)\b) [^;:])*)""",
    re.VERBOSE,
)


def types_in_context(sentences: Sequence[Sentence], finder: TermFinder) -> Mapping[int, TermType]:
    """For terms, by the finder's numbers, the type that most of their contexts tell: one in ten of them at least."""
    votes: dict[int, Counter[TermType]] = defaultdict(Counter)
    occurrences: Counter[int] = Counter()
    for sentence in sentences:
        text, places = finder.places(sentence.text)
        for term, start, end in places:
            occurrences[term] += 1
            votes[term].update(_told(text[max(start - _REACH, 0) : start], text[end:]))
        for match in _LIST.finditer(sentence.text):
            told = type_of_name(match[1])
            for term in finder.find(match[2]):
                votes[term][told] += 1
    best = {term: min(counts, key=lambda kind: (-counts[kind], kind)) for term, counts in votes.items() if counts}
    return {term: kind for term, kind in best.items() if votes[term][kind] * 10 >= occurrences[term]}


def _told(before: str, rest: str) -> Sequence[TermType]:
    """What the words around a name tell: its class after "is a" or before "called", the head noun that follows at once,
    or what is done with it."""
    copula = _COPULA.match(rest)
    words = copula[1].split() if copula else []
    words += [found[1] for found in (_CALLED.search(before), _HEAD.match(rest)) if found]
    told = [type_of_name(word) for word in words]
    told += [kind for kind, pattern in _BEFORE if pattern.search(before)]
    told += [kind for kind, pattern in _AFTER if pattern.match(rest)]
    return [kind for kind in told if kind != "concept"][:1]
