"""Words and names as the reader compares them: folded tokens, names joined by signs, likeness of two words."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

__all__ = [
    "CITATION",
    "FUNCTION_WORDS",
    "LIGHT_WORDS",
    "Token",
    "abbreviations",
    "fold",
    "likeness",
    "names_joined",
    "strip_citations",
    "strip_remark",
    "tokens",
]


FUNCTION_WORDS = frozenset(
    """a about according achieve achieved achieves across also am among an and any are as at based be been being both
    but by can could describe described did do does done during each either every explain following for from get
    gets given give gives had has have having here how i if in into is it its itself list many may me mean means
    mentioned might more most much must name neither nor not obtain obtained obtains of on one only or our out per
    please propose proposed proposes reach reached reaches report reported reports respectively say says shall
    should show showed shown shows so some such take taken tell than that the their them then there these they this
    those through to under up upon us use used uses using was we were what when where whether which while who whom
    whose why will with within would write you your paper papers author authors table figure""".split()
)
LIGHT_WORDS = frozenset(
    """accuracy all amount approach base baseline benchmark case column data dataset datasets document example examples
    experiment experiments line main measure method methods metric metrics model models number numbers other performance
    result results row score scores setting settings system systems task tasks type types value values variant
    variants variation""".split()
)
_SIGNS = "+-"
_TOKEN = re.compile(r"[^\W_]+(?:[.,]\d+)*|\+|(?<![^\W_])-(?=\s*[^\W\d_])")
_DASHES = re.compile(r"[\u2010-\u2015\u2212]")
_NAMES = r"[A-Z][\w'’.\-]*(?:\s+(?:and|&|et\s+al\.?,?|[A-Z][\w'’.\-]*),?)*"
CITATION = re.compile(rf"\s*(?:\(\s*{_NAMES},?\s*\d{{4}}[a-z]?\s*\)|\(\d{{4}}[a-z]?\)|\[\d+(?:\s*[,–-]\s*\d+)*\])")
_REMARK = re.compile(r"\s*\([^()]*\)\s*$")
_ENDINGS = ("s", "es", "ed", "d", "ing", "al", "ly")
# Sentences whose words are remembered: a question weighs each several times, and the next question again.
_TEXTS = 8192
_PARTED = re.compile(r"([^\W\d_]*)(.*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A word or sign: `text` folded, `start` and `end` in the text that `fold_dashes` and NFKC leave.

    `coded` tells a word with a capital inside or with letters and digits ("XLNet", "F1"); `small` one without capitals.
    """

    text: str
    start: int
    end: int
    coded: bool
    small: bool

    @property
    def sign(self) -> bool:
        """Whether it is a sign that tells names apart."""
        return self.text in _SIGNS


def fold(text: str) -> str:
    """Compatibility form with one kind of dash; case is kept."""
    return _DASHES.sub("-", unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=_TEXTS)
def tokens(text: str) -> tuple[Token, ...]:
    """The words and signs of a text, in order. A hyphen within a word parts it; `- x` keeps its sign."""
    folded = fold(text)
    return tuple(_token(match[0], match.start(), match.end()) for match in _TOKEN.finditer(folded))


@lru_cache(maxsize=_TEXTS)
def distinct(text: str) -> frozenset[str]:
    """The folded words and signs of a text."""
    return frozenset(token.text for token in tokens(text))


def _token(word: str, start: int, end: int) -> Token:
    inner = any(letter.isupper() for letter in word[1:])
    mixed = any(letter.isdigit() for letter in word) and any(letter.isalpha() for letter in word)
    return Token(text=word.casefold(), start=start, end=end, coded=inner or mixed, small=word.islower())


def strip_remark(name: str) -> str:
    """A name without the remark in parentheses at its end: "Step-Back (ours)"; unchanged if nothing else is left."""
    return _REMARK.sub("", fold(name)).strip() or name


def strip_citations(name: str) -> str:
    """A row or column name without "(Li et al., 2019)", "(2019)" or "[12]"; unchanged if nothing else is left."""
    return CITATION.sub("", fold(name)).strip() or name


# Titles that results tables commonly shorten otherwise than to the beginning of the word.
_SHORTENED = {"p": "precision", "r": "recall", "avg": "average"}


def abbreviations(word: str) -> tuple[str, ...]:
    """The titles that results tables give a word otherwise than by its beginning ("p" for "precision")."""
    return tuple(short for short, long in _SHORTENED.items() if long == word)


def beginning(word: str) -> str:
    """What two folded words must have in common to have any likeness."""
    return _SHORTENED.get(word, word)[:2]


def likeness(one: str, other: str) -> float:
    """How far two folded words mean the same: 1 equal, 0.9 inflected, 0.7 where one abbreviates the other, else 0."""
    if one == other:
        return 1.0
    if _SHORTENED.get(one) == other or _SHORTENED.get(other) == one:
        return 0.9
    # Most pairs of words have nothing to do with each other, and this is asked of very many.
    if one[:2] != other[:2]:
        return 0.0
    short, long = sorted((one, other), key=len)
    short_letters, short_rest = _parts(short)
    long_letters, long_rest = _parts(long)
    if short_rest != long_rest or len(short_letters) < 3:
        return 0.0
    if _stem(short_letters) == _stem(long_letters) or _inflected(short_letters, long_letters):
        return 0.9
    return 0.7 if long_letters.startswith(short_letters.removesuffix("s")) else 0.0


def _parts(word: str) -> tuple[str, str]:
    match = _PARTED.fullmatch(word)
    return (match[1], match[2]) if match else (word, "")


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ating", "ated", "ates", "ate", "ied", "ies", "ing", "ed", "es", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word


def _inflected(short: str, long: str) -> bool:
    return long.startswith(short) and long[len(short) :] in _ENDINGS


def names_joined(text: str, words: tuple[Token, ...]) -> tuple[frozenset[int], ...]:
    """Groups of token indices that signs join to one name ("BERT-MRC + DSC"): matched whole or not at all.

    `words` are `tokens(text)`. A hyphen binds on both sides of a `+`; a function word is never bound.
    """
    folded = fold(text)
    groups: list[set[int]] = []
    for index, token in enumerate(words):
        if token.text != "+":
            continue
        members = {index}
        members |= _bound(folded, words, index - 1, -1) | _bound(folded, words, index + 1, 1)
        if groups and groups[-1] & members:
            groups[-1] |= members
        else:
            groups.append(members)
    return tuple(frozenset(group) for group in groups if len(group) > 1)


def _bound(folded: str, words: tuple[Token, ...], index: int, step: int) -> set[int]:
    members: set[int] = set()
    while 0 <= index < len(words) and words[index].text not in FUNCTION_WORDS and not words[index].sign:
        members.add(index)
        first, second = sorted((index, index + step))
        if first < 0 or second >= len(words) or folded[words[first].end : words[second].start] != "-":
            break
        index += step
    return members
