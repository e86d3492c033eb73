"""Words and names in the form that the extractive answerer compares: folded, singular, with their offsets."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from paperscope_core.text.words import STOP_WORDS, word_key

__all__ = [
    "FORM_WORDS",
    "Token",
    "Vocabulary",
    "citation_spans",
    "fold",
    "names_in",
    "strip_citations",
    "strip_remark",
    "tokens",
    "unmentioned",
]

# Function words that change which value is asked for, and must therefore be explained like any other word.
_RELATIONAL = frozenset(
    """all any both each either every except few least less many more most neither no none nor not only other own same
    than too unlike very without""".split()
)
# Words that refer to printed values in general.
_POINTING = frozenset(
    """according author cell column entry give given listed number paper please printed reported row shown table use
    used using value""".split()
)
FORM_WORDS = (STOP_WORDS | _POINTING) - _RELATIONAL | {"many", "much"}
"""The words of a question that name nothing, singular as those of a `Token`."""

_SIGNS = "+-"
# Not `paperscope_core.text.words.tokenize`: it makes one word of "BERT+DSC", of which a question may name a part, and
# drops the signs that tell "+ pretraining" from "- pretraining" and the points that tell "1.1" from "11".
_TOKEN = re.compile(r"[^\W_]+(?:[.,]\d+)*|\+|(?<![^\W_])-(?=\s*[^\W\d_])")
_DASHES = re.compile(r"[\u2010-\u2015\u2212]")
_NAMES = r"[A-Z][\w'’.\-]*(?:\s+(?:and|&|et\s+al\.?,?|[A-Z][\w'’.\-]*),?)*"
_CITATION = re.compile(
    rf"(?<!\s)\s*+(?:\(\s*{_NAMES},?\s*\d{{4}}[a-z]?\s*\)|\(\d{{4}}[a-z]?\)|\[\d+(?:\s*[,–-]\s*\d+)*\])"
)
_REMARK = re.compile(r"(?<!\s)\s*+\([^()]*\)\s*$")
_SENTENCE_START = re.compile(r"(?:^|[.?!:;]['\"”’)]*\s+)['\"“‘(\[]*$")
# The most signs and spaces between two sentences.
_LONGEST_BREAK = 40
_QUESTION = re.compile(r"(?<![^?!.])(?<!\.(?!\s))[^?!.]*+(?:[.](?!\s)[^?!.]*+)*+\?")
_HYPHENED = re.compile(r"(?:-[^\W_]+)+")
_NTH = re.compile(r"\d+(?:st|nd|rd|th)")
# A question with a greater share of capitalised words is in title case, where capitals do not identify names.
_TITLE_CASE = 0.6
# Two words may be inflections of one if they differ in at most the last three letters and share at least the first
# four.
_ENDING = 3
_STEM = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A word or sign of a text.

    `text` is folded and singular; `start` and `end` are offsets into `fold(text)`. `coded` is true of a word with a
    capital inside or with letters and digits ("XLNet", "F1"), `capital` of one that begins with a capital.
    """

    text: str
    start: int
    end: int
    coded: bool
    capital: bool

    @property
    def sign(self) -> bool:
        """Whether it is a sign that distinguishes names."""
        return self.text in _SIGNS


# The headers and captions of some hundred tables, which every question is compared with.
_CACHED_TEXTS = 8192


@lru_cache(maxsize=_CACHED_TEXTS)
def fold(text: str) -> str:
    """Normalise to NFKC with one kind of dash and single spaces; case is kept."""
    return " ".join(_DASHES.sub("-", unicodedata.normalize("NFKC", text)).split())


@lru_cache(maxsize=_CACHED_TEXTS)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the words and signs of `fold(text)` in order. A hyphen separates words; a `-` before a space is a sign."""
    return tuple(_token(match[0], match.start(), match.end()) for match in _TOKEN.finditer(fold(text)))


def _token(word: str, start: int, end: int) -> Token:
    mixed = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return Token(
        text=word_key(word),
        start=start,
        end=end,
        coded=mixed or any(map(str.isupper, word[1:])),
        capital=word[0].isupper(),
    )


def citation_spans(folded: str) -> list[tuple[int, int]]:
    """The offsets of each "(Li et al., 2019)", "(2019)" and "[12]" in a folded text."""
    return [match.span() for match in _CITATION.finditer(folded)]


def strip_citations(name: str) -> str:
    """Drop "(Li et al., 2019)", "(2019)" and "[12]" from a name, unless nothing else is left."""
    return _CITATION.sub("", fold(name)).strip() or name


def strip_remark(name: str) -> str:
    """Drop the remark in parentheses at the end of a name ("Latency (ms)"), unless nothing else is left."""
    return _REMARK.sub("", fold(name)).strip() or name


def names_in(question: str) -> list[str]:
    """Return the names in the question, by their spelling: coded words, and words capitalised within a sentence.

    Hyphenated words are one name. An instruction that follows the question contributes no names.
    """
    text = fold(question)
    asked = " ".join(_QUESTION.findall(text)) or text
    words = [word for word in tokens(asked) if not word.sign]
    alphabetic = [word for word in words if word.text.isalpha()]
    titled = sum(word.capital for word in alphabetic) > _TITLE_CASE * len(alphabetic)
    folded, found = fold(asked), list[str]()
    for word in words:
        before = folded[max(0, word.start - _LONGEST_BREAK) : word.start]
        inside = word.capital and not titled and not _SENTENCE_START.search(before)
        if (word.coded or inside) and word.text not in FORM_WORDS and not _NTH.fullmatch(word.text):
            found.append(_hyphened(folded, word))
    return list(dict.fromkeys(found))


def _hyphened(text: str, word: Token) -> str:
    before = re.search(
        r"(?<![^\W_])(?<![^\W_]-)(?:[^\W_]++-)++$", text[text.rfind(" ", 0, word.start) + 1 : word.start]
    )
    after = _HYPHENED.match(text, word.end)
    return (before[0] if before else "") + text[word.start : word.end] + (after[0] if after else "")


class Vocabulary:
    """The folded words of texts, and each pair of neighbours joined ("OntoNotes" for "Onto Notes")."""

    def __init__(self, texts: Iterable[str]) -> None:
        found: set[str] = set()
        for text in texts:
            words = [word.text for word in tokens(text) if not word.sign]
            found.update(words, map("".join, pairwise(words)))
        self._words = frozenset(found)
        self._sorted = sorted(found)

    def __contains__(self, word: str) -> bool:
        """Whether a text has the word, or the two words that it joins."""
        return word in self._words

    def has_inflection(self, word: str) -> bool:
        """Whether a text has the word, or another one that may be an inflection of it."""
        if word in self._words:
            return True
        if not word.isalpha() or len(word) < _STEM:
            return False
        stem = word[: max(_STEM, len(word) - _ENDING)]
        # The first word that does not precede the stem begins with it, if any does.
        first = bisect_left(self._sorted, stem)
        return first < len(self._sorted) and self._sorted[first].startswith(stem)


def unmentioned(name: str, vocabularies: Iterable[Vocabulary]) -> bool:
    """Whether no vocabulary contains all words of the name, separately, joined or inflected."""
    words = [word.text for word in tokens(name) if not word.sign]
    whole = "".join(words)
    return not any(whole in known or all(map(known.has_inflection, words)) for known in vocabularies)
