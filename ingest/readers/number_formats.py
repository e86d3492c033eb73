"""Writes the value of a spreadsheet's cell as its number format displays it (ECMA-376, part 1, 18.8.30)."""

import datetime
import re
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal

__all__ = ["displayed_value"]

# Spreadsheet programs calculate with 15 digits; the general format shows 11.
_MAX_DIGITS = 15
_GENERAL_DIGITS = 11
_MAX_DECIMALS = 30
# Literal text; spaces of a width, fillings, colours and conditions, which are dropped; currency signs.
_LITERAL = re.compile(r'"([^"]*+)"|\\(.)|[_*].|\[\$([^\[\]-]*+)[^\[\]]*+\]|\[[^\[\]]*+\]')
_SECTION = re.compile(r'(?:"[^"]*+"|\\.|\[[^\[\]]*+\]|[^;"\\\[])*+')
_FIGURES = re.compile(
    r"(?P<whole>[#0?](?:[#0?,]*[#0?])?)(?:\.(?P<decimals>[#0?]*))?(?P<thousands>,*)|\.(?P<only>[#0?]+)"
)
_EXPONENT = re.compile(r"E[+-](0+)", re.IGNORECASE)
_DATE_PART = re.compile(rf"y+|m+|d+|h+|s+(?:\.0+)?|am/pm|a/p|{_LITERAL.pattern}|.", re.IGNORECASE)
# How these formats look depends on the reader's language; they are written as ISO 8601 does.
_LOCAL_DATES: Mapping[str, str] = {"mm-dd-yy": "%Y-%m-%d", "m/d/yy h:mm": "%Y-%m-%d %H:%M"}


def displayed_value(value: object, number_format: str) -> str:
    """Return a cell's value as text, numbers and dates by the format.

    A date whose format depends on the reader's language is written as 2024-03-14, a fraction as a decimal.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, number_format)
    if isinstance(value, datetime.timedelta):
        seconds = round(abs(value.total_seconds()))
        sign = "-" if value.days < 0 else ""
        return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(datetime.date(1900, 1, 1), value)
    elif isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time())
    if isinstance(value, datetime.datetime):
        return _date(value, number_format)
    text = "" if value is None else str(value)
    return text.upper() if isinstance(value, bool) else " ".join(text.split())


def _number(value: float, number_format: str) -> str:
    sections = [match[0] for match in _SECTION.finditer(number_format) if match[0]]
    signed = value
    if value < 0 and len(sections) > 1:
        section, value = sections[1], abs(value)
    elif value == 0 and len(sections) > 2:
        section = sections[2]
    else:
        section = sections[0] if sections else ""
    without = _LITERAL.sub("", section)
    figures = _FIGURES.search(without)
    if figures is None and without.lower() != "general" and len(sections) > 1:
        # A section of text only, such as "-" for zero.
        return _literal(section).strip()
    if figures is None or "/" in without or abs(value) >= 10**_MAX_DIGITS:
        return _general(signed)
    text = _figures(Decimal(repr(value)), without, figures)
    marked = _LITERAL.sub(lambda match: "\0" * len(match[0]), section)
    start = _FIGURES.search(marked)
    end = _EXPONENT.search(marked) or start
    assert start is not None and end is not None  # noqa: PT018, S101
    return f"{_literal(section[: start.start()])}{text}{_literal(section[end.end() :])}".strip()


def _figures(value: Decimal, pattern: str, figures: re.Match[str]) -> str:
    """Return a number by the placeholders of its format."""
    decimals = (figures["decimals"] or figures["only"] or "")[:_MAX_DECIMALS]
    whole_part = figures["whole"] or ""
    optional = len(decimals) - len(decimals.rstrip("#?"))
    if exponent := _EXPONENT.search(pattern):
        mantissa, _, power = f"{value:.{len(decimals)}E}".partition("E")
        return f"{mantissa}E{power[0]}{power[1:].zfill(len(exponent[1]))}"
    scale = 2 * pattern.count("%") - 3 * len(figures["thousands"] or "")
    rounded = value.scaleb(scale).quantize(Decimal(1).scaleb(-len(decimals)), rounding=ROUND_HALF_UP)
    text = f"{rounded:,f}" if "," in whole_part else f"{rounded:f}"
    for _ in range(optional):
        text = text.removesuffix("0")
    whole, point, rest = text.removesuffix(".").partition(".")
    sign = "-" if whole.startswith("-") and rounded else ""
    whole = whole.lstrip("-").zfill(whole_part.count("0"))
    return sign + ("" if whole == "0" != whole_part and point and "0" not in whole_part else whole) + point + rest


def _general(value: float) -> str:
    if isinstance(value, int) and abs(value) < 10**_MAX_DIGITS:
        return str(value)
    return f"{value:.{_GENERAL_DIGITS}g}".replace("e", "E")


def _date(moment: datetime.datetime, number_format: str) -> str:
    section = next(match[0] for match in _SECTION.finditer(number_format))
    if local := _LOCAL_DATES.get(section.lower()):
        return moment.strftime(local)
    parts = [match[0] for match in _DATE_PART.finditer(section)]
    fields = [part[0].lower() if part[0].lower() in "ymdhs" else "" for part in parts]
    of_twelve = any(part.lower() in ("am/pm", "a/p") for part in parts)
    texts = []
    for at, (part, field) in enumerate(zip(parts, fields, strict=True)):
        before = next((one for one in reversed(fields[:at]) if one), "")
        after = next((one for one in fields[at + 1 :] if one), "")
        minutes = field == "m" and len(part) <= 2 and (before == "h" or after == "s")
        if field:
            texts.append(_date_field(moment, "n" if minutes else field, part, of_twelve=of_twelve))
        elif part.lower() in ("am/pm", "a/p"):
            texts.append(("AM" if moment.hour < 12 else "PM")[: len(part) // 2])
        else:
            texts.append(_literal(part))
    return "".join(texts).strip()


def _date_field(moment: datetime.datetime, field: str, part: str, *, of_twelve: bool) -> str:
    width = len(part)
    if field == "y":
        return f"{moment.year:04}"[-2 if width <= 2 else -4 :]
    if field in "md" and width > 2:
        name = f"{moment:%B}" if field == "m" else f"{moment:%A}"
        return name[:1] if width == 5 else name[:3] if width == 3 else name
    if field == "s" and "." in part:
        seconds, _, fraction = part.partition(".")
        return f"{moment.second:0{len(seconds)}}.{f'{moment.microsecond:06}'[: len(fraction)]}"
    hour = (moment.hour % 12 or 12) if of_twelve else moment.hour
    number = {"m": moment.month, "d": moment.day, "h": hour, "n": moment.minute, "s": moment.second}[field]
    return f"{number:0{width}}"


def _literal(text: str) -> str:
    """Return the text of a format without placeholders: quoted and escaped text, currency signs, other signs."""
    return _LITERAL.sub(lambda match: match[1] or match[2] or match[3] or "", text).replace("@", "")
