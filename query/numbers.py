"""The numbers that a text prints, folded so that equal values meet."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Number", "numbers_in"]

_MINUS = re.compile(r"[\u2010-\u2013\u2212]")
# A digit inside a name ("F1", "SST-5", "CTB6") is no quantity.
_NUMBER = re.compile(
    r"(?<!\w)(?<!\w\.)(?<![^\W\d_][-+])"
    r"(?P<digits>\d{1,3}(?:[,\u202f\u00a0]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?|\.\d+)"
    r"(?P<unit>\s?%|\s?(?:percent|thousand|million|billion)\b|[^\W\d_]{1,3}\b|(?!\w))"
)
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

    The sign is left out: "falls by 0.5" and "-0.5" say the same.
    """

    text: str
    value: Decimal
    unit: Decimal = Decimal(1)
    percent: bool = False


def numbers_in(text: str, *, spelled: bool = False) -> Iterator[Number]:
    """The quantities a text prints, in order; labels ("Table 8"), citations and digits within names are none.

    With `spelled`, the words zero to twelve count as well.
    """
    plain = _CITATION.sub(" ", _LABEL.sub(" ", _MINUS.sub("-", text)))
    for match in _NUMBER.finditer(plain):
        digits = re.sub(r"[^\d.]", "", match["digits"])
        unit = match["unit"].strip()
        scale = Decimal(_SCALES.get(unit, 1))
        last = scale.scaleb(-len(digits.partition(".")[2]))
        yield Number(match[0].strip(), Decimal(digits) * scale, last, unit in ("%", "percent"))
    if spelled:
        for word in re.findall(r"[a-z]+", plain.casefold()):
            if word in _SPELLED:
                yield Number(word, Decimal(_SPELLED[word]))
