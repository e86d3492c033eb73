"""Whether a number that is stated is the one that is printed."""

import re
from decimal import ROUND_HALF_UP, Decimal

from query.numbers import Number

__all__ = ["ROUNDED", "agrees", "falls"]

_FALLS = re.compile(
    r"(?i)\b(?:drop|fall|fell|decreas|declin|reduc|degrad|deteriorat|loses?\b|lost\b|lower|less\b|fewer|smaller|worse|"
    r"below|negative|minus|differ|gap\b|chang|hurt|penalt|shrink|down\b)\w*"
)
ROUNDED: re.Pattern[str] = re.compile(
    r"(?i)\b(?:about|around|approximately|approx|roughly|nearly|almost|circa|rounded)\b|[~\u2248\u223c]"
)
_LEAST_DIGITS = 2


def agrees(stated: Number, printed: Number, *, said: str, around: str) -> bool:
    """Whether both are the same number: equal, or the printed one rounded to the digits of the one that is stated, if
    the words say that it is rounded ("about 95") or it is turned into a percentage.

    A percentage also equals its fraction (73% and 0.73). A plus may be left out or added; a minus only where words
    tell of a fall, those that are `said` or those `around` the printed number. Two signs must be the same.
    """
    if stated.sign and printed.sign:
        if stated.sign != printed.sign:
            return False
    elif (printed.sign == "-" and not falls(said)) or (stated.sign == "-" and not falls(around)):
        return False
    rounds = ROUNDED.search(said) is not None
    return any(
        stated.value == value or ((rounds or turned) and _is_rounded(stated, value))
        for value, turned in _values(stated, printed)
    )


def falls(text: str) -> bool:
    """Whether the words tell of a fall or a difference, so that "0.5" may stand for "-0.5"."""
    return bool(_FALLS.search(text))


def _is_rounded(stated: Number, value: Decimal) -> bool:
    """Whether the value rounds to the number; one with a single digit is taken as it stands."""
    if len(re.sub(r"\D", "", stated.text).strip("0")) < _LEAST_DIGITS:
        return stated.value == value
    return (value / stated.unit).quantize(Decimal(1), ROUND_HALF_UP) * stated.unit == stated.value


def _values(stated: Number, printed: Number) -> tuple[tuple[Decimal, bool], ...]:
    """The printed value, and as a percentage or fraction where only one side is one."""
    if stated.percent and not printed.percent:
        return (printed.value, False), (printed.value * 100, True)
    if printed.percent and not stated.percent:
        return (printed.value, False), (printed.value / 100, True)
    return ((printed.value, False),)
