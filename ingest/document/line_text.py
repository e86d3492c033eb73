"""Joins printed lines over hyphens and broken addresses."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

__all__ = ["Vocabulary", "join_lines", "joined_parts", "vocabulary_of"]

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
# A word read backwards from the hyphen after it; from the front, every letter of a long word would begin a search.
_BROKEN = re.compile(r"[-\u2010]([^\W_]++(?:-[^\W_]++)*+)")
_HEAD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"[0-9]")
# Words hyphenated with the next one ("self-supervised"), words that aren't ("under-graduate" is a line break), and
# words hyphenated with the previous one ("task-specific"); collected from compounds at line ends in the development
# papers.
_HYPHENATED_FIRST = frozenset(("half", "self", "well"))
_PREFIXES = frozenset(("inter", "out", "over", "under", "up", "with"))
_HYPHENATED_SECOND = frozenset(
    "agnostic aware based compatible dependent driven independent oriented related specific".split()
)

_ADDRESS = re.compile(r"(?:https?:(?://\S*)?|www\.\S*|\bdoi\.org/\S*|\b10\.(?:\d{4,9}/\S*)?)$")
_RANGE = re.compile(r"\d\s?–$")
_VOLUME = re.compile(r"\d\)?:$")
_PAGES = re.compile(r"\d+\s?[–-]\s?\d|\d+,? (?:19|20)\d{2}\b")
_LAST_WORD = re.compile(r"[^\W\d_]+[.,;)]*$|[^\W\d_]+[.,;)](?:\s|$)")
# How much of the text before a line's end is looked at, so that joining takes time in proportion to the text.
_LONGEST_END = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Vocabulary:
    """The paper's own words in lower case, and its hyphenated pairs of words."""

    words: Counter[str] = field(default_factory=Counter)
    pairs: frozenset[tuple[str, str]] = frozenset()


def vocabulary_of(lines: Iterable[str]) -> Vocabulary:
    """Return the vocabulary of consecutive lines; the halves of a word broken at a line's end don't count."""
    words: Counter[str] = Counter()
    pairs: set[tuple[str, str]] = set()
    broken = False
    for line in lines:
        whole = _HEAD.sub("", line, count=1) if broken else line
        whole = whole[: len(whole) - len(_broken_word(whole)) - 1] if _broken_word(whole) else whole
        broken = bool(_broken_word(line))
        for match in _WORD.finditer(whole):
            parts = match[0].lower().split("-")
            words[match[0].lower()] += 1
            if len(parts) > 1:
                words.update(parts)
            pairs.update(pairwise(parts))
    return Vocabulary(words=words, pairs=frozenset(pairs))


def join_lines(lines: Iterable[str], vocabulary: Vocabulary | None = None) -> str:
    """Join lines into one text; see `joined_parts`."""
    return "".join(joined_parts(lines, vocabulary))


def joined_parts(lines: Iterable[str], vocabulary: Vocabulary | None = None) -> list[str]:
    """Return what each line adds to their joined text, in which addresses and ranges broken at a line's end are
    restored.

    A hyphen at a line's end is removed if the joined word occurs in the paper. It is kept if the paper hyphenates the
    pair, if the next word is not in lower case, next to a name of capitals or digits or a compound, or if both halves
    are words of the paper.
    """
    known = vocabulary or Vocabulary()
    pieces: list[str] = []
    end = ""
    for line in lines:
        broken = _broken_word(end)
        piece = line
        if end and not _is_broken_address_or_range(end, line):
            if not broken:
                piece = f" {line}"
            elif not _keeps_hyphen(broken, line, known):
                last = next(at for at in reversed(range(len(pieces))) if pieces[at])
                pieces[last] = pieces[last][:-1]
                end = end[:-1]
        pieces.append(piece)
        end = (end + piece)[-_LONGEST_END:]
    return pieces


def _broken_word(text: str) -> str:
    """Return the word before a hyphen at the end of the text, "" if there is none."""
    if text[-1:] not in ("-", "\u2010"):
        return ""
    match = _BROKEN.match(text[: -_LONGEST_END - 1 : -1])
    return match[1][::-1] if match else ""


def _keeps_hyphen(before: str, line: str, known: Vocabulary) -> bool:
    left = before.rpartition("-")[2]
    head = _HEAD.match(line)
    if not head or _are_codes(left, head[0], line[head.end() :]):
        return True
    first, second = left.lower(), head[0].lower()
    if known.words[first + second]:
        return False
    compound = "-" in before or line[head.end() : head.end() + 1] == "-"
    return (first, second) in known.pairs or _are_two_words(left, head[0], known, compound=compound)


def _are_codes(left: str, right: str, rest: str) -> bool:
    """Return whether the letters alone show that two parts are not halves of one word (`F1-Score`, `A3-B4`)."""
    if len(left) > 1 and left.isupper() and len(right) > 1 and right.isupper():
        return bool(_DIGIT.search(left) or _DIGIT.match(rest))
    return not right[0].islower()


def _are_two_words(left: str, right: str, known: Vocabulary, *, compound: bool) -> bool:
    first, second = left.lower(), right.lower()
    both = known.words[first] > 0 and known.words[second] > 0
    if right.isupper():
        return both
    # A name such as "F1", "BERT" or "RoBERTa" is not the first half of a word.
    coded = any(sign.isdigit() for sign in left) or sum(sign.isupper() for sign in left[1:]) > 1
    if compound or first in _HYPHENATED_FIRST or coded:
        return True
    if first in _PREFIXES:
        return False
    return (both and len(first) > 2 and len(second) > 3) or (known.words[first] > 0 and second in _HYPHENATED_SECOND)


def _is_broken_address_or_range(text: str, line: str) -> bool:
    """Return whether a line's end breaks an address (`https://a.org/` `b`), a range (`105–` `114`), or a volume and its
    pages (`45(1):` `1–26`)."""
    if _RANGE.search(text):
        return line[:1].isdecimal()
    if _VOLUME.search(text):
        return bool(_PAGES.match(line))
    # An address has no spaces.
    address = None if text[-1].isspace() else _ADDRESS.search(text.rsplit(maxsplit=1)[-1])
    return bool(address and line.strip() and _continues_address(address[0], line))


def _continues_address(address: str, line: str) -> bool:
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
