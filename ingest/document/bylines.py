"""The names of a paper's authors, from the lines below its title and from the file's metadata."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ingest.document.authors import PARTICLES

__all__ = ["author_names", "is_byline"]

_AFFILIATION = re.compile(
    r"universi[td]|institut|facult|scien(?:ce|za|cia)|hochschule|cole\b|department|school|college|laborator|academy|"
    r"research|cent(?:er|re|ro|rum)\b|inc\b|corp|ltd|gmbh|kingdom|"
    r"@|https?:|\.com|\.edu|\.org|hospital|group\b|team\b|\bai\b|street|avenue|\b(?:china|usa|germany|france)\b|"
    r"google|microsoft|meta\b|amazon|ibm\b|equal|correspond|contribut",
    re.IGNORECASE,
)
_COLLECTIVE = re.compile(
    r"(?:and |for |on behalf of )?(the [^,;]{3,60} (?:Group|Consortium|Collaboration|Network|Team|Investigators))",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_][\w.'’‐-]*(?:\s+[^\W\d_][\w.'’‐-]*){1,4}")
_MAX_NAME = 40  # Letters; longer runs of capitalized words are affiliations.
_SIGNS = "¹²³⁴⁵⁶⁷⁸⁹⁰*†‡§¶♠♣♦♥⋆∗⁎☆"
_MARK = re.compile(rf"\^\([^)]*\)|\^\w|[{_SIGNS}]+|(?<=[^\W\d_A-Z])\d+\b")
_BETWEEN_NAMES = re.compile(rf"(?:{_MARK.pattern}|[,;&]|\b(?:and|AND)\b|\s{{2,}})+")
_MARKED_AFFILIATION = re.compile(rf"(?:\d|[{_SIGNS}]|\^\w)+\s*[^\W\d_]")
_BRACKETED = re.compile(r"(?<!\^)\([^()]{0,300}(?:\)|$)")
_COPYRIGHT = re.compile(r"©[^\n]*")
_BY = re.compile(r"(?:by|written by)\b[:\s]*", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[^\W\d_a-zß-ÿ]\.?[\s-]*){1,4}")
_SUFFIX = re.compile(r"Jr\.?|Sr\.?|II|III|IV")
_DEGREE = re.compile(r"(?:[A-Z]{2,6}|(?:[A-Z][a-z]{0,2}\.){1,4}|[MP]h\.?D\.?|MSc|BSc)")


def author_names(lines: Sequence[str], *, metadata: str) -> tuple[str, ...]:
    """Return all names of a paper's authors, () if a part of them can't be read.

    The printed names are returned if they are sound and include those in the file's metadata, which often list the
    first author only; otherwise the names in the metadata, if they include the printed ones.

    Args:
        lines: The lines below the title, with two spaces where a gap separates names. After the first affiliation that
            begins with a mark, only names with a mark are read.
        metadata: The authors in the file's metadata, as written there.
    """
    printed, sound = _printed_names(lines)
    listed = _listed_names(metadata)
    if sound and printed and not _surnames(printed) < _surnames(listed):
        return printed
    return listed if _surnames(printed) <= _surnames(listed) else ()


def is_byline(text: str) -> bool:
    """Return whether a line below a title has the names of authors only; a name may be broken at its ends."""
    text = _BRACKETED.sub(";", text)
    if _AFFILIATION.search(text) and not _COLLECTIVE.search(text):
        return False
    segments = _segments(text)
    named = [each for each in segments if _is_name(each)]
    return bool(named) and all(
        each in named or _is_fragment(each) if at in (0, len(segments) - 1) else each in named or _is_addition(each)
        for at, each in enumerate(segments)
    )


def _surnames(names: Iterable[str]) -> set[str]:
    return {
        next((word for word in reversed(name.casefold().split()) if not _SUFFIX.fullmatch(word.title())), "")
        for name in names
    }


def _listed_names(metadata: str) -> tuple[str, ...]:
    """Return the names that metadata list, () for any other text, such as the name of a program.

    Reads `Ann Bee, Carl Doe and Eve Fox`, `Bee, Ann; Doe, Carl` and `Bee, A.`.
    """
    text = re.sub(r"(?<!\s)\s*<[^<>]*>", "", metadata)
    if ";" in text or (text.count(",") == 1 and _INITIALS.fullmatch(text.split(",")[1].strip())):
        people = [" ".join(part.strip() for part in reversed(each.split(",", 1))) for each in text.split(";")]
    else:
        people = re.split(r",\s*(?:and\s+)?|(?<!\s)\s+and\s+", text)
    names = tuple(each.strip() for each in people if each.strip())
    return names if all(map(_NAME.fullmatch, names)) else ()


def _printed_names(lines: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Return the names in the lines below a title, and whether nothing else is between them."""
    text = _COPYRIGHT.sub("", _BRACKETED.sub(" ; ", "\n".join(lines)))
    rows: list[str] = []
    affiliated = marked = False
    for line in map(str.strip, text.split("\n")):
        if not any(letter.isalpha() for letter in line):
            continue
        begins_marked = bool(_MARKED_AFFILIATION.match(line))
        segments = _segments(line)
        marked = marked or begins_marked
        collective = not begins_marked and _COLLECTIVE.search(line)
        if not collective and (begins_marked or _AFFILIATION.search(line) or (marked and not _MARK.search(line))):
            affiliated = True
        elif affiliated and not marked and not all(map(_is_name, segments)):
            continue  # An address.
        elif any(map(_is_name, segments)) or collective or all(map(_is_fragment, segments)):
            rows.append(line)
    return _names_in(_joined(rows))


