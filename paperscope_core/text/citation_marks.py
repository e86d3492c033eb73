"""Finds where an answer's text states its claims, so that their numbers can be put there."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from paperscope_core.text.sentences import split_sentences

__all__ = ["place_marks", "split_at_marks"]

# A claim that shares less with every sentence is not marked.
_MIN_SHARE = 0.4
# Of a number of several digits: two sentences rarely share one by chance.
_NUMBER_WEIGHT = 4.0
_SHORT_WORD_LENGTH, _SHORT_WORD_WEIGHT = 4, 0.25
_SEVERAL_DIGITS = re.compile(r"\d\D?\d")
# A character of a script without spaces is a word, and so is a number with its separators.
_UNSPACED = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_WORD = re.compile(rf"{_UNSPACED}|(?:(?!{_UNSPACED})\w)+(?:[.,'’](?:(?!{_UNSPACED})\w)+)*")
_PART_END = re.compile(r"[,;:)](?!\d)|\s(?:and|but|while|whereas)\s|[.!?]$")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sentence:
    """A sentence of the text: where it ends, and the end of each of its words."""

    end: int
    words: tuple[tuple[str, int], ...]


def place_marks(text: str, claims: Sequence[str]) -> list[int | None]:
    """Return the place in the text at which the mark of each claim belongs; None for a claim that it does not state.

    A claim that occurs in the text is marked at its end. A language model writes its claims separately from its text:
    such a claim is marked in the sentence that shares most words with it. Several claims of one sentence are marked
    at the ends of their parts of it.

    >>> place_marks("The rank is 256. The alpha is 512.", ["The rank is 256.", "An alpha of 512", "Nothing"])
    [16, 34, None]
    """
    sentences = list(_sentences(text))
    marks = [_end_of(text, claim) for claim in claims]
    shared: dict[_Sentence, dict[int, frozenset[str]]] = {}
    for index, claim in enumerate(claims):
        words = frozenset(word.group().lower() for word in _WORD.finditer(claim))
        if marks[index] is None and (best := _most_alike(sentences, words)):
            shared.setdefault(best, {})[index] = words
    for sentence, group in shared.items():
        for index, words in group.items():
            others = frozenset().union(*(other for at, other in group.items() if at != index))
            marks[index] = _part_end(text, sentence, words - others) if len(group) > 1 else sentence.end
    return marks


def split_at_marks(text: str, marks: Sequence[int | None]) -> Iterator[tuple[str, list[int]]]:
    """Yield the text in parts, each with the claims (from 0) whose marks follow it."""
    start = 0
    for end in sorted({mark for mark in marks if mark is not None}):
        yield text[start:end], [claim for claim, mark in enumerate(marks) if mark == end]
        start = end
    if start < len(text):
        yield text[start:], []


def _end_of(text: str, claim: str) -> int | None:
    """Return the end of the claim in the text, whatever its white space."""
    words = claim.split()
    found = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    return found.end() if found else None


def _sentences(text: str) -> Iterator[_Sentence]:
    at = 0
    for line in text.splitlines():
        for sentence in split_sentences(line):
            at = text.index(sentence, at)
            words = tuple((word.group().lower(), at + word.end()) for word in _WORD.finditer(sentence))
            at += len(sentence)
            if words:
                yield _Sentence(end=at, words=words)


def _most_alike(sentences: Sequence[_Sentence], words: Collection[str]) -> _Sentence | None:
    total, best, most = _weight(words), None, 0.0
    for sentence in sentences:
        has = {word for word, _ in sentence.words}
        share = _weight([word for word in words if word in has]) / total if total else 0.0
        if share > most:
            best, most = sentence, share
    return best if most >= _MIN_SHARE else None


def _part_end(text: str, sentence: _Sentence, own: Collection[str]) -> int:
    """Return the end of the part of a sentence that has the claim's own words, which no other claim of the sentence
    has."""
    ends = [end for word, end in sentence.words if word in own and _word_weight(word) > _SHORT_WORD_WEIGHT]
    stop = _PART_END.search(text[: sentence.end], max(ends)) if ends else None
    if stop is None:
        return sentence.end
    return stop.start() if stop.group()[0].isspace() else stop.start() + 1


def _weight(words: Collection[str]) -> float:
    return sum(map(_word_weight, words))


def _word_weight(word: str) -> float:
    if _SEVERAL_DIGITS.search(word):
        return _NUMBER_WEIGHT
    return _SHORT_WORD_WEIGHT if len(word) < _SHORT_WORD_LENGTH else 1.0
