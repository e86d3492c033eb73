"""Acronyms and their long forms as a paper defines them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["AcronymDefinition", "find_definitions", "is_spelt", "long_form", "short_form"]


_BRACKETS = re.compile(r"[(\[]([^()\[\]]{2,120})[)\]]")
_REMARK = re.compile(
    r"""^(?: i\.\s?e\.,? | short\ for | for | in\ short | abbreviated(?:\ as)? | denoted(?:\ as|\ by)? | hereafter
      | or | called | the | an? | = )\s+
      | ,?\ for\ short$""",
    re.IGNORECASE | re.VERBOSE,
)
_FOR_SHORT = re.compile(r"[)\]]?,? for short\b")
_SHORT = r"(?=[^\W_]{1,9}[A-Z]|[A-Z][^\W_]?\d)[^\W_]{2,10}"
# "DA = data augmentation", "ADC: analog-to-digital converter", "CRNN is a convolutional ...", "BARC, Basic ..."
_EXPLAINED = re.compile(
    rf"""(?<![\w-])({_SHORT})
        (?: (?: \s?=\s? | :\ | ,\ (?:short\ for\ )?
              | \ (?:stands?\ for|denotes?|means?|refers?\ to|represents?|is\ short\ for|is)\ ) (?:an?\ |the\ )?
          | \ ?[\u2013\u2014]\ ? | \ -\ | -(?=[A-Z][a-z]) )
        [\"'\u201c]?(?=[^\W_])""",
    re.VERBOSE,
)
# "Monte Carlo, or MC in short", "data augmentation, abbreviated as DA", "Uniform Limit Theorem ULT"
_NAMED = re.compile(
    rf"""(?: ,?\ (?:or|abbreviated(?:\ as|\ to|\ by)?|denoted(?:\ as|\ by)?|hereafter|shortened\ to|called|i\.e\.,?)
          | , | (?=\ ) )
        \ (?:simply\ |the\ )?[\"'\u201c]?({_SHORT})(?![\w-])""",
    re.VERBOSE,
)
_SAYS = re.compile(r"[=:]|[a-z]{2}")
_MAX_WORDS = 12
# More characters than a long form has; a hostile text is not read again for each of its words.
_REACH = 200
_SMALL = frozenset("a an and as at by for from in of on or the to via with".split())
_BREAK = re.compile(r"[;:()\[\]]|[,.](?=\s|$)")
_QUOTES = "\"'\u201c\u201d\u2018\u2019"


@dataclass(frozen=True, kw_only=True, slots=True)
class AcronymDefinition:
    """A short form and its long form, both as they stand in the text."""

    short: str
    long: str


def find_definitions(text: str) -> Iterator[AcronymDefinition]:
    """Each "long form (SF)" and "SF (long form)" in one sentence or caption, then those that it gives without brackets
    for other short forms."""
    known = set[str]()
    for match in _BRACKETS.finditer(text):
        inside = _REMARK.sub("", re.split(r"[,;]\s", _REMARK.sub("", match[1].strip()))[0].strip().strip(_QUOTES))
        left = _left_context(text[: match.start()])
        found = _long_form_before(left, inside) or _long_form_inside(left, inside)
        if found is None and _FOR_SHORT.search(text[match.start() : match.end() + 11]):
            found = _named_for_short(left, inside)
        if found:
            known.add(found.short)
            yield found
    for found in _unbracketed_definitions(text):
        if found.short not in known:
            known.add(found.short)
            yield found


def _unbracketed_definitions(text: str) -> Iterator[AcronymDefinition]:
    """Definitions without brackets, where the words' initials spell the short form; one of two letters needs a word or
    sign that says more than a comma."""
    for match in _EXPLAINED.finditer(text):
        words = _BREAK.split(text[match.end() : match.end() + _REACH])[0].split()
        if (len(match[1]) > 2 or _SAYS.search(match[0][len(match[1]) :])) and (long := _spelt_head(match[1], words)):
            yield AcronymDefinition(short=match[1], long=long)
    for match in _NAMED.finditer(text):
        words = _left_context(re.split(r"[,.]\s", text[max(match.start() - _REACH, 0) : match.start()])[-1]).split()
        said = match[0].removesuffix(match[1])
        if (len(match[1]) > 2 or _SAYS.search(said)) and (long := _spelt_tail(match[1], words)):
            yield AcronymDefinition(short=match[1], long=long)


