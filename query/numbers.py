"""Numbers in a text, normalized so that equal values compare equal."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Number", "numbers_in", "without_labels"]


_MINUS = re.compile(r"[\u2010-\u2013\u2212]")
# A digit inside a name ("F1", "SST-5", "CTB6") is no quantity.
_NUMBER = re.compile(
    r"(?<!\w)(?<!\w\.)(?<![^\W\d_][-+])"
    r"(?P<digits>\d{1,3}(?:[,\u202f\u00a0]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?|\.\d+)"
    r"(?P<unit>\s?%|\s?(?:percent|thousand|million|billion)\b|[^\W\d_]{1,3}\b|(?!\w))"
)
# A dash behind a word, a number or a bracket joins ("93-94"); it is no sign.
_SIGN = re.compile(r"(?<![\w)\]%.])[-+]$")
_SCALES = {"K": 1000, "k": 1000, "thousand": 1000, "M": 10**6, "million": 10**6, "B": 10**9, "billion": 10**9}
_LABEL = re.compile(
    r"(?i)\blines?\s+\d+(?:-\d+)?\b(?![.%]?\d|\s?%)|\b(?:table|tab|figure|fig|equation|eq|eqn|section|sec|appendix|page|pp|chapter|algorithm|step|ref)s?\.?"
    r"\s*\(?(?:[a-z]\.?)?\d+(?:\.\d+)*[a-z]?\b\)?(?:\s*(?:,|and|or|&|to|-)\s*\(?\d{1,2}[a-z]?\b\)?(?![.%]?\d|\s?%))*"
)
_CITATION = re.compile(r"\[\d+(?:\s*[,;-]\s*\d+)*\]|(?<=[\w.,] )\(?(?:19|20)\d\d[a-z]?\)(?!\w)")
_SPELLED = dict(
    zip("zero one two three four five six seven eight nine ten eleven twelve".split(), range(13), strict=True)
)


@dataclass(frozen=True, slots=True)
class Number:
    """A printed number: its text, its value, and the value of one in its last digit ("170K": 170000 and 1000).

    `value` leaves the sign out, as "falls by 0.5" and "-0.5" say the same; `sign` is "+", "-", or "" where none is
    printed.
    """

    text: str
    value: Decimal
    unit: Decimal = Decimal(1)
    percent: bool = False
    sign: str = ""

    @property
    def signed(self) -> Decimal:
        """The value with its sign."""
        return -self.value if self.sign == "-" else self.value


def numbers_in(text: str, *, spelled: bool = False) -> Iterator[Number]:
    """The quantities a text prints, in order; labels ("Table 8"), citations and digits within names are none.

    With `spelled`, the words zero to twelve count as well.
    """
    plain = without_labels(text)
    for match in _NUMBER.finditer(plain):
        digits = re.sub(r"[^\d.]", "", match["digits"])
        unit = match["unit"].strip()
        scale = Decimal(_SCALES.get(unit, 1))
        last = scale.scaleb(-len(digits.partition(".")[2]))
        sign = _SIGN.search(plain, 0, match.start())
        shown = (sign[0] if sign else "") + match[0].strip()
        yield Number(shown, Decimal(digits) * scale, last, unit in ("%", "percent"), sign[0] if sign else "")
    if spelled:
        for word in re.findall(r"[a-z]+", plain.casefold()):
            if word in _SPELLED:
                yield Number(word, Decimal(_SPELLED[word]))


def without_labels(text: str) -> str:
    """The text without labels ("Table 8") and citations, in NFKC, every minus and hyphen in its ASCII form."""
    return _CITATION.sub(" ", _LABEL.sub(" ", _MINUS.sub("-", unicodedata.normalize("NFKC", text))))
