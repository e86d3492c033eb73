"""Acronyms and their long forms as a paper defines them.

After A. S. Schwartz and M. A. Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical text",
Pacific Symposium on Biocomputing 8 (2003), pp. 451-462, which matches an acronym's letters from right to left. This
implementation prefers a long form whose initials are exactly the acronym's letters to the shortest match, and requires
one if the definition has no brackets.
"""

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
_FOR_SHORT_LENGTH = 11
_SHORT = r"(?=[^\W_]{1,9}[A-Z]|[A-Z][^\W_]?\d)[^\W_]{2,10}"
# "DA = data augmentation", "ADC: analog-to-digital converter", "CRNN is a convolutional ...", "BARC, Basic ..."
_BEFORE_LONG_FORM = re.compile(
    rf"""(?<![\w-])({_SHORT})
        (?: (?: \s?=\s? | :\ | ,\ (?:short\ for\ )?
              | \ (?:stands?\ for|denotes?|means?|refers?\ to|represents?|is\ short\ for|is)\ ) (?:an?\ |the\ )?
          | \ ?[\u2013\u2014]\ ? | \ -\ | -(?=[A-Z][a-z]) )
        [\"'\u201c]?(?=[^\W_])""",
    re.VERBOSE,
)
# "Monte Carlo, or MC in short", "data augmentation, abbreviated as DA", "Uniform Limit Theorem ULT"
_AFTER_LONG_FORM = re.compile(
    rf"""(?: ,?\ (?:or|abbreviated(?:\ as|\ to|\ by)?|denoted(?:\ as|\ by)?|hereafter|shortened\ to|called|i\.e\.,?)
          | , | (?=\ ) )
        \ (?:simply\ |the\ )?[\"'\u201c]?({_SHORT})(?![\w-])""",
    re.VERBOSE,
)
# Two initials often match by chance: more than a comma must connect an acronym of two letters to its long form.
_EXPLICIT = re.compile(r"[=:]|[a-z]{2}")
_MAX_WORDS = 12
# More characters than any long form has. The limit keeps the time linear for a hostile text of many acronyms.
_MAX_LENGTH = 200
_OPTIONAL_WORDS = frozenset("a an and as at by for from in of on or the to via with".split())
_BREAK = re.compile(r"[;:()\[\]]|[,.](?=\s|$)")
_QUOTES = "\"'\u201c\u201d\u2018\u2019"


@dataclass(frozen=True, kw_only=True, slots=True)
class AcronymDefinition:
    """An acronym and its long form, both as printed."""

    short: str
    long: str


def find_definitions(text: str) -> Iterator[AcronymDefinition]:
    """Find the definitions in one sentence or caption.

    First each "long form (SF)" and "SF (long form)", then definitions of other acronyms without brackets.
    """
    known = set[str]()
    for match in _BRACKETS.finditer(text):
        inside = _REMARK.sub("", re.split(r"[,;]\s", _REMARK.sub("", match[1].strip()))[0].strip().strip(_QUOTES))
        left = _left_context(text[: match.start()])
        found = _long_form_before(left, inside) or _long_form_inside(left, inside)
        if found is None and _FOR_SHORT.search(text[match.start() : match.end() + _FOR_SHORT_LENGTH]):
            found = _named_for_short(left, inside)
        if found:
            known.add(found.short)
            yield found
    for found in _unbracketed_definitions(text):
        if found.short not in known:
            known.add(found.short)
            yield found


def _unbracketed_definitions(text: str) -> Iterator[AcronymDefinition]:
    """Yield definitions without brackets, where the words' initials spell the acronym."""
    for match in _BEFORE_LONG_FORM.finditer(text):
        short, connection = match[1], match[0][len(match[1]) :]
        words = _BREAK.split(text[match.end() : match.end() + _MAX_LENGTH])[0].split()
        if (len(short) > 2 or _EXPLICIT.search(connection)) and (long := _spelt_head(short, words)):
            yield AcronymDefinition(short=short, long=long)
    for match in _AFTER_LONG_FORM.finditer(text):
        short, connection = match[1], match[0].removesuffix(match[1])
        clause = re.split(r"[,.]\s", text[max(match.start() - _MAX_LENGTH, 0) : match.start()])[-1]
        words = _left_context(clause).split()
        if (len(short) > 2 or _EXPLICIT.search(connection)) and (long := _spelt_tail(short, words)):
            yield AcronymDefinition(short=short, long=long)


def _spelt_head(short: str, words: Sequence[str]) -> str | None:
    """Return the fewest first words whose initials spell `short`."""
    ends = range(1, min(len(words), _MAX_WORDS) + 1)
    return next((_stripped(words[:end]) for end in ends if is_spelt(short, words[:end])), None)


def _spelt_tail(short: str, words: Sequence[str]) -> str | None:
    """Return the fewest last words whose initials spell `short`."""
    starts = range(len(words) - 1, max(len(words) - _MAX_WORDS, 0) - 1, -1)
    return next((_stripped(words[start:]) for start in starts if is_spelt(short, words[start:])), None)


def _stripped(words: Sequence[str]) -> str:
    return " ".join(words).strip(_QUOTES + " ,.")


