"""Short forms and the long forms that a paper itself gives for them.

After A. S. Schwartz and M. A. Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical
text", Pacific Symposium on Biocomputing 8 (2003), pp. 451-462; reading a short form's letters from right to left.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Definition", "definitions", "long_form"]

_BRACKETS = re.compile(r"[(\[]([^()\[\]]{2,120})[)\]]")
_REMARK = re.compile(
    r"""^(?: i\.\s?e\.,? | short\ for | abbreviated(?:\ as)? | denoted(?:\ as|\ by)? | hereafter
      | or | called | the | an? | = )\s+
      | ,?\ for\ short$""",
    re.IGNORECASE | re.VERBOSE,
)
_FOR_SHORT = re.compile(r"[)\]]?,? for short\b")


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """A short form and its long form, both as they stand in the text."""

    short: str
    long: str


def definitions(text: str) -> Iterator[Definition]:
    """Each "long form (SF)" and "SF (long form)" in one sentence or caption."""
    for match in _BRACKETS.finditer(text):
        inside = _REMARK.sub("", re.split(r"[,;]\s", match[1])[0].strip().strip("\"'\u201c\u201d"))
        left = _left_context(text[: match.start()])
        found = _forward(left, inside) or _reversed(left, inside)
        if found is None and _FOR_SHORT.search(text[match.start() : match.end() + 11]):
            found = _declared(left, inside)
        if found:
            yield found


def long_form(short: str, text: str) -> str | None:
    """The shortest tail of `text` that spells `short`, or None.

    Each letter or digit of `short`, from the last to the first, must be found in `text` from right to left, the first
    one at the beginning of a word.
    """
    position = len(text)
    for index in range(len(short) - 1, -1, -1):
        character = short[index].casefold()
        if not character.isalnum():
            continue
        position -= 1
        while position >= 0 and (
            text[position].casefold() != character or (index == 0 and position > 0 and text[position - 1].isalnum())
        ):
            position -= 1
        if position < 0:
            return None
    return text[text.rfind(" ", 0, position + 1) + 1 :] if position < len(text) else None


def _forward(left: str, inside: str) -> Definition | None:
    for short in dict.fromkeys((inside, _singular(inside))):
        if not _is_short_form(short):
            continue
        words = left.split()
        reach = min(len(short) + 5, len(short) * 2)
        candidate = long_form(short, " ".join(words[-reach:]))
        if candidate is not None and _is_long_form(candidate, short):
            return Definition(short=inside, long=_without_head(candidate.strip(" ,."), short))
    return None


def _reversed(left: str, inside: str) -> Definition | None:
    """The bracket holds the long form: it must begin there, so that no stray remark is taken for one."""
    before = left.split()[-1:]
    for short in dict.fromkeys((before[0], _singular(before[0]))) if before else ():
        if not _is_short_form(short) or len(inside.split()) < 2:
            continue
        candidate = long_form(short, inside)
        if candidate == inside and _is_long_form(candidate, short):
            return Definition(short=before[0], long=inside)
    return None


def _declared(left: str, short: str) -> Definition | None:
    """What is called so "for short" need not spell it: from the last word with its initial, within the clause."""
    words = re.split(r",\s", left)[-1].split()
    starts = [number for number, word in enumerate(words) if word[0].casefold() == short[0].casefold()]
    if not starts or not _is_short_form(short):
        return None
    long = " ".join(words[starts[-1] :])
    return Definition(short=short, long=long) if _is_long_form(long, short) else None


def _left_context(text: str) -> str:
    """The words before a bracket, back to the last sign that a long form can't cross."""
    return re.split(r"[;:()\[\]]", text)[-1].strip().strip("\"'\u201c\u201d")


def _is_short_form(text: str) -> bool:
    """Two to ten characters, two words at most, a capital in it, beginning with a letter or digit."""
    return (
        2 <= len(text) <= 10
        and len(text.split()) <= 2
        and text[0].isalnum()
        and any(character.isupper() for character in text)
        and not text[1:].islower()
    )


def _is_long_form(candidate: str, short: str) -> bool:
    words = candidate.replace("-", " ").split()
    letters = sum(character.isalnum() for character in short)
    return (
        len(candidate) > len(short)
        and len(words) <= min(letters + 5, letters * 2)
        and short.casefold() not in (word.casefold().strip(",.") for word in words)
        and candidate[0].isalnum()
    )


def _without_head(candidate: str, short: str) -> str:
    """`word error rate metric` for WER ends before the head that its letters don't spell."""
    shorter = candidate.rpartition(" ")[0]
    initials = "".join(word[0] for word in re.findall(r"\w+", shorter))
    return shorter if initials.casefold() == short.casefold() else candidate


def _singular(short: str) -> str:
    """`CRFs` without its plural ending."""
    return short[:-1] if len(short) > 2 and short.endswith("s") and short[-2].isupper() else short
