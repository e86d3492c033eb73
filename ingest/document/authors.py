"""Names of authors, in every style of bibliographies."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["HEAD_END", "Authors", "authors_of"]


_YEAR = r"(?:(?:19|20)\d{2}|n\.\s?d\.)"
_JOIN = r"(?:and|et|van|von|de|der|den|da|del|la|le|di)\b"
HEAD_END = re.compile(
    rf"(?<![.,\s])[.,\s]*+(?P<bracket>[(\[])?\b{_YEAR}"  # the year
    r"|(?<=[^\W\d_]{2})(?<!\b[CKPSTZ]h)[.:]\s"  # a stop that is no initial's
    r"|[.,]\s(?=[“\"‘])"  # a title in quotation marks
    rf"|(?<=\s[A-Z])\.\s(?=[A-Z][a-z]+\s+(?!{_JOIN})[a-z])"  # "Li X, Wu Y. On the parsing"
)
_SEPARATOR = re.compile(r"(\s*,?\s+(?:and|&|et)\s+(?!al\b)|\s*[,;]\s*(?:&\s+)?|\s+(?=et al\b))")
_MORE = re.compile(r"(?:et al|others|et alii)\.?", re.IGNORECASE)
_PARTICLE = r"(?i:van|von|der|den|de|da|di|del|della|dos|du|la|le|el|al|bin|ten|ter)"
_INITIALS = re.compile(r"(?:(?:[^\W\d_a-zß-ÿ]\.?|[CKPSTZ]h\.)[\s-]*){1,5}(?:\s(?:van|von|der|den|de|da|la|le|el|al))*")
_SUFFIX = re.compile(r"(?:Jr|Sr|II|III|IV)\.?")
_LONGEST_HEAD = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Authors:
    """The surnames in order (a group's name is one); `more` if the entry says that there are others."""

    names: tuple[str, ...]
    more: bool = False

    @property
    def short(self) -> str:
        """As a text cites them: `Li`, `Li and Wu`, `Li et al.`; "" without names."""
        if self.more or len(self.names) > 2:
            return f"{self.names[0]} et al." if self.names else ""
        return " and ".join(self.names)


def authors_of(text: str) -> Authors:
    """The authors of an entry without its mark: what stands before the year, the title or the first full stop.

    Read are `Li, X., Wu, Y.`, `Li, Xiaoya, and Yu Wu`, `Li X, Wu Y`, `X. Li and Y. Wu` and `Xiaoya Li and Yu Wu`; one
    name before a year in parentheses is a group's if it has no initials.
    """
    text = " ".join(text.split())
    end = HEAD_END.search(text)
    head = text[: end.start()] + "." if end else text[:_LONGEST_HEAD]
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
    """The surnames among the parts of a head; `listed` if a comma stands between the first two."""
    if any(map(_is_given, parts[1:])) and not _is_given(parts[0]):
        return [part for part in parts if not _is_given(part)]
    words = [_full_words(part) for part in parts]
    plain = not any(map(_is_given, parts[0].split()))
    if listed and plain and words[0] == 1 and (len(parts) == 2 or words[1] == 1):
        every = len(parts) % 2 == 0 and all(count == 1 for count in words)
        return list(parts[::2]) if every else [parts[0], *map(_surname, parts[2:])]
    return [name for part in parts if (name := _surname(part))[0].isalpha()]


def _is_given(part: str) -> bool:
    """Whether a part is the initials of a given name."""
    return bool(_INITIALS.fullmatch(part))


def _full_words(part: str) -> int:
    """How many words a part has besides initials and particles."""
    return sum(not _is_given(word) and not re.fullmatch(_PARTICLE, word) for word in part.split())


def _surname(part: str) -> str:
    """The surname of a full name, with its particles."""
    words = [word for word in part.strip(" .").split() if not _SUFFIX.fullmatch(word)] or [part]
    if len(words) > 1 and re.fullmatch(r"[A-Z](?:[A-Z.-]){0,5}", words[-1]) and words[0][1:2].islower():
        return " ".join(words[:-1])
    start = len(words) - 1
    while start > 1 and re.fullmatch(_PARTICLE, words[start - 1]):
        start -= 1
    return " ".join(words[start:])
