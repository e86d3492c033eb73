"""What kind of answer a question expects, and the thing that it asks about: "what learning rate does X use?" expects
a number, and asks about a learning rate of X. English patterns, no field's."""

import re
from dataclasses import dataclass
from typing import Literal

from query.extractive.words import FUNCTION_WORDS, Token

__all__ = ["Expected", "Form", "read_expected"]


Form = Literal["polar", "number", "year", "person", "reason", "manner", "list", "definition", "name", "statement"]

_AUXILIARY = frozenset(
    "is are was were be been do does did has have had can could will would should may might must".split()
)
# A noun phrase ends before one of these.
_ENDS = _AUXILIARY | frozenset(
    """of for in on at by with to from among between under over during across within per than as when if where that
    which who whose and or but using based according after before through into against without because""".split()
)
# "number of samples", "name of the dataset": what is asked about follows.
_CARRIERS = frozenset(
    """amount count fraction kind kinds name names number percentage proportion share sort sorts title total type
    types value values""".split()
)
# Nouns that figures answer.
_MEASURES = frozenset(
    """accuracy agreement amount batch coefficient cost count degree depth dimension dimensionality dimensions
    duration epoch epochs error f1 factor fraction frequency gain improvement kappa latency length
    loss margin number percentage perplexity precision probability proportion ratio rate recall reduction score scores
    share size speed speedup sum temperature threshold throughput time total value weight width""".split()
)
_YEARS = frozenset("year date month day".split())
_PERSONS = frozenset("author authors person people researcher researchers scientist scientists".split())
_SIZED = frozenset(
    "big deep early far fast frequently heavy high large late long low many much often old small".split()
)
# "When A is done, what is B?" asks what.
_ASKING = re.compile(
    r"(?!\b(?:when|where)\b.*, (?:what|which|who|how))\b(?:what|which|who|whom|whose|when|where|why|how)\b"
)
_POLAR = re.compile(rf"(?:^\W*|, )(?:{'|'.join(sorted(_AUXILIARY))})\b")
_BREAK = re.compile(r"[,;:?!()]")
_PARTICIPLE = re.compile(r"\w{3,}ed")
_PLURAL = re.compile(r"\w{2,}[^sui\W]s")
_COUNTS = frozenset("one two three four five six seven eight nine ten main".split())
_MOST = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """The form of the answer, and `asked`, the indices of the question's words that name what is asked about, empty
    where it is only the fact ("How does X work?") or the whole topic ("What is X?")."""

    form: Form
    asked: frozenset[int] = frozenset()


def read_expected(text: str, words: tuple[Token, ...]) -> Expected:
    """Read what a question expects; `words` are `tokens(text)`, and the text is folded."""
    lower = text.casefold()
    asking, polar = _ASKING.search(lower), _POLAR.search(lower)
    if polar is not None and (asking is None or polar.start() < asking.start()):
        return Expected(form="polar")
    if asking is None:
        return Expected(form="statement")
    at = next((index for index, word in enumerate(words) if word.start >= asking.start()), len(words))
    word, following = asking[0], words[at + 1].text if at + 1 < len(words) else ""
    if word == "how":
        return _how(text, words, at, following)
    if word in ("what", "which"):
        return _what(text, words, at, following)
    forms: dict[str, Form] = {"why": "reason", "when": "year", "where": "statement"}
    return Expected(form=forms.get(word, "person"))


def _how(text: str, words: tuple[Token, ...], at: int, following: str) -> Expected:
    if following in ("many", "much"):
        return Expected(form="number", asked=_noun_phrase(text, words, at + 2))
    return Expected(form="number" if following in _SIZED else "manner")


def _what(text: str, words: tuple[Token, ...], at: int, following: str) -> Expected:
    equates = following in ("is", "are", "was", "were")
    if not equates and following in _AUXILIARY:
        return Expected(form="statement")
    asked = _noun_phrase(text, words, at + 2 if equates else at + 1)
    if equates and asked and max(asked) == len(words) - 1:
        return Expected(form="definition")
    kinds = frozenset(index for index in asked if words[index].text in _CARRIERS | _YEARS)
    return Expected(form=_form(words, asked), asked=asked - kinds)


def _form(words: tuple[Token, ...], asked: frozenset[int]) -> Form:
    texts = [words[index].text for index in sorted(asked)]
    if not texts:
        return "statement"
    carriers = set(texts) & {"number", "percentage", "proportion", "fraction", "share", "amount", "count", "value"}
    if texts[-1] in _MEASURES or carriers:
        return "number"
    if texts[-1] in _YEARS:
        return "year"
    if texts[-1] in _PERSONS:
        return "person"
    if "reason" in texts[-1] or texts[-1] in ("motivation", "purpose", "goal", "aim"):
        return "reason"
    return "list" if _PLURAL.fullmatch(texts[-1]) else "name"


def _noun_phrase(text: str, words: tuple[Token, ...], first: int) -> frozenset[int]:
    """The words from `first` on that make up a noun phrase, function words left out."""
    found: list[int] = []
    for index in range(first, len(words)):
        word = words[index].text
        if found and _BREAK.search(text[words[index - 1].end : words[index].start]):
            break
        carried = words[index - 1].text in _CARRIERS and all(words[other].text in _CARRIERS for other in found)
        if word == "of" and carried:
            continue
        named = [other for other in found if words[other].text not in _COUNTS]
        if word in _ENDS or (named and _PARTICIPLE.fullmatch(word)) or len(found) == _MOST:
            break
        if word not in FUNCTION_WORDS and not words[index].sign:
            found.append(index)
    return frozenset(found)
