"""Numbers in a text, normalized so that equal values compare equal."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from paperscope_core.text.latex import without_latex
from paperscope_core.types import UNKNOWN_CHARACTER

__all__ = ["Number", "numbers_in", "placed_numbers", "scales_in", "without_labels"]

_MINUS = re.compile(r"[\u2010-\u2013\u2212]")
# A raised decimal point, as British journals print it; before 10 it is a product.
_RAISED_POINT = re.compile(r"(?<![\d.,\u00b7])(\d{1,6})\u00b7(?!10(?!\d))(\d+)(?![\d\u00b7]|\s*=)")
_EXPONENT = re.compile(r"(?<=\d)[eE](?=[-+]?\d{1,3}(?!\w))")
# "10^3" is printed as "10³", which NFKC makes "103".
_CARET = re.compile(r"(?<=\w)\^(?=[-+(]?\w)")
# Digits within a name ("F1", "SST-5", "CTB6") are not a quantity.
_NUMBER = re.compile(
    r"(?<!\w)(?<!\w\.)(?<![^\W\d_][-+])"
    r"(?P<digits>\d{1,3}(?:[,\u202f\u00a0]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?|\.\d+)"
    r"(?P<unit>\s?%|\s?(?:percent|thousand|million|billion)\b|[^\W\d_]{1,3}\b|(?!\w))"
)
# A dash after a word, a number or a bracket is a hyphen ("93-94"), not a sign.
_SIGN = re.compile(r"(?<![\w)\]%.])[-+]")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}(?!\d)|\d{4})")
_DECIMAL_POINT = re.compile(r"\d\.\d")
_SCALES = {"K": 1000, "k": 1000, "thousand": 1000, "M": 10**6, "million": 10**6, "B": 10**9, "billion": 10**9}
# The parts of a paper with their numbers: "Table 3", "Appendix B.2", "Fig. S4", "Eqs. (13)", "page numbers: 7", "p. 7".
# "Step (0.94)" and "cell line 0.0327" are values, "Eq. (2.3)" is a label; "Figures: 7" at the start of a line counts
# them. Lines, rows and columns may be named by the headers of a table, too.
_LABEL = re.compile(
    r"(?im)\b(?:equation|eqn?)s?\.?\s*\((?P<dotted>\d+(?:\.\d+)+)\)|"
    r"(?:\bpp?\.\s*(?=\d+\b(?!\.\d))|(?!^\w+: )\b(?:(?:supplementary|supplemental)\s)?"
    r"(?:(?P<position>line|row|column)|table|tab|figure|fig|equation|eq|eqn|section|sec|appendix|page|pp|chapter|"
    r"algorithm|step|ref|reference|footnote|theorem|lemma|proposition|corollary|definition)"
    r"(?P<plural>s?)\.?(?:\s+numbers?)?:?\s*)(?!\(\d*\.\d|0\.\d|\d+\.\d{3})"
    r"(?P<item>\(?(?:[a-z]\.?)?\d+(?:\.\d+)*[a-z]?\b(?:\([a-z]\))?\)?)(?!\s?%)"
)
_MORE = re.compile(
    r"(?i)\s*(?:(?P<comma>[,;])\s*)?(?P<joined>(?:and|or|&|to)\s+|-\s*)?"
    r"(?P<item>\(?(?:[a-z]\.?)?\d{1,3}(?:\.\d{1,2})*[a-z]?\b(?:\([a-z]\))?\)?)(?!\s?%|[.,]?\d)"
)
# What may follow the last number of a list without "and": "cited on page 1, 2, 5.", not "on page 7, 64 people".
_BEHIND_LIST = re.compile(r"\s*(?:[,;:)\]]|\.(?!\d)|$|(?:and|or|in|on|of|to)\b|&|-)")
_CITATION = re.compile(r"\[\d+(?:\s*[,;-]\s*\d+)*\]|(?<=[\w.,] )\(?(?:19|20)\d\d[a-z]?\)(?!\w)")
# A longer number is a code, and beyond the range of decimals.
_MOST_DIGITS = 60
_SPELLED = dict(
    zip("zero one two three four five six seven eight nine ten eleven twelve".split(), range(13), strict=True)
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text: its text, its value, and the unit of its last digit ("170K": 170000 and 1000).

    `value` is unsigned, because "falls by 0.5" and "-0.5" say the same; `sign` is "+", "-", or "" if none is printed;
    `scale` is the 1000 of "170K".
    """

    text: str
    value: Decimal
    unit: Decimal = Decimal(1)
    percent: bool = False
    sign: str = ""
    scale: Decimal = Decimal(1)

    @property
    def unscaled(self) -> "Number":
        """The number without its scale: "610" of "610 million", as a table prints it under "in $ million"."""
        return replace(self, value=self.value / self.scale, unit=self.unit / self.scale, scale=Decimal(1))

    @property
    def signed(self) -> Decimal:
        """The value with its sign."""
        return -self.value if self.sign == "-" else self.value