def _joined(rows: Sequence[str]) -> str:
    """Join lines; a name may be broken between two of them."""
    parts = list(rows[:1])
    for last, row in pairwise(rows):
        ends = _BETWEEN_NAMES.split(last)[-1].strip(), _BETWEEN_NAMES.split(row)[0].strip()
        broken = bool(ends[0]) and not all(_is_name(each) and not each.endswith(".") for each in ends)
        parts.append(f" {row}" if broken else f"  {row}")
    return "".join(parts)


def _names_in(text: str) -> tuple[tuple[str, ...], bool]:
    names: list[str] = []
    surname, sound = "", True  # A surname that its initials follow.
    for segment in _segments(text):
        if collective := _COLLECTIVE.fullmatch(segment):
            names.append(collective[1])
        elif _SUFFIX.fullmatch(segment) and names:
            names[-1] += f" {segment}"
        elif surname and _INITIALS.fullmatch(segment):
            names.append(f"{segment} {surname}")
            surname = ""
        elif names and _DEGREE.fullmatch(segment):
            continue
        elif _is_name(segment):
            names.append(segment)
        elif _is_fragment(segment) and not surname:
            surname = segment
        else:
            sound = False
    return tuple(dict.fromkeys(names)), sound and not surname


def _segments(text: str) -> list[str]:
    """Return what is between separators and marks, without an initial "By"."""
    parts = (part.strip(" ·|,:") for part in _BETWEEN_NAMES.split(_BY.sub("", text.strip(), count=1)))
    return [part for part in parts if any(map(str.isalpha, part))]


def _is_name(text: str) -> bool:
    """Return whether a text is several capitalized words and particles, one of them more than initials."""
    words = text.split()
    return (
        bool(_NAME.fullmatch(text))
        and len(text) < _MAX_NAME
        and text[0].isupper()
        and all(word[0].isupper() or word.lower() in PARTICLES for word in words)
        and not _INITIALS.fullmatch(text)
    )


def _is_fragment(text: str) -> bool:
    """Return whether a text may be a part of a name: a capitalized word, or initials."""
    return text[0].isupper() and (" " not in text or bool(_INITIALS.fullmatch(text)))


def _is_addition(text: str) -> bool:
    return bool(_SUFFIX.fullmatch(text) or _DEGREE.fullmatch(text))
