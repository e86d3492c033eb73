"""Numbers in a text, normalized so that equal values compare equal."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Number", "numbers_in", "placed_numbers", "without_labels"]

_MINUS = re.compile(r"[\u2010-\u2013\u2212]")
# Digits within a name ("F1", "SST-5", "CTB6") are not a quantity.
_NUMBER = re.compile(
    r"(?<!\w)(?<!\w\.)(?<![^\W\d_][-+])"
    r"(?P<digits>\d{1,3}(?:[,\u202f\u00a0]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?|\.\d+)"
    r"(?P<unit>\s?%|\s?(?:percent|thousand|million|billion)\b|[^\W\d_]{1,3}\b|(?!\w))"
)
# A dash after a word, a number or a bracket is a hyphen ("93-94"), not a sign.
_SIGN = re.compile(r"(?<![\w)\]%.])[-+]")
_SCALES = {"K": 1000, "k": 1000, "thousand": 1000, "M": 10**6, "million": 10**6, "B": 10**9, "billion": 10**9}
# "Step (0.94)" is a value, "Eq. (2.3)" a label.
_LABEL = re.compile(
    r"(?i)\b(?:equation|eqn?)s?\.?\s*\(\d+(?:\.\d+)+\)|"
    r"\blines?\s+\d+(?:-\d+)?\b(?![.%]?\d|\s?%)|\b(?:table|tab|figure|fig|equation|eq|eqn|section|sec|appendix|page|pp|chapter|algorithm|step|ref"
    r"|row|column)s?\.?"
    r"\s*(?!\(\d*\.\d)\(?(?:[a-z]\.?)?\d+(?:\.\d+)*[a-z]?\b\)?(?:\s*(?:,|and|or|&|to|-)\s*\(?\d{1,2}[a-z]?\b\)?(?![.%]?\d|\s?%))*"
)
_CITATION = re.compile(r"\[\d+(?:\s*[,;-]\s*\d+)*\]|(?<=[\w.,] )\(?(?:19|20)\d\d[a-z]?\)(?!\w)")
# A longer number is a code, and beyond the range of decimals.
_MOST_DIGITS = 60
_SPELLED = dict(
    zip("zero one two three four five six seven eight nine ten eleven twelve".split(), range(13), strict=True)
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text: its text, its value, and the unit of its last digit ("170K": 170000 and 1000).

    `value` is unsigned, because "falls by 0.5" and "-0.5" say the same; `sign` is "+", "-", or "" if none is printed.
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
    """Yield the quantities in a text. Labels ("Table 8"), citations and digits within names are skipped.

    Args:
        spelled: Also yield the words "zero" to "twelve".
    """
    plain = without_labels(text)
    yield from (number for number, _, _ in placed_numbers(plain))
    if spelled:
        for word in re.findall(r"[a-z]+", plain.casefold()):
            if word in _SPELLED:
                yield Number(word, Decimal(_SPELLED[word]))


def placed_numbers(plain: str) -> Iterator[tuple[Number, int, int]]:
    """Yield the quantities in a text that `without_labels` returned, with their starts and ends."""
    for match in _NUMBER.finditer(plain):
        digits = re.sub(r"[^\d.]", "", match["digits"])
        if len(digits) > _MOST_DIGITS:
            continue
        unit = match["unit"].strip()
        scale = Decimal(_SCALES.get(unit, 1))
        last = scale.scaleb(-len(digits.partition(".")[2]))
        sign = _SIGN.match(plain, match.start() - 1) if match.start() else None
        shown = (sign[0] if sign else "") + match[0].strip()
        number = Number(shown, Decimal(digits) * scale, last, unit in ("%", "percent"), sign[0] if sign else "")
        yield number, match.start() - bool(sign), match.end()


def without_labels(text: str) -> str:
    """Return the text in NFKC without labels ("Table 8") and citations, with ASCII minus signs and hyphens, and
    "1{,}225" of LaTeX as "1,225"."""
    plain = _MINUS.sub("-", unicodedata.normalize("NFKC", text)).replace("{,}", ",")
    return _CITATION.sub(" ", _LABEL.sub(" ", plain))
