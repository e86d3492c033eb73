"""The value of a table cell: a number with its unit and decimals, or words."""

import re
from dataclasses import dataclass

from query.extractive.wording import fold

__all__ = ["CellValue", "number_text", "read_value"]

_NUMBER = r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?"
_VALUE = re.compile(
    rf"^[<>~≈*]?\s*(?P<number>(?=[-+.]*\d){_NUMBER})\s*"
    r"(?P<unit>%|[KMB](?![a-z])|[a-zA-Z]{1,3}\b)?\s*"
    r"(?P<rest>.*)$",
    re.DOTALL,
)
_WORDS = re.compile(r"[A-Za-z]{2,}|[-/:]\s*\w")
_POWER = re.compile(r"^\s*[·×x*]\s*10\s*\^?\s*\{?(?P<power>-?\d+)\}?")
_SCALE = {"K": 1e3, "M": 1e6, "B": 1e9}


@dataclass(frozen=True, kw_only=True, slots=True)
class CellValue:
    """A cell's text and, unless it consists of words or a dash, its number.

    `number` has K, M, B and powers of ten multiplied out; `decimals` is the number of digits printed after the point.
    """

    text: str
    number: float | None = None
    unit: str = ""
    decimals: int = 0

    @property
    def plain(self) -> str:
        """The number as printed, without the annotation that follows it."""
        return self.text.partition("(")[0].strip()


def read_value(text: str) -> CellValue:
    """Read "92.11 (+0.81)", "88.7±0.3", "12.3†", "1,234", "45%", "3.3 · 10^18"; words and dashes have no number."""
    folded = fold(text)
    match = _VALUE.match(folded)
    if match is None or _WORDS.match(match["rest"]):
        return CellValue(text=folded)
    number = float(match["number"].replace(",", "")) * _SCALE.get(match["unit"] or "", 1.0)
    power = _POWER.match(match["rest"])
    if power is not None:
        number *= 10.0 ** int(power["power"])
    decimals = len(match["number"].partition(".")[2])
    return CellValue(text=folded, number=number, unit=match["unit"] or "", decimals=decimals)


def number_text(number: float, decimals: int) -> str:
    """Format a computed number with this many decimals and a true minus sign."""
    text = f"{abs(number):.{decimals}f}"
    return f"−{text}" if number < 0 and float(text) else text
