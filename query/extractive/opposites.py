"""Words that deny: negations, opposites, and what is only supposed. General English, no field's."""

import re
from collections.abc import Iterator

from paperscope_core.text.sentences import split_sentences
from query.extractive.words import likeness

__all__ = ["alike", "clauses", "elliptic", "negations", "opposite", "suppositions"]


_NEGATION = re.compile(
    r"\b(?:not(?! only)|no(?! doubt)|never|none|neither|nor|cannot|without|hardly|barely|scarcely|lack(?:s|ed|ing)?|"
    r"fail(?:s|ed|ing)?|unable|instead of|rather than|absence|absent|eliminat(?:e|es|ed|ing)|avoid(?:s|ed|ing)?|"
    r"remov(?:e|es|ed|ing)|discard(?:s|ed|ing)?|eschew(?:s|ed|ing)?|dispens(?:e|es|ed|ing) with|omit(?:s|ted|ting)?|"
    r"forgo(?:es|ing)?|abandon(?:s|ed|ing)?|obviat(?:e|es|ed|ing)|circumvent(?:s|ed|ing)?|refrain(?:s|ed|ing)?|"
    r"devoid of|far from|free (?:of|from)|falls? short)\b|n['’]t\b|\bnon-|\w-free\b",
    re.IGNORECASE,
)
# What may be, will be or would be is no fact.
_SUPPOSED = re.compile(
    r"\b(?:if|may|might|could|would|will|should|future|hope|whether|unclear|hypothesi[sz]e|suppose|suspect)\b",
    re.IGNORECASE,
)
_OPPOSITES = tuple(
    tuple(pair.split("/"))
    for pair in """higher/lower highest/lowest high/low better/worse best/worst more/less more/fewer most/least
    increase/decrease large/small larger/smaller largest/smallest improve/degrade outperform/underperform
    include/exclude easy/hard easy/difficult easier/harder same/different positive/negative strong/weak
    stronger/weaker fast/slow faster/slower longer/shorter cheap/expensive enable/prevent simple/complex basic/complex
    manual/automatic forward/backward always/never public/private open/closed rise/fall gain/loss accept/reject
    agree/disagree freeze/unfreeze""".split()
)
_PREFIXES = ("un", "in", "im", "ir", "non", "sub", "dis")
_LONGEST_PREFIXED = 4
_FORM = 0.7
_CLAUSE = re.compile(
    r"[;:]\s+|,\s+(?=(?:but|while|whereas|although|though|however|which|since|because|so|yet|and)\b)"
    r"|\s+(?=(?:but|while|whereas|although|and not)\b)|,\s+(?=not\b)"
)
# "The other does not.": what it does not is said before.
_ELLIPSIS = re.compile(
    r"\b(?:do|does|did|is|are|was|were|has|have|had|can)(?: not|n['’]t)(?=\s*(?:[,.;]|$))", re.IGNORECASE
)


def clauses(text: str) -> Iterator[str]:
    """The clauses of a text, cut at sentence ends, colons and conjunctions."""
    parts = (part for sentence in split_sentences(text) for part in _CLAUSE.split(sentence))
    return (part for part in parts if part.strip())


def negations(text: str) -> int:
    """How many words of a text deny or take away."""
    return sum(1 for _ in _NEGATION.finditer(text))


def elliptic(clause: str) -> bool:
    """Whether a clause denies of its subject what is said before."""
    return _ELLIPSIS.search(clause) is not None


def suppositions(text: str) -> frozenset[str]:
    """The words of a text by which it only supposes."""
    return frozenset(match[0].casefold() for match in _SUPPOSED.finditer(text))


def opposite(one: str, other: str) -> bool:
    """Whether two folded words are opposites, whatever their forms."""
    if any(alike(one, first) and alike(other, last) for pair in _OPPOSITES for first, last in (pair, pair[::-1])):
        return True
    short, long = sorted((one, other), key=len)
    return any(
        long.startswith(prefix) and len(short) >= _LONGEST_PREFIXED and alike(long.removeprefix(prefix), short)
        for prefix in _PREFIXES
    )


def alike(one: str, other: str) -> bool:
    """Whether two folded words are forms of one."""
    return likeness(one, other) > _FORM
