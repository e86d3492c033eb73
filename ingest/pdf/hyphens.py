"""Joining lines: hyphens that only break a word go, genuine ones stay."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from ingest.pdf.line_ends import is_cut

__all__ = ["Vocabulary", "join_lines", "vocabulary_of"]

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_BROKEN = re.compile(r"([^\W_]+(?:-[^\W_]+)*)[-\u2010]$")
_HEAD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Vocabulary:
    """The paper's own words in lower case, and its pairs that are written with a hyphen."""

    words: Counter[str] = field(default_factory=Counter)
    pairs: frozenset[tuple[str, str]] = frozenset()


def vocabulary_of(lines: Iterable[str]) -> Vocabulary:
    """What the lines, in order, print inside themselves; neither half of a word broken at a line's end counts."""
    words: Counter[str] = Counter()
    pairs: set[tuple[str, str]] = set()
    broken = False
    for line in lines:
        whole = _BROKEN.sub("", _HEAD.sub("", line, count=1) if broken else line)
        broken = bool(_BROKEN.search(line))
        for match in _WORD.finditer(whole):
            parts = match[0].lower().split("-")
            words[match[0].lower()] += 1
            if len(parts) > 1:
                words.update(parts)
            pairs.update(pairwise(parts))
    return Vocabulary(words=words, pairs=frozenset(pairs))


def join_lines(lines: Iterable[str], vocabulary: Vocabulary | None = None) -> str:
    """One text of lines in order. A hyphen at a line's end stays if the paper writes the pair with one, if what
    follows isn't a lower-case word, if a name of capitals or digits precedes it, or if both halves but not the whole
    are words of the paper. An address or a range of numbers that a line's end cuts is joined as it stands."""
    known = vocabulary or Vocabulary()
    text = ""
    for line in lines:
        if not text:
            text = line
            continue
        broken = _BROKEN.search(text)
        if is_cut(text, line):
            text += line
        elif not broken:
            text = f"{text} {line}"
        elif _genuine(broken[1].split("-")[-1], line, known):
            text += line
        else:
            text = text[:-1] + line
    return text


def _is_coded(word: str) -> bool:
    """A name of signs ("F1", "BERT", "RoBERTa") is whole as it stands; it isn't the first half of a word."""
    return any(sign.isdigit() for sign in word) or sum(sign.isupper() for sign in word[1:]) > 1


def _genuine(left: str, line: str, known: Vocabulary) -> bool:
    head = _HEAD.match(line)
    if head and head[0].isupper() and len(head[0]) > 1 and left.isupper() and len(left) > 1:
        return False
    if not head or not head[0].islower():
        return True
    first, second = left.lower(), head[0]
    whole = first + second
    if known.words[whole]:
        return False
    if (first, second) in known.pairs or _is_coded(left):
        return True
    return known.words[first] > 0 and known.words[second] > 0 and len(first) > 2 and len(second) > 3
