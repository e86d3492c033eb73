"""Joins lines into one text: hyphens that only break a word go, genuine ones stay."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

__all__ = ["Vocabulary", "is_cut_at_line_end", "join_lines", "vocabulary_of"]


_ADDRESS = re.compile(r"(?:https?:(?://\S*)?|www\.\S*|\bdoi\.org/\S*|\b10\.(?:\d{4,9}/\S*)?)$")
_RANGE = re.compile(r"\d\s?–$")
_VOLUME = re.compile(r"\d\)?:$")
_PAGES = re.compile(r"\d+\s?[–-]\s?\d|\d+,? (?:19|20)\d{2}\b")
_LAST_WORD = re.compile(r"[^\W\d_]+[.,;)]*$|[^\W\d_]+[.,;)](?:\s|$)")


def is_cut_at_line_end(text: str, line: str) -> bool:
    """Whether the end of a text and the line that follows are one word: an address (`https://a.org/` `b`), a range
    (`105–` `114`), or a volume and its pages (`45(1):` `1–26`)."""
    if _RANGE.search(text):
        return line[:1].isdecimal()
    if _VOLUME.search(text):
        return bool(_PAGES.match(line))
    address = _ADDRESS.search(text)
    return bool(address and line.strip() and _goes_on(address[0], line))


def _goes_on(address: str, line: str) -> bool:
    """Whether a line begins with the rest of an address that the line before broke."""
    head = line.split(maxsplit=1)[0]
    core = head.strip(".,;:()[]")
    if address[-1] in "-_=?&#%~:":
        return True
    if address[-1] == "/":
        return not core.isalpha() or bool(core.islower() and _LAST_WORD.match(line))
    if address[-1] == ".":
        named = core[:1].isdecimal() or core[:1].islower()
        return named and (any(sign in core for sign in "/._-") or (core.isdecimal() and len(core) > 4))
    return head[0] in "/?=#&_%~" or any(sign in core for sign in "=?&_%")


_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_BROKEN = re.compile(r"([^\W_]+(?:-[^\W_]+)*)[-\u2010]$")
_HEAD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"[0-9]")
_FIRSTS = frozenset(("half", "self", "well"))
_PREFIXES = frozenset(("inter", "out", "over", "under", "up", "with"))
_SECONDS = frozenset(
    (
        "agnostic",
        "aware",
        "based",
        "compatible",
        "dependent",
        "driven",
        "independent",
        "oriented",
        "related",
        "specific",
    )
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
    """One text of lines in order; an address or a range of numbers that a line's end cuts is whole again.

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
        if is_cut_at_line_end(text, line):
            text += line
        elif not broken:
            text = f"{text} {line}"
        elif _genuine(broken[1], line, known):
            text += line
        else:
            text = text[:-1] + line
    return text


def _is_coded(word: str) -> bool:
    """A name of signs ("F1", "BERT", "RoBERTa") is whole as it stands; it isn't the first half of a word."""
    return any(sign.isdigit() for sign in word) or sum(sign.isupper() for sign in word[1:]) > 1


def _genuine(before: str, line: str, known: Vocabulary) -> bool:
    left = before.rpartition("-")[2]
    head = _HEAD.match(line)
    if not head or _parts_codes(left, head[0], line[head.end() :]):
        return True
    first, second = left.lower(), head[0].lower()
    if known.words[first + second]:
        return False
    compound = "-" in before or line[head.end() : head.end() + 1] == "-"
    return (first, second) in known.pairs or _are_two_words(left, head[0], known, compound=compound)


def _parts_codes(left: str, right: str, rest: str) -> bool:
    """Whether what a hyphen joins can't be halves of one word by their letters alone (`F1-Score`, `A3-B4`)."""
    if len(left) > 1 and left.isupper() and len(right) > 1 and right.isupper():
        return bool(_DIGIT.search(left) or _DIGIT.match(rest))
    return not right[0].islower()


def _are_two_words(left: str, right: str, known: Vocabulary, *, compound: bool) -> bool:
    first, second = left.lower(), right.lower()
    both = known.words[first] > 0 and known.words[second] > 0
    if right.isupper():
        return both
    if compound or first in _FIRSTS or _is_coded(left):
        return True
    if first in _PREFIXES:
        return False
    return (both and len(first) > 2 and len(second) > 3) or (known.words[first] > 0 and second in _SECONDS)
