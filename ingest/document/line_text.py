"""Joins printed lines over hyphens and broken addresses, and formats superscripts and subscripts."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

__all__ = ["Vocabulary", "join_lines", "script_text", "vocabulary_of"]

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_BROKEN = re.compile(r"([^\W_]+(?:-[^\W_]+)*)[-\u2010]$")
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

_RAISED = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")


@dataclass(frozen=True, kw_only=True, slots=True)
class Vocabulary:
    """The paper's own words in lower case, and its hyphenated pairs of words."""

    words: Counter[str] = field(default_factory=Counter)
    pairs: frozenset[tuple[str, str]] = frozenset()


def vocabulary_of(lines: Iterable[str]) -> Vocabulary:
    """Returns the vocabulary of consecutive lines; the halves of a word broken at a line's end don't count."""
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
    """Joins lines into one text, restoring addresses and ranges of numbers that are broken at a line's end.

    A hyphen at a line's end is removed if the joined word occurs in the paper. It is kept if the paper hyphenates the
    pair, if the next word is not in lower case, next to a name of capitals or digits or a compound, or if both halves
    are words of the paper.
    """
    known = vocabulary or Vocabulary()
    text = ""
    for line in lines:
        broken = _BROKEN.search(text)
        if not text or _is_broken_address_or_range(text, line):
            text += line
        elif not broken:
            text = f"{text} {line}"
        elif _keeps_hyphen(broken[1], line, known):
            text += line
        else:
            text = text[:-1] + line
    return text


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
    """Whether the letters alone show that two parts are not halves of one word (`F1-Score`, `A3-B4`)."""
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
    """Whether a line's end breaks an address (`https://a.org/` `b`), a range (`105–` `114`), or a volume and its pages
    (`45(1):` `1–26`)."""
    if _RANGE.search(text):
        return line[:1].isdecimal()
    if _VOLUME.search(text):
        return bool(_PAGES.match(line))
    address = _ADDRESS.search(text)
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


def script_text(text: str, *, raised: bool) -> str:
    """A superscript or subscript as text: `²` and `₁` if Unicode has the letters, otherwise `^k`, `_ij`, `^(k,l)`.

    Marks such as † stay as they are.
    """
    table = _RAISED if raised else _LOWERED
    if all(ord(letter) in table for letter in text):
        return text.translate(table)
    if not any(letter.isalnum() for letter in text) or text[0] in "±(":
        return text
    sign = "^" if raised else "_"
    return f"{sign}{text}" if text.isalnum() else f"{sign}({text})"
