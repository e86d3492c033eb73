"""Joining lines: hyphens that only break a word go, genuine ones stay."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

__all__ = ["Vocabulary", "join_lines", "vocabulary_of"]

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_BROKEN = re.compile(r"([^\W_]+(?:-[^\W_]+)*)[-\u2010]$")
_HEAD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"[0-9]")
_ADDRESS = re.compile(r"\W*(?:https?://|www\.)\S+$")
_PATH = re.compile(r"[/._=?&%#~\d-]")
_INNER_PATH = re.compile(r"[/_=?&%#~]")
_PREFIXES = frozenset(("inter", "out", "over", "under", "up", "with"))
_SECONDS = frozenset(
    "agnostic aware based compatible dependent driven independent oriented related separated specific".split()
)


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
    """One text of lines in order; an address broken over lines is whole again.

    A hyphen at a line's end goes if the whole is a word of the paper. Else it stays if the paper writes the pair with
    one, if what follows isn't a lower-case word, if a name of capitals or digits or a compound stands beside it, or if
    both halves are words of the paper.
    """
    known = vocabulary or Vocabulary()
    text = ""
    for line in lines:
        if not text:
            text = line
            continue
        broken = _BROKEN.search(text)
        if _is_address(text.rpartition(" ")[2], line):
            text += line
        elif not broken:
            text = f"{text} {line}"
        elif _genuine(broken[1], line, known):
            text += line
        else:
            text = text[:-1] + line
    return text


def _is_address(last: str, line: str) -> bool:
    """Whether an address at a line's end goes on in the next line."""
    if not _ADDRESS.match(last):
        return False
    part = line.partition(" ")[0].rstrip(".,;:)]")
    if last.endswith("-"):
        return True
    return bool(_PATH.search(part) if last[-1] in "/_=?&%#~" else _INNER_PATH.search(part))


def _is_coded(word: str) -> bool:
    """A name of signs ("F1", "BERT", "RoBERTa") is whole as it stands; it isn't the first half of a word."""
    return any(sign.isdigit() for sign in word) or sum(sign.isupper() for sign in word[1:]) > 1


def _genuine(before: str, line: str, known: Vocabulary) -> bool:
    left = before.rpartition("-")[2]
    head = _HEAD.match(line)
    if not head or not _may_be_one(left, head[0], line[head.end() :]):
        return True
    first, second = left.lower(), head[0].lower()
    if known.words[first + second] or (first, second) in known.pairs:
        return not known.words[first + second]
    both = known.words[first] > 0 and known.words[second] > 0
    if head[0].isupper():
        return both
    if "-" in before or line[head.end() :].startswith("-") or _is_coded(left):
        return True
    if first in _PREFIXES:
        return False
    return (both and len(first) > 2 and len(second) > 3) or (known.words[first] > 0 and second in _SECONDS)


def _may_be_one(left: str, right: str, rest: str) -> bool:
    """Whether two parts may be of one word: the second is in small letters, or both are in capitals without digits."""
    if len(left) > 1 and left.isupper() and len(right) > 1 and right.isupper():
        return not _DIGIT.search(left) and not _DIGIT.match(rest)
    return right.islower()
