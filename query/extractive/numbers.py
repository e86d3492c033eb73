"""What a table cell says: a number with its unit and the annotation printed beside it."""

import re
from dataclasses import dataclass

from query.extractive.words import CITATION, fold

__all__ = ["CellValue", "number_text", "numbers_in", "read_value"]


_NUMBER = r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?"
_VALUE = re.compile(
    rf"^[<>~≈*]?\s*(?P<number>(?=[-+.]*\d){_NUMBER})\s*"
    r"(?P<unit>%|[KMB](?![a-z])|[a-zA-Z]{1,3}\b)?\s*"
    r"(?P<rest>.*)$",
    re.DOTALL,
)
_CHANGE = re.compile(
    r"[(\[]?\s*(?P<arrow>[↑↓])?\s*(?P<sign>[-+])?\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>%)?\s*(?P<after>[↑↓])?\s*[)\]]?"
)
_POWER = re.compile(r"^\s*[·×x*]\s*10\s*\^?\s*\{?(?P<power>-?\d+)\}?")
_FREE_NUMBER = re.compile(r"(?<![\w-])\d[\d.,]*")
_SCALE = {"K": 1e3, "M": 1e6, "B": 1e9}


@dataclass(frozen=True, kw_only=True, slots=True)
class CellValue:
    """`number` is None for text and dashes. `change` is the signed difference printed in parentheses, if any.

    `number` has K, M, B and powers of ten multiplied out; `decimals` counts the digits printed after the point.
    """

    text: str
    number: float | None = None
    unit: str = ""
    decimals: int = 0
    change: float | None = None
    change_text: str = ""


def read_value(text: str) -> CellValue:
    """Read "92.11 (+0.81)", "88.7±0.3", "12.3†", "1,234", "45%", "3.3 · 10^18"; dashes and words have no number."""
    folded = " ".join(fold(text).split())
    match = _VALUE.match(folded)
    if match is None:
        return CellValue(text=folded)
    rest = match["rest"]
    if re.match(r"[A-Za-z]{2,}|[-/:]\s*\w", rest):
        return CellValue(text=folded)
    number = float(match["number"].replace(",", "")) * _SCALE.get(match["unit"] or "", 1.0)
    power = _POWER.match(rest)
    if power is not None:
        number *= 10.0 ** int(power["power"])
    change, change_text = _change(rest)
    _, _, fraction = match["number"].partition(".")
    return CellValue(
        text=folded,
        number=number,
        unit=match["unit"] or "",
        decimals=len(fraction),
        change=change,
        change_text=change_text,
    )


def _change(rest: str) -> tuple[float | None, str]:
    match = _CHANGE.search(rest)
    if match is None or not (match["sign"] or match["arrow"] or match["after"]):
        return None, ""
    down = match["sign"] == "-" or "↓" in (match["arrow"] or "") + (match["after"] or "")
    amount = float(match["number"])
    sign = "−" if down else "+"
    return (-amount if down else amount), f"{sign}{match['number']}{match['unit'] or ''}"


def number_text(number: float, decimals: int) -> str:
    """A computed number with as many decimals as the cells that it was computed from, with a true minus sign."""
    text = f"{abs(number):.{decimals}f}"
    return f"−{text}" if number < 0 and float(text) else text


def numbers_in(text: str) -> tuple[str, ...]:
    """The figures that a sentence states: none within names ("F1") or citations."""
    return tuple(_FREE_NUMBER.findall(CITATION.sub("", fold(text))))
