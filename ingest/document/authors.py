"""Names of authors in entries of a bibliography."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["HEAD_END", "PARTICLES", "Authors", "authors_of"]

PARTICLES = frozenset("van von der den de da di del della dos du la le el al bin ten ter".split())
_YEAR = r"(?:(?:19|20)\d{2}|n\.\s?d\.)"
_JOIN = r"(?:and|et|van|von|de|der|den|da|del|la|le|di)\b"
HEAD_END = re.compile(
    rf"(?<![.,\s])[.,\s]*+(?P<bracket>[(\[])?\b{_YEAR}"  # the year
    r"|(?<=[^\W\d_]{2})(?<!\b[CKPSTZ]h)[.:]\s"  # a stop that is no initial's
    r"|[.,]\s(?=[“\"‘])"  # a title in quotation marks
    rf"|(?<=\s[A-Z])\.\s(?=[A-Z][a-z]+\s+(?!{_JOIN})[a-z])"  # "Li X, Wu Y. On the parsing"
)
_SEPARATOR = re.compile(r"( ?,? (?:and|&|et) (?!al\b)| ?[,;] ?(?:& )?| (?=et al\b))")
_MORE = re.compile(r"(?:et al|others|et alii)\.?", re.IGNORECASE)
_INITIALS = re.compile(r"(?:(?:[^\W\d_a-zß-ÿ]\.?|[CKPSTZ]h\.)[\s-]*){1,5}(?:\s(?:van|von|der|den|de|da|la|le|el|al))*")
_SUFFIX = re.compile(r"(?:Jr|Sr|II|III|IV)\.?")
_MAX_HEAD = 200  # The most letters that are searched for authors if nothing ends them.


@dataclass(frozen=True, kw_only=True, slots=True)
class Authors:
    """The surnames in order (a group's name is one); `more` is true if the entry ends with "et al."."""

    names: tuple[str, ...]
    more: bool = False

    @property
    def short(self) -> str:
        """The short form for citing: `Li`, `Li and Wu`, `Li et al.`; "" without names."""
        if self.more or len(self.names) > 2:
            return f"{self.names[0]} et al." if self.names else ""
        return " and ".join(self.names)


def authors_of(text: str) -> Authors:
    """Return the authors of an entry without its mark: everything before the year, the title or the first full stop.

    Reads `Li, X., Wu, Y.`, `Li, Xiaoya, and Yu Wu`, `Li X, Wu Y`, `X. Li and Y. Wu` and `Xiaoya Li and Yu Wu`. A single
    name before a year in parentheses is a group's if it has no initials.
    """
    text = " ".join(text.split())
    end = HEAD_END.search(text)
    head = text[: end.start()] + "." if end else text[:_MAX_HEAD]
    pieces = _SEPARATOR.split(head.strip(" ,("))
    parts = [piece for piece in pieces[::2] if piece.strip(" .") and not _SUFFIX.fullmatch(piece)]
    names = [part for part in parts if not _MORE.fullmatch(part)]
    if not names or not names[0][0].isalpha():
        return Authors(names=())
    if len(names) == 1 and end and end["bracket"] and not any(map(_is_given, names[0].split())):
        surnames = names
    else:
        surnames = _surnames(names, listed="," in "".join(pieces[1:2]))
    return Authors(names=tuple(name.strip(" .") for name in surnames), more=len(names) < len(parts))


def _surnames(parts: Sequence[str], *, listed: bool) -> list[str]:
    """Return the surnames among the parts of an author list; `listed` is true if a comma separates the first two."""
    if any(map(_is_given, parts[1:])) and not _is_given(parts[0]):
        return [part for part in parts if not _is_given(part)]
    words = [sum(not _is_given(word) and not _is_particle(word) for word in part.split()) for part in parts]
    plain = not any(map(_is_given, parts[0].split()))
    if listed and plain and words[0] == 1 and (len(parts) == 2 or words[1] == 1):
        every = len(parts) % 2 == 0 and all(count == 1 for count in words)
        return list(parts[::2]) if every else [parts[0], *map(_surname, parts[2:])]
    return [name for part in parts if (name := _surname(part))[0].isalpha()]


def _is_given(part: str) -> bool:
    """Return whether a part is initials of given names."""
    return bool(_INITIALS.fullmatch(part))


def _is_particle(word: str) -> bool:
    return word.lower() in PARTICLES


def _surname(part: str) -> str:
    """Return the surname of a full name, with its particles."""
    words = [word for word in part.strip(" .").split() if not _SUFFIX.fullmatch(word)] or [part]
    if len(words) > 1 and re.fullmatch(r"[A-Z](?:[A-Z.-]){0,5}", words[-1]) and words[0][1:2].islower():
        return " ".join(words[:-1])
    start = len(words) - 1
    while start > 1 and _is_particle(words[start - 1]):
        start -= 1
    return " ".join(words[start:])