def short_form(name: str) -> str:
    """Return the name in the singular if it is spelled like an acronym ("LLMs", "CoT", "SQuAD"), else "".

    An acronym is one word of two to ten letters and digits, two of them capitals.
    """
    short = _without_plural(name.strip())
    capitals = sum(character.isupper() for character in short)
    return short if 2 <= len(short) <= 10 and short.isalnum() and capitals > 1 else ""


def is_spelt(short: str, words: Sequence[str]) -> bool:
    """Return whether the words' initials are the letters of `short`.

    Only articles, prepositions, conjunctions and the later parts of hyphenated words may contribute no letter, and
    neither the first nor the last word may be an article, preposition or conjunction.
    """
    letters = [character.casefold() for character in _without_plural(short) if character.isalnum()]
    parts = [
        (part[0].casefold(), bool(number) or part.casefold() in _OPTIONAL_WORDS)
        for word in words
        for number, part in enumerate(re.findall(r"[^\W_]+(?:['\u2019][^\W_]+)*", word))
    ]
    edges = {word.strip(_QUOTES).casefold() for word in (*words[:1], *words[-1:])}
    return (
        len(letters) > 1
        and not edges & _OPTIONAL_WORDS
        and len(parts) < 2 * len(letters) + 4
        and _initials_match(parts, letters)
    )


def _initials_match(parts: Sequence[tuple[str, bool]], letters: list[str]) -> bool:
    """Return whether the initials, of which the optional ones may be skipped, are exactly these letters."""
    matched = {0}
    for initial, optional in parts:
        advanced = {number + 1 for number in matched if letters[number : number + 1] == [initial]}
        matched = advanced | matched if optional else advanced
    return len(letters) in matched


def long_form(short: str, text: str) -> str | None:
    """Return the shortest tail of `text` that spells `short`, or None.

    Each letter or digit of `short`, from the last to the first, must occur in `text` from right to left, the first one
    at the beginning of a word.
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
    """Return a definition whose acronym is in the brackets, and whose long form precedes them."""
    for short in dict.fromkeys((inside, _without_plural(inside))):
        if not _is_short_form(short):
            continue
        words = left.split()
        if spelt := _spelt_tail(short, words):
            return AcronymDefinition(short=inside, long=spelt)
        candidate = long_form(short, " ".join(words[-_max_long_words(short) :]))
        if candidate is not None and _is_long_form(candidate, short):
            return AcronymDefinition(short=inside, long=_without_head(candidate.strip(" ,."), short))
    return None


def _long_form_inside(left: str, inside: str) -> AcronymDefinition | None:
    """Return a definition with the long form in the brackets; it must begin there, so that a remark is not taken for
    one."""
    before = left.split()[-1:]
    for short in dict.fromkeys((before[0], _without_plural(before[0]))) if before else ():
        if not _is_short_form(short) or len(inside.split()) < 2:
            continue
        candidate = long_form(short, inside)
        if candidate == inside and _is_long_form(candidate, short):
            return AcronymDefinition(short=before[0], long=inside)
    return None


def _named_for_short(left: str, short: str) -> AcronymDefinition | None:
    """Return a definition with "for short", which need not spell the acronym: it begins at the last word with its
    initial."""
    words = re.split(r",\s", left)[-1].split()
    starts = [number for number, word in enumerate(words) if word[0].casefold() == short[0].casefold()]
    if not starts or not _is_short_form(short):
        return None
    long = " ".join(words[starts[-1] :])
    return AcronymDefinition(short=short, long=long) if _is_long_form(long, short) else None


def _left_context(text: str) -> str:
    """Return the words before a bracket, back to the last character that can't be part of a long form."""
    return re.sub(r"[\"\u201c\u201d]|['\u2019]s?$", "", re.split(r"[;:()\[\]]", text)[-1].strip()).strip()


def _is_short_form(text: str) -> bool:
    """Return two to ten characters and at most two words, beginning with a letter or digit, with a capital (Schwartz
    and Hearst)."""
    return (
        2 <= len(text) <= 10
        and len(text.split()) <= 2
        and text[0].isalnum()
        and any(character.isupper() for character in text)
        and not text.startswith("see ")
        and not text[1:].islower()
    )


def _max_long_words(short: str) -> int:
    """Return the maximum number of words in a long form (Schwartz and Hearst): min(n + 5, 2n) for n letters."""
    return min(len(short) + 5, len(short) * 2)


def _is_long_form(candidate: str, short: str) -> bool:
    words = candidate.replace("-", " ").split()
    letters = "".join(character for character in short if character.isalnum())
    return (
        len(candidate) > len(short)
        and len(words) <= _max_long_words(letters)
        and short.casefold() not in (word.casefold().strip(",.") for word in words)
        and candidate[0].isalnum()
    )


def _without_head(candidate: str, short: str) -> str:
    """`word error rate` of `word error rate metric` for WER: drops the last word if the others spell the acronym."""
    shorter = candidate.rpartition(" ")[0]
    initials = "".join(word[0] for word in re.findall(r"\w+", shorter))
    return shorter if initials.casefold() == short.casefold() else candidate


def _without_plural(short: str) -> str:
    """`CRF` of `CRFs`."""
    return short[:-1] if len(short) > 2 and short.endswith("s") and short[-2].isupper() else short
