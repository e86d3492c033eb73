"""Numbers with units: reading them from text, and comparing them up to rounding."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from paperscope_lab.evaluation.matching import normalise_spaces
from paperscope_lab.evaluation.metrics.sets import best_assignment
from paperscope_lab.evaluation.score import Tally

__all__ = [
    "Number",
    "as_number",
    "numbers_in",
    "numbers_recall",
    "same_number",
    "stated_numbers",
    "without_labels",
]

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
_POWERS = {"hundred": 2, "thousand": 3, "k": 3, "million": 6, "m": 6, "billion": 9, "b": 9, "bn": 9, "trillion": 12}
# Units of one or two letters are read in lower case only: "US" and "HR" are not units.
_UNITS = {
    ("share", "0.01"): "% %point %points percent pct percentage percentagepoint percentagepoints point points pp",
    ("time", "1e-9"): "ns nanosecond nanoseconds",
    ("time", "1e-6"): "us μs microsecond microseconds",
    ("time", "1e-3"): "ms msec millisecond milliseconds",
    ("time", "1"): "s sec secs second seconds",
    ("time", "60"): "min mins minute minutes",
    ("time", "3600"): "h hr hrs hour hours",
    ("time", "86400"): "day days",
    ("bytes", "1"): "byte bytes",
    ("bytes", "1e3"): "kbyte kilobyte kilobytes",
    ("bytes", "1e6"): "mbyte megabyte megabytes",
    ("bytes", "1e9"): "gbyte gigabyte gigabytes",
    ("bytes", "1e12"): "tbyte terabyte terabytes",
    ("frequency", "1"): "hertz",
    ("frequency", "1e3"): "khz",
    ("frequency", "1e6"): "mhz",
    ("frequency", "1e9"): "ghz",
}
_ABBREVIATED_UNITS = {"kb": "kbyte", "mb": "mbyte", "gb": "gbyte", "tb": "tbyte", "hz": "hertz"}
_UNIT_SIZES = {name: (kind, Decimal(size)) for (kind, size), names in _UNITS.items() for name in names.split()}

_RAISED = re.compile(r"[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_THIN = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
# In JSON with one level of escaping too few, "\times" becomes a tab and "imes".
_TIMES = re.compile(r"\\(?:times|cdot|ast)\b|\times\b|[·⋅∙×]")
_PLUS_MINUS = re.compile(r"\\pm\b|\+/-")
_NAME = re.compile(r"(?<!\w)[^\W\d_][\w.]{0,60}\d[-+]\d[\w.]*")  # "Llama2-7B"
_MARKUP = re.compile(r"\\(?=%)|\\[,;!]|[{}$]")

_SMALL_NAMES = "|".join(name for name in _UNIT_SIZES if name.isalpha() and len(name) <= 2)
_LONG_NAMES = "|".join(
    name for name in (*_UNIT_SIZES, *_ABBREVIATED_UNITS) if name.isalpha() and name not in _SMALL_NAMES.split("|")
)
_MARGIN = r"(?:\s?\(?±\s?(?:\d+(?:\.\d+)?|\.\d+)%?\)?)?"
_SCALE = r"[\s-](?i:hundred|thousand|million|billion|trillion)(?!\w)"
_TAIL = (
    r"(?:x(?!\w))?(?P<unit>[\s-]?(?:(?:%|(?i:percentage))(?:\s?(?i:points?)(?!\w))?|(?i:per\scent)(?!\w)"
    rf"|(?:{_SMALL_NAMES}|(?i:{_LONG_NAMES}))(?!\w)))?(?!\w){_MARGIN}"
)
_NUMBER = re.compile(
    # A digit within a name ("F1", "SST-5", "1.2.3", "1990s") is not a number; a dash after a word or number is not a
    # sign.
    r"(?<!\w)(?<!\w\.)(?<![^\W\d_][-+])(?!(?:19|20)\d0s\b)(?P<sign>(?<![\w)\]%])[-+])?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?!\.?\d)"
    rf"{_MARGIN}(?:[eE](?P<exponent>[-+]?\d{{1,3}})(?!\w)"
    # Text extracted from a PDF may lack the caret; without it, only a minus identifies an exponent.
    r"|\s?[*x]\s?10(?:\s?\^\s?\(?|(?=-))(?P<power>[-+]?\d{1,3})(?!\d)"
    r"|\^\(?(?P<raised>[-+]?\d{1,3})(?!\d))?"
    rf"(?P<scale>{_SCALE}|(?:k|bn|[KMB])(?!\w)|\s[KMB](?![\w-]))?{_TAIL}"
)
# "one of the", "the one that" and "one-to-one" are not numbers.
_PRONOUN = r"one(?:-to\b|\s(?:of|can|may|could|might|must|should|would)\b)"
_BEFORE = "".join(rf"(?<!\b{word}\s)" for word in ("no", "the", "each", "this", "that", "which", "any", "every"))
_OTHERS = "|".join(word for word in _WORDS if word != "one")
_WORD = re.compile(
    rf"(?<![\w-])(?P<word>(?i:{_BEFORE}(?!{_PRONOUN})one|{_OTHERS}))"
    rf"(?!\w)(?!-(?i:{'|'.join(_WORDS[1:10])})\b)(?P<scale>{_SCALE})?{_TAIL}"
)

_LABEL = re.compile(
    r"(?i)\b(?:tables?|tab|figures?|fig|sections?|sec|equations?|eqs?|eqn|appendix|pages?|pp?|chapters?|refs?|lines?|"
    r"footnotes?)\b\.?\s*\(?(?:[a-z]\.?)?\d+(?:\.\d+)*[a-z]?\b\)?"
)
_CITATION = re.compile(r"\[\d+(?:\s*[,;\-\u2013]\s*\d+)*\]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """A number as printed, with scales ("k", "million", powers of ten) multiplied out, but not its unit.

    `step` is the value of one unit in its last digit (10,000 for "1.25 million"); it is 0 for a whole number without
    scale or unit, which is an exact count. `kind` is what its unit measures ("share", "time", "bytes", "frequency";
    empty without a known unit), and `size` is the printed unit in base units (1, s, byte, Hz).
    """

    text: str
    value: Decimal
    step: Decimal
    kind: str = ""
    size: Decimal = Decimal(1)


def numbers_in(text: str) -> tuple[Number, ...]:
    """Return the numbers of a text in order, including the words zero to twenty; a margin ("± 0.3") belongs to its
    number."""
    return tuple(number for _, number in sorted(_find_numbers(_plain_text(text)), key=lambda found: found[0]))


def as_number(text: str) -> Number | None:
    """Return the number that the whole text is, apart from a full stop; None for any other text."""
    plain = _plain_text(text).removesuffix(".")
    found = [number for start, number in _find_numbers(plain) if start == 0]
    return found[0] if found and found[0].text == plain else None


def _plain_text(text: str) -> str:
    text = _THIN.sub("", _RAISED.sub(lambda match: "^" + match[0].translate(_LOWERED), text))
    return _NAME.sub("", normalise_spaces(_MARKUP.sub("", _PLUS_MINUS.sub("±", _TIMES.sub("*", text)))))


def _find_numbers(plain: str) -> Iterator[tuple[int, Number]]:
    for match in _NUMBER.finditer(plain):
        yield match.start(), _number_of_digits(match)
    for match in _WORD.finditer(plain):
        yield match.start(), _number(match, Decimal(_WORDS.index(match["word"].casefold())), 0)


def _number_of_digits(match: re.Match[str]) -> Number:
    digits, power = match["digits"].replace(",", ""), int(match["exponent"] or match["power"] or 0)
    value = Decimal(digits)
    if match["raised"] and digits == "10":
        value, power = Decimal(1), int(match["raised"])
    decimals = len(digits.partition(".")[2])
    return _number(match, -value if match["sign"] == "-" else value, power, decimals=decimals)


def _number(match: re.Match[str], value: Decimal, power: int, *, decimals: int = 0) -> Number:
    scale, unit = (re.sub(r"[\s-]", "", match[name] or "").casefold() for name in ("scale", "unit"))
    power += _POWERS[scale] if scale else 0
    kind, size = _UNIT_SIZES[_ABBREVIATED_UNITS.get(unit, unit)] if unit else ("", Decimal(1))
    step = Decimal(1).scaleb(power - decimals) if decimals or scale or unit else Decimal(0)
    return Number(text=match[0].strip(), value=value.scaleb(power), step=step, kind=kind, size=size)


def same_number(gold: Number, predicted: Number) -> bool:
    """Return whether the prediction equals the gold number, to the precision of the gold.

    Units of one kind are converted (1.5 s = 1500 ms), and units of different kinds are unequal. A unit that only one of
    the two prints is assumed for the other; if it is a percentage, the other may also be a fraction (93 % = 93 = 0.93).
    """
    return any(abs(value - gold.value) <= gold.step / 2 for value in _in_unit_of(gold, predicted))


def _in_unit_of(gold: Number, predicted: Number) -> tuple[Decimal, ...]:
    converted = predicted.value * predicted.size / gold.size
    if gold.kind and predicted.kind:
        return (converted,) if gold.kind == predicted.kind else ()
    return (predicted.value, converted) if "share" in (gold.kind, predicted.kind) else (predicted.value,)


def stated_numbers(text: str, question: str = "") -> tuple[Number, ...]:
    """Return the numbers that a text states and the question doesn't, in order.

    Numbers of tables, figures, sections and the like, and of citations, count only if the text states no others.
    """
    numbers = numbers_in(without_labels(text)) or numbers_in(text)
    given = numbers_in(question)
    return tuple(number for number in numbers if not any(same_number(number, other) for other in given))


def without_labels(text: str) -> str:
    """Return the text without the labels of tables, figures, sections and the like, and without numeric citations."""
    return _CITATION.sub(" ", _LABEL.sub(" ", text))


def numbers_recall(gold_text: str, answer: str, question: str = "") -> Tally:
    """Return the share of the gold text's numbers that the answer states, except those in the question.

    Each number counts once. Signs are compared only if both texts print one: "falls by 0.5" and "-0.5" agree.
    """
    wanted: list[Number] = []
    for number in stated_numbers(gold_text, question):
        if not any(same_number(number, other) for other in wanted):
            wanted.append(number)
    return Tally(right=best_assignment(wanted, numbers_in(answer), worth=_same_amount), total=len(wanted))


def _same_amount(gold: Number, predicted: Number) -> bool:
    if gold.text[0] in "+-" and predicted.text[0] in "+-":
        return same_number(gold, predicted)
    return same_number(replace(gold, value=abs(gold.value)), replace(predicted, value=abs(predicted.value)))