def numbers_in(text: str, *, spelled: bool = False) -> Iterator[Number]:
    """Yield the quantities in a text. Labels ("Table 8"), citations and digits within names are skipped.

    Args:
        spelled: Also yield the words "zero" to "twelve", and "12,5" as 12.5 in a text without decimal points.
    """
    plain = without_labels(text)
    yield from (number for number, _, _ in placed_numbers(plain))
    if spelled:
        pointed = _DECIMAL_COMMA.sub(".", plain) if not _DECIMAL_POINT.search(plain) else plain
        if pointed != plain:
            yield from (number for number, _, _ in placed_numbers(pointed) if number.unit < 1)
        for word in re.findall(r"[a-z]+", plain.casefold()):
            if word in _SPELLED:
                yield Number(word, Decimal(_SPELLED[word]))


def placed_numbers(plain: str) -> Iterator[tuple[Number, int, int]]:
    """Yield the quantities in a text that `without_labels` returned, with their starts and ends.

    A number beside a character that is not known is none: that may be its sign, one of its digits, or a "<".
    """
    doubtful = UNKNOWN_CHARACTER in plain
    for match in _NUMBER.finditer(plain):
        digits = re.sub(r"[^\d.]", "", match["digits"])
        if len(digits) > _MOST_DIGITS or (doubtful and _is_doubtful(plain, match.start(), match.end())):
            continue
        unit = match["unit"].strip()
        scale = Decimal(_SCALES.get(unit, 1))
        last = scale.scaleb(-len(digits.partition(".")[2]))
        sign = _SIGN.match(plain, match.start() - 1) if match.start() else None
        shown = (sign[0] if sign else "") + match[0].strip()
        number = Number(shown, Decimal(digits) * scale, last, unit in ("%", "percent"), sign[0] if sign else "", scale)
        yield number, match.start() - bool(sign), match.end()


def _is_doubtful(plain: str, start: int, end: int) -> bool:
    """Return whether the word of a number, or the sign before it, has a character that is not known."""
    before = plain[:start].rstrip()
    word = plain[plain.rfind(" ", 0, start) + 1 : end] + plain[end:].partition(" ")[0]
    return before.endswith(UNKNOWN_CHARACTER) or UNKNOWN_CHARACTER in word


def scales_in(text: str) -> frozenset[Decimal]:
    """Return the scales that a text names: "in $ million", "(thousands)", "×10⁶"."""
    plain = without_labels(text).casefold()
    words = (word.removesuffix("s") for word in re.findall(r"[a-z]{7,9}", plain))
    powers = (10 ** int(power) for power in re.findall(r"[x×]\s?10([369])(?!\d)", plain))
    return frozenset(map(Decimal, (*(_SCALES[word] for word in words if word in _SCALES), *powers)))


def without_labels(text: str, *, keeps_positions: bool = False) -> str:
    """Return the text in NFKC without labels ("Table 8", "pages 1, 2 and 5"), citations and LaTeX, with ASCII minus
    signs and hyphens, "18·8" as "18.8" and "2e-4" as "2 × 10-4".

    Args:
        keeps_positions: Whether "row 2" and "column (1)" stay, which may be names in a table.
    """
    plain = _RAISED_POINT.sub(r"\1.\2", unicodedata.normalize("NFKC", without_latex(text)))
    plain = _EXPONENT.sub(" × 10", _CARET.sub("", _MINUS.sub("-", plain)))
    parts, at = list[str](), 0
    for match in _LABEL.finditer(plain):
        if match.start() >= at and not (keeps_positions and match["position"]):
            parts.append(plain[at : match.start()])
            at = _list_end(plain, match)
    return _CITATION.sub(" ", " ".join((*parts, plain[at:])))


def _list_end(plain: str, label: re.Match[str]) -> int:
    """Return the end of the numbers of a label: "Sections 2, 3.1 and 4". A decimal follows only a plural, or a number
    with a point, because "Table 8, 93.14 is the best" states a value."""
    end = label.end()
    dotted = bool(label["plural"]) or "." in (label["dotted"] or label["item"])
    closed = False
    while more := _MORE.match(plain, end):
        joined = (more["joined"] or "").strip()
        listed = bool(more["comma"]) and not closed and (joined or _BEHIND_LIST.match(plain, more.end()))
        if not (listed or (joined and not more["comma"])) or ("." in more["item"] and not dotted):
            break
        end, closed = more.end(), closed or joined not in ("", "-", "to")
    return end
