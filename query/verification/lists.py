"""How many items the lists of a text have."""

import re
from collections.abc import Iterator

from paperscope_core.text.sentences import split_sentences

__all__ = ["counted_lists", "list_sizes", "without_enumerators"]

_BULLET = re.compile(r"(?m)^[^\S\n]*+[-*\u2022][^\S\n]+")
_NUMBERED = re.compile(r"(?m)^[^\S\n]*+(?P<number>\d{1,3})[.)][^\S\n]")
_INLINE = re.compile(r"(?<!\w)\((?P<number>\d{1,3})\)(?=\s)")
_INNER = re.compile(r"\([^()]*\)")
_BRACKETS = re.compile(r"\(([^()]*)\)")
_SEPARATOR = re.compile(r"(?P<mark>[,;])\s+(?:(?P<last>and|or|&)\s+)?|\s(?P<joined>and|or|&)\s")
# A number whose noun is followed by the list of what it counts: "8 tasks: A, B", "8 tasks (A, B)", "8 tasks are A, B".
_COUNTED = re.compile(
    r"(?<![\w.,/+-])(?P<number>\d{1,3})(?:\s+[^\W\d][\w-]*){0,8}?(?:\s*(?P<mark>:)|\s*(?P<open>\()|\s+(?:are|were)\s)"
)
_LEAST_ITEMS = 3


def list_sizes(text: str) -> set[int]:
    """Return the numbers of items of the lists in a text: bullets, numbered items, words between commas.

    A sentence whose list is not marked by a colon or brackets counts as a whole, with the words before the list in its
    first item.
    """
    return {*_block_sizes(text), *(size for sentence in split_sentences(text) for size in _sizes(sentence))}


def counted_lists(text: str) -> set[int]:
    """Return the numbers that a text states with as many listed items: "8 tasks: A, B, …"."""
    blocks = set(_block_sizes(text))
    found = set[int]()
    for sentence in split_sentences(text):
        counts = list(_COUNTED.finditer(sentence))
        ends = [*(match.start() for match in counts[1:]), len(sentence)]
        for match, end in zip(counts, ends, strict=False):
            behind = sentence[match.end() : end]
            items = behind.partition(")")[0] if match["open"] else behind
            above = match["mark"] and (not behind or behind[0] == "\n")
            found |= {int(match["number"])} & (blocks if above else {_run_size(items)})
    # Any text is a list of one item.
    return found - {1}


def without_enumerators(text: str) -> str:
    """Return the text without the numbers of its items: "1." at the start of lines, "(1)", if they count up from 1."""
    for pattern in (_NUMBERED, _INLINE):
        parts, at = list[str](), 0
        for match in _counting(pattern, text):
            parts.append(text[at : match.start()])
            at = match.end()
        text = " ".join((*parts, text[at:]))
    return text


def _counting(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the matches whose numbers count up from 1 to 2 or more."""
    found: list[re.Match[str]] = []
    run: list[re.Match[str]] = []
    for match in pattern.finditer(text):
        number = int(match["number"])
        if number == 1:
            found += run if len(run) > 1 else []
            run = []
        run += [match] if number == len(run) + 1 else []
    return found + (run if len(run) > 1 else [])


def _block_sizes(text: str) -> Iterator[int]:
    bullets = len(_BULLET.findall(text))
    yield from [bullets] if bullets > 1 else []
    yield from _ends(_NUMBERED, text)
    yield from _ends(_INLINE, text)


def _ends(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    """Yield the last number of each run that counts up from 1."""
    last = 0
    for match in _counting(pattern, text):
        number = int(match["number"])
        if number == 1 and last:
            yield last
        last = number
    if last:
        yield last


def _sizes(sentence: str) -> Iterator[int]:
    plain = _INNER.sub(" ", sentence)
    before, colon, behind = plain.partition(":")
    parts = [behind if colon else before, *_BRACKETS.findall(sentence)]
    yield from (size for part in parts if (size := _run_size(part)) >= _LEAST_ITEMS)


def _run_size(text: str) -> int:
    """Return the number of items between commas (or semicolons, if there are any), the last of which may follow
    "and"."""
    plain = _INNER.sub(" ", text)
    mark = ";" if ";" in plain else ","
    marks = [match for match in _SEPARATOR.finditer(plain) if match["mark"] == mark or match["joined"]]
    commas = [at for at, match in enumerate(marks) if match["mark"]]
    last = commas[-1] if commas else -1
    oxford = last >= 0 and marks[last]["last"] is not None
    joined = not oxford and len(marks) > last + 1
    return len(commas) + 1 + joined