def _spelt_head(short: str, words: Sequence[str]) -> str | None:
    """The first words, as few as spell `short` by their initials."""
    ends = range(1, min(len(words), _MAX_WORDS) + 1)
    return next((_stripped(words[:end]) for end in ends if is_spelt(short, words[:end])), None)


def _spelt_tail(short: str, words: Sequence[str]) -> str | None:
    """The last words, as few as spell `short` by their initials."""
    starts = range(len(words) - 1, max(len(words) - _MAX_WORDS, 0) - 1, -1)
    return next((_stripped(words[start:]) for start in starts if is_spelt(short, words[start:])), None)


def _stripped(words: Sequence[str]) -> str:
    return " ".join(words).strip(_QUOTES + " ,.")


def short_form(name: str) -> str:
    """The name in the singular if it is a short form by its spelling ("LLMs", "CoT", "SQuAD"), else "": one word of two
    to ten letters and digits, two of them capitals."""
    short = _singular(name.strip())
    capitals = sum(character.isupper() for character in short)
    return short if 2 <= len(short) <= 10 and short.isalnum() and capitals > 1 else ""


def is_spelt(short: str, words: Sequence[str]) -> bool:
    """Whether the words' initials are the letters of `short`; only small words and the later parts of hyphenated words
    may give none, and neither the first nor the last word is small."""
    letters = [character.casefold() for character in _singular(short) if character.isalnum()]
    parts = [
        (part[0].casefold(), bool(number) or part.casefold() in _SMALL)
        for word in words
        for number, part in enumerate(re.findall(r"[^\W_]+(?:['\u2019][^\W_]+)*", word))
    ]
    edges = {word.strip(_QUOTES).casefold() for word in (*words[:1], *words[-1:])}
    return (
        len(letters) > 1
        and not edges & _SMALL
        and len(parts) < 2 * len(letters) + 4
        and _initials_match(parts, letters)
    )


def _initials_match(parts: Sequence[tuple[str, bool]], letters: list[str]) -> bool:
    """Whether initials, of which the spare ones may be left out, are just these letters."""
    spelt = {0}
    for initial, spare in parts:
        further = {number + 1 for number in spelt if letters[number : number + 1] == [initial]}
        spelt = further | spelt if spare else further
    return len(letters) in spelt


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


def _long_form_before(left: str, inside: str) -> AcronymDefinition | None:
    for short in dict.fromkeys((inside, _singular(inside))):
        if not _is_short_form(short):
            continue
        words = left.split()
        reach = min(len(short) + 5, len(short) * 2)
        if spelt := _spelt_tail(short, words):
            return AcronymDefinition(short=inside, long=spelt)
        candidate = long_form(short, " ".join(words[-reach:]))
        if candidate is not None and _is_long_form(candidate, short):
            return AcronymDefinition(short=inside, long=_without_head(candidate.strip(" ,."), short))
    return None


def _long_form_inside(left: str, inside: str) -> AcronymDefinition | None:
    """The bracket holds the long form: it must begin there, so that no stray remark is taken for one."""
    before = left.split()[-1:]
    for short in dict.fromkeys((before[0], _singular(before[0]))) if before else ():
        if not _is_short_form(short) or len(inside.split()) < 2:
            continue
        candidate = long_form(short, inside)
        if candidate == inside and _is_long_form(candidate, short):
            return AcronymDefinition(short=before[0], long=inside)
    return None


def _named_for_short(left: str, short: str) -> AcronymDefinition | None:
    """What is called so "for short" need not spell it: from the last word with its initial, within the clause."""
    words = re.split(r",\s", left)[-1].split()
    starts = [number for number, word in enumerate(words) if word[0].casefold() == short[0].casefold()]
    if not starts or not _is_short_form(short):
        return None
    long = " ".join(words[starts[-1] :])
    return AcronymDefinition(short=short, long=long) if _is_long_form(long, short) else None


def _left_context(text: str) -> str:
    """The words before a bracket, back to the last sign that a long form can't cross."""
    return re.sub(r"[\"\u201c\u201d]|['\u2019]s?$", "", re.split(r"[;:()\[\]]", text)[-1].strip()).strip()


def _is_short_form(text: str) -> bool:
    """Two to ten characters, two words at most, a capital in it, beginning with a letter or digit."""
    return (
        2 <= len(text) <= 10
        and len(text.split()) <= 2
        and text[0].isalnum()
        and any(character.isupper() for character in text)
        and not text.startswith("see ")
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
