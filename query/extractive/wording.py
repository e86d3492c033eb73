"""Words in the form in which questions are compared with headers and records: folded, singular, with their offsets."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from paperscope_core.text.words import STOP_WORDS, fold_spelling, word_key

__all__ = ["FORM_WORDS", "Token", "citation_spans", "fold", "strip_citations", "strip_remark", "tokens"]

# Function words that change which value is asked for ("the row below X"), and must therefore be named like any other.
_RELATIONAL = frozenset(
    """above after against all another any before behind below beside besides beyond both despite each either every
    except few inside instead least less many more most near neither no none nor not off only other outside over own
    rather same several since than too unless unlike until very whether without""".split()
)
# Words that refer to printed values in general.
_POINTING = frozenset(
    """according author cell column entry give given listed number paper please printed reported row shown table use
    used using value""".split()
)
FORM_WORDS = (STOP_WORDS | _POINTING) - _RELATIONAL | {"many", "much"}
"""The words of a question that name nothing, singular as those of a `Token`."""

# Not `paperscope_core.text.words.tokenize`: it makes one word of "BERT+DSC", of which a question may name a part, and
# drops the signs that tell "+ pretraining" from "- pretraining" and the points that tell "1.1" from "11".
_TOKEN = re.compile(r"[^\W_]+(?:[.,]\d+)*|\+|(?<![^\W_])-(?=\s*[^\W\d_])")
_DASHES = re.compile(r"[\u2010-\u2015\u2212]")
_NAMES = r"[A-Z][\w'’.\-]*(?:\s+(?:and|&|et\s+al\.?,?|[A-Z][\w'’.\-]*),?)*"
_CITATION = re.compile(
    rf"(?<!\s)\s*+(?:\(\s*{_NAMES},?\s*\d{{4}}[a-z]?\s*\)|\(\d{{4}}[a-z]?\)|\[\d+(?:\s*[,–-]\s*\d+)*\])"
)
_REMARK = re.compile(r"(?<!\s)\s*+\([^()]*\)\s*$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A word or sign of a text.

    `text` is folded and singular; `start` and `end` are offsets into `fold(text)`.
    """

    text: str
    start: int
    end: int


# The headers and captions of some hundred tables, which every question is compared with.
_CACHED_TEXTS = 8192


@lru_cache(maxsize=_CACHED_TEXTS)
def fold(text: str) -> str:
    """Normalise to NFKC with one kind of dash and single spaces; case is kept."""
    return " ".join(_DASHES.sub("-", unicodedata.normalize("NFKC", text)).split())


@lru_cache(maxsize=_CACHED_TEXTS)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the words and signs of `fold(text)` in order. A hyphen separates words; a `-` before a space is a sign."""
    matches = _TOKEN.finditer(fold(text))
    return tuple(
        Token(text=word_key(fold_spelling(match[0])), start=match.start(), end=match.end()) for match in matches
    )


def citation_spans(folded: str) -> list[tuple[int, int]]:
    """Return the offsets of each "(Li et al., 2019)", "(2019)" and "[12]" in a folded text."""
    return [match.span() for match in _CITATION.finditer(folded)]


def strip_citations(name: str) -> str:
    """Drop "(Li et al., 2019)", "(2019)" and "[12]" from a name, unless nothing else is left."""
    return _CITATION.sub("", fold(name)).strip() or name


def strip_remark(name: str) -> str:
    """Drop the remark in parentheses at the end of a name ("Latency (ms)"), unless nothing else is left."""
    return _REMARK.sub("", fold(name)).strip() or name
